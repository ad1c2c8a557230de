import itertools

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from countmorl.algorithms.bc import BC
from countmorl.configs import to_json
from countmorl.data.sources import load
from countmorl.errors import DataError, RunError
from countmorl.files import read_arrays, write_arrays
from countmorl.runtime.policy import FORMAT, Policy
from countmorl.schema import Column, Schema
from countmorl.spaces import ActionSpace


def array(*values):
    return np.array(values, np.float32)


def within(size, low, high):
    """Vectors of so many numbers, all with the same bounds."""
    return ActionSpace(low=np.full(size, low, np.float32), high=np.full(size, high, np.float32))


def make(**changes):
    """One hidden layer of two units, one action within 0 and 5."""
    parts = {
        "weights": (array([1, -1], [0, 1]), array([1], [2])),
        "biases": (array(0, 0.5), array(-1)),
        "head": "tanh",
        "obs_mean": array(10, 20),
        "obs_std": array(2, 5),
        "space": ActionSpace(low=array(0), high=array(5)),
        "info": {"task": "Pendulum-v1"},
    }
    return Policy(**(parts | changes))


def random_policy(seed=0, sizes=(3, 16, 16, 2), **changes):
    rng = np.random.default_rng(seed)
    layers = list(itertools.pairwise(sizes))
    parts = {
        "weights": tuple(rng.standard_normal(shape).astype(np.float32) for shape in layers),
        "biases": tuple(rng.standard_normal(size).astype(np.float32) for _, size in layers),
        "head": "tanh",
        "obs_mean": rng.standard_normal(sizes[0]).astype(np.float32),
        "obs_std": rng.uniform(0.5, 2, sizes[0]).astype(np.float32),
        "space": within(sizes[-1], -1, 1),
    }
    return Policy(**(parts | changes))


class TestAct:
    def test_by_hand(self):
        # x = ((14 - 10) / 2, (25 - 20) / 5) = (2, 1); hidden relu(2, -2 + 1 + 0.5) = (2, 0);
        # y = 2 - 1 = 1; the middle of 0 and 5 plus half of it times tanh(1).
        np.testing.assert_allclose(make().act(array(14, 25)), [2.5 + 2.5 * np.tanh(1)], rtol=1e-6)

    def test_says_what_it_is(self):
        said = "Policy(2 numbers -> 2 -> 1 numbers, tanh, {'task': 'Pendulum-v1'})"
        assert repr(make()) == said

    def test_the_mean_of_a_normal_by_hand(self):
        policy = make(
            weights=(array([1, -1], [0, 1]), array([1, 0], [2, 0])),
            biases=(array(0, 0.5), array(-1, -0.5)),
            head="tanh_normal",
        )
        np.testing.assert_allclose(policy.act(array(14, 25)), [2.5 + 2.5 * np.tanh(1)], rtol=1e-6)

    @pytest.mark.parametrize(("log_std", "clipped"), [(-0.7, -0.7), (9.0, -0.5), (-50.0, -1.0)])
    def test_a_sample_of_a_normal_by_hand(self, log_std, clipped):
        policy = make(
            weights=(array([1, -1], [0, 1]), array([1, 0], [2, 0])),
            biases=(array(0, 0.5), array(-1, log_std)),
            head="tanh_normal",
            log_std_range=(-1.0, -0.5),
        )
        noise = np.random.default_rng(3).standard_normal(1, np.float32)
        got = policy.act(array(14, 25), rng=np.random.default_rng(3))
        wanted = 2.5 + 2.5 * np.tanh(1 + np.exp(clipped) * noise)
        np.testing.assert_allclose(got, wanted, rtol=1e-5)

    def test_a_deterministic_policy_has_nothing_to_sample(self):
        policy, obs = make(), array(14, 25)
        np.testing.assert_array_equal(
            policy.act(obs, rng=np.random.default_rng(0)), policy.act(obs)
        )

    def test_one_observation_is_a_row_of_a_batch(self):
        policy = random_policy()
        batch = np.random.default_rng(1).standard_normal((32, 3))
        actions = policy.act(batch)
        assert actions.shape == (32, 2)
        for row in range(32):
            np.testing.assert_allclose(policy.act(batch[row]), actions[row], atol=1e-5)

    def test_lists_and_other_types_are_taken(self):
        policy = random_policy()
        wanted = policy.act(array(1, 2, 3))
        np.testing.assert_array_equal(policy.act([1, 2, 3]), wanted)
        np.testing.assert_array_equal(policy.act(np.array([1, 2, 3], np.float64)), wanted)
        assert wanted.dtype == np.float32

    def test_an_empty_batch(self):
        assert random_policy().act(np.zeros((0, 3))).shape == (0, 2)

    @pytest.mark.parametrize("shape", [(4,), (2, 4), (1, 1, 3), ()])
    def test_other_shapes_are_refused(self, shape):
        with pytest.raises(DataError, match=r"wants observations of 3 numbers, \[3\] or \[n, 3\]"):
            random_policy().act(np.zeros(shape))

    @pytest.mark.parametrize(("low", "high"), [(-1, 1), (0, 5), (-3, -2), (100, 300)])
    @given(obs=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3))
    def test_actions_lie_within_their_bounds(self, low, high, obs):
        policy = random_policy(space=within(2, low, high))
        action = policy.act(obs)
        assert (action >= low).all()
        assert (action <= high).all()

    def test_rounding_never_carries_an_action_past_its_bound(self):
        rng = np.random.default_rng(0)
        low = rng.uniform(-1, 0, 200).astype(np.float32)
        high = rng.uniform(0, 1, 200).astype(np.float32)
        for sign in (-1, 1):
            policy = Policy(
                weights=(np.zeros((1, 200), np.float32),),
                biases=(np.full(200, 50.0 * sign, np.float32),),
                head="tanh",
                obs_mean=array(0),
                obs_std=array(1),
                space=ActionSpace(low=low, high=high),
            )
            action = policy.act(array(0))
            assert (action >= low).all()
            assert (action <= high).all()

    def test_agrees_with_the_agent_it_was_made_from(self, log):
        dataset = load(log())
        agent = BC(hidden=(8,)).agent(dataset, key=jr.key(0))
        policy = agent.policy(dataset.space, {})
        obs = np.random.default_rng(0).normal(0, 3, (100, 3)).astype(np.float32)
        theirs = agent.act(jnp.asarray(obs), key=jr.key(1))
        wanted = dataset.space.actions(np.asarray(theirs))
        np.testing.assert_allclose(policy.act(obs), wanted, atol=1e-5)


class TestDiscrete:
    def make(self, **changes):
        """y = (obs, 0, -obs): above 0 the first action is the best, below 0 the last."""
        parts = {
            "weights": (array([1, 0, -1]),),
            "biases": (array(0, 0, 0),),
            "head": "categorical",
            "obs_mean": array(0),
            "obs_std": array(1),
            "space": ActionSpace.numbered(3),
        }
        return Policy(**(parts | changes))

    def test_the_likeliest_by_hand(self):
        policy = self.make()
        assert (policy.discrete, policy.action_dim) == (True, 3)
        assert policy.act(array([2], [-2])).tolist() == [0, 2]
        assert policy.act(array(2)) == 0
        assert "3 actions to choose from, categorical" in repr(policy)

    def test_samples_are_as_likely_as_their_softmax(self):
        obs, rng = np.full((20_000, 1), 0.5), np.random.default_rng(0)
        shares = np.bincount(self.make().act(obs, rng=rng)) / 20_000
        odds = np.exp([0.5, 0.0, -0.5])
        np.testing.assert_allclose(shares, odds / odds.sum(), atol=0.01)

    def test_it_comes_back_from_its_file(self, tmp_path):
        self.make().save(tmp_path / "p")
        again = Policy.load(tmp_path / "p")
        assert (again.discrete, again.action_dim) == (True, 3)

    def test_a_head_of_the_other_kind_is_refused(self):
        with pytest.raises(RunError, match="its head and its actions are of two kinds"):
            self.make(space=within(3, -1, 1))
        with pytest.raises(RunError, match="of two kinds"):
            self.make(head="tanh")


class TestFile:
    def test_loading_gives_the_same_policy(self, tmp_path):
        policy = random_policy(info={"task": "Hopper-v4", "dataset": "log"})
        policy.save(tmp_path / "policy.safetensors")
        for place in (tmp_path, tmp_path / "policy.safetensors", str(tmp_path)):
            again = Policy.load(place)
            obs = np.random.default_rng(0).standard_normal((5, 3))
            np.testing.assert_array_equal(again.act(obs), policy.act(obs))
            assert (again.info, again.head) == (policy.info, "tanh")
            assert (again.obs_dim, again.action_dim) == (3, 2)

    def test_a_stochastic_policy_keeps_its_head_and_range(self, tmp_path):
        policy = random_policy(
            sizes=(3, 4),
            head="tanh_normal",
            log_std_range=(-5.0, 1.0),
            space=within(2, -1, 1),
        )
        policy.save(tmp_path / "p.safetensors")
        again = Policy.load(tmp_path / "p.safetensors")
        assert (again.head, again.log_std_range, again.action_dim) == ("tanh_normal", (-5, 1), 2)

    def test_the_same_policy_gives_the_same_bytes(self, tmp_path):
        contents = set()
        for _ in range(20):
            random_policy().save(tmp_path / "p")
            contents.add((tmp_path / "p").read_bytes())
        assert len(contents) == 1

    def test_a_folder_without_a_policy(self, tmp_path):
        with pytest.raises(RunError, match=r"holds no policy.safetensors"):
            Policy.load(tmp_path)

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(RunError, match="There is no file"):
            Policy.load(tmp_path / "nowhere.safetensors")

    def test_a_flipped_byte(self, tmp_path):
        path = tmp_path / "p"
        random_policy().save(path)
        raw = bytearray(path.read_bytes())
        raw[-5] ^= 0x40
        path.write_bytes(raw)
        with pytest.raises(RunError, match=r"damaged.*Restore it from a copy"):
            Policy.load(path)

    def test_a_file_cut_short(self, tmp_path):
        path = tmp_path / "p"
        random_policy().save(path)
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(RunError, match="not a readable safetensors file"):
            Policy.load(path)

    @pytest.mark.parametrize(
        "content", [b"", b"\x80\x04.", b"{}", b"\xff" * 64, b"\x89HDF\r\n\x1a\n" + bytes(64)]
    )
    def test_what_is_no_safetensors_file(self, tmp_path, content):
        path = tmp_path / "p"
        path.write_bytes(content)
        with pytest.raises(RunError, match="not a readable safetensors file"):
            Policy.load(path)

    def test_someone_elses_safetensors_file(self, tmp_path):
        save_file({"weight.0": np.zeros((2, 2), np.float32)}, tmp_path / "p")
        with pytest.raises(RunError, match="not written by countmorl"):
            Policy.load(tmp_path / "p")


class TestHostileFile:
    """Files with a right digest whose contents are wrong all the same."""

    def load_changed(self, folder, *, arrays=None, meta=None, drop=()):
        path = folder / "p"
        random_policy().save(path)
        good_arrays, good_meta = read_arrays(path)
        changed = {k: v for k, v in (good_arrays | (arrays or {})).items() if k not in drop}
        about = {k: v for k, v in (good_meta | (meta or {})).items() if k not in drop}
        write_arrays(path, changed, about)
        return Policy.load(path)

    def test_unchanged_it_loads(self, tmp_path):
        assert self.load_changed(tmp_path).obs_dim == 3

    @pytest.mark.parametrize(
        ("meta", "words"),
        [
            ({"kind": "checkpoint"}, "is not a policy of a network; it is a checkpoint file"),
            ({"kind": "tabular-policy"}, "it is a tabular-policy file. `countmorl.load_policy`"),
            ({"kind": None}, "is not a policy of a network"),
            ({"format": 99}, "has format 99, this version reads 1"),
            ({"format": None}, "has format None"),
            (
                {"head": "softmax"},
                "`head` must be one of tanh, tanh_normal, categorical, got 'softmax'",
            ),
            ({"head": "tanh_normal"}, "last layer has 2 outputs, wanted 4"),
            ({"layers": 2}, "last layer has 16 outputs, wanted 2"),
            ({"layers": 0}, "last layer"),
            ({"layers": -1}, "last layer"),
            ({"layers": 4}, "not a complete policy"),
            ({"layers": 10**12}, "not a complete policy"),
            ({"layers": "3"}, "not a complete policy"),
            ({"log_std_range": None}, "not a complete policy"),
        ],
    )
    @pytest.mark.usefixtures("unchecked")
    def test_another_description(self, tmp_path, meta, words):
        with pytest.raises(RunError, match=words):
            self.load_changed(tmp_path, meta=meta)

    @pytest.mark.parametrize(
        "key", ["weight.1", "bias.2", "obs_mean", "action_high", "head", "layers", "info"]
    )
    def test_a_missing_part(self, tmp_path, key):
        with pytest.raises(RunError, match=f"not a complete policy: '{key}'"):
            self.load_changed(tmp_path, drop=[key])

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    @pytest.mark.parametrize("key", ["weight.0", "weight.2", "bias.1", "obs_mean", "obs_std"])
    def test_numbers_that_are_not_finite(self, tmp_path, key, value):
        shape = {"weight.0": (3, 16), "weight.2": (16, 2), "bias.1": 16}.get(key, 3)
        with pytest.raises(RunError, match="not finite"):
            self.load_changed(tmp_path, arrays={key: np.full(shape, value, np.float32)})

    @pytest.mark.parametrize(
        ("key", "shape"),
        [("weight.0", (4, 16)), ("weight.1", (16, 17)), ("bias.0", 15), ("obs_mean", 4)],
    )
    def test_layers_that_do_not_fit_together(self, tmp_path, key, shape):
        with pytest.raises(RunError, match="do not fit together"):
            self.load_changed(tmp_path, arrays={key: np.zeros(shape, np.float32)})

    @pytest.mark.parametrize(
        ("arrays", "meta"),
        [
            ({"obs_std": np.ones(2, np.float32)}, {}),
            ({"obs_std": np.zeros(3, np.float32)}, {}),
            ({"action_low": np.full(2, np.nan, np.float32)}, {}),
            ({"action_high": np.full(2, np.inf, np.float32)}, {}),
            ({"action_high": np.ones(5, np.float32)}, {}),
            ({"action_low": np.full(2, 3, np.float32)}, {}),
            ({}, {"info": ["a list"]}),
            ({}, {"log_std_range": [1]}),
        ],
        ids=[
            "obs_std of another size",
            "obs_std of zero",
            "NaN bounds",
            "infinite bounds",
            "bounds of two sizes",
            "low above high",
            "info that is no table",
            "half a range",
        ],
    )
    def test_parts_that_could_not_act(self, tmp_path, arrays, meta):
        with pytest.raises(RunError):
            self.load_changed(tmp_path, arrays=arrays, meta=meta)

    @pytest.mark.parametrize("stored", [3, {}, {"obs": []}, [], "text"])
    def test_a_schema_that_is_none(self, tmp_path, stored):
        with pytest.raises(RunError, match=r"The schema of the policy .* cannot be read"):
            self.load_changed(tmp_path, meta={"schema": stored})

    @pytest.mark.parametrize(
        ("history", "why"),
        [
            (2, r"cannot be used: its schema names \d+ observation"),
            (10**15, r"cannot be (read|used): .*more than 1,000,000"),
        ],
    )
    def test_a_schema_of_another_policy(self, tmp_path, history, why):
        other = to_json(Schema(obs=NAMED.obs, action=NAMED.action, history=2))
        with pytest.raises(RunError, match=why):
            self.load_changed(tmp_path, meta={"schema": other | {"history": history}})


NAMED = Schema(
    obs=(Column(name="age"), Column(name="ward", kind="category", values=("A", "B"))),
    action=(Column(name="salt"), Column(name="water")),
)
OFFERS = Column(name="offer", kind="category", values=("none", "call", "mail"))


def choosing(**changes):
    """Above 0 the first of three actions is the best, below 0 the last."""
    return TestDiscrete().make(schema=Schema(obs=(Column(name="x"),), action=(OFFERS,), **changes))


class TestNames:
    def test_what_things_are_called(self):
        policy = random_policy(schema=NAMED)
        assert policy.obs_names == ("age", "ward=A", "ward=B")
        assert policy.action_names == ("salt", "water")
        assert choosing().action_names == ("none", "call", "mail")

    def test_without_a_schema_places_are_names(self):
        assert random_policy().obs_names == ("obs[0]", "obs[1]", "obs[2]")
        assert random_policy().action_names == ("action[0]", "action[1]")

    def test_a_row_is_its_numbers(self):
        policy = random_policy(schema=NAMED)
        action = policy.act_row({"ward": "B", "age": 61, "patient": 7})
        wanted = policy.act([61, 0, 1])
        assert action == {"salt": wanted[0], "water": wanted[1]}

    def test_a_discrete_action_by_its_name(self):
        policy = choosing()
        assert policy.act_row({"x": 2}) == "none"
        assert policy.act_rows([{"x": 2}, {"x": -2}]) == ["none", "mail"]
        assert policy.act([[2], [-2]]).tolist() == [0, 2]

    def test_many_rows(self):
        policy = random_policy(schema=NAMED)
        rows = [{"age": age, "ward": ward} for age, ward in ((1, "A"), (2, "B"), (3, "A"))]
        together = policy.act_rows(rows)
        for row, action in zip(rows, together, strict=True):
            assert policy.act_row(row) == pytest.approx(action, abs=1e-6)
        assert policy.act_rows([]) == []

    def test_samples(self):
        policy, rng = choosing(), np.random.default_rng(0)
        drawn = policy.act_rows([{"x": 0.1}] * 200, rng=rng)
        assert {policy.act_row({"x": 0.1}, rng=rng) for _ in range(50)} == set(drawn)
        assert set(drawn) == {"none", "call", "mail"}

    def test_columns_with_names_come_in_any_order(self):
        policy = random_policy(schema=NAMED)
        columns = {"ward=B": [0.0, 1.0], "age": [50.0, 60.0], "x": [9.0, 9.0], "ward=A": [1.0, 0.0]}
        wanted = policy.act([[50, 1, 0], [60, 0, 1]])
        np.testing.assert_array_equal(policy.act(columns), wanted)
        for package in ("pandas", "polars"):
            frame = pytest.importorskip(package).DataFrame(columns)
            np.testing.assert_array_equal(policy.act(frame), wanted)
        one = {name: column[0] for name, column in columns.items()}
        np.testing.assert_array_equal(policy.act(one), policy.act([50, 1, 0]))

    def test_a_lacking_column_is_named(self):
        with pytest.raises(DataError, match=r"no column 'age'. Did you mean 'Age'\?"):
            random_policy(schema=NAMED).act({"Age": 1.0, "ward=A": 1.0, "ward=B": 0.0})
        with pytest.raises(DataError, match=r"no column 'ward=A', nor 1 other.*act_rows"):
            random_policy(schema=NAMED).act({"age": 1.0, "ward": "A"})

    def test_a_policy_without_names_takes_none(self):
        policy = random_policy()
        for ask in (policy.act_row, lambda row: policy.act_rows([row])):
            with pytest.raises(DataError, match="had no names of columns, so it cannot read rows"):
                ask({"x": 1})
        with pytest.raises(DataError, match=r"cannot be put in its order. Give an array, \[n, 3\]"):
            policy.act({"a": 1.0, "b": 2.0, "c": 3.0})

    def test_history_wants_a_session(self):
        schema = Schema(obs=(Column(name="x"),), action=(OFFERS,), history=2)
        policy = random_policy(
            sizes=(5, 3), head="categorical", space=ActionSpace.numbered(3), schema=schema
        )
        for ask in (policy.act_row, lambda row: policy.act_rows([row])):
            with pytest.raises(DataError, match=r"the last 2 observations. Use `session = policy"):
                ask({"x": 1})
        session = policy.session()
        first = session.act_row({"x": 1})
        assert first == policy.action_names[policy.act([1, 1, 0, 0, 0])]
        done = np.eye(3)[policy.action_names.index(first)]
        assert session.act({"x": 2.0}) == policy.act([2, 1, *done])
        assert policy.session() is not session

    def test_a_session_of_a_policy_without_names(self):
        policy = random_policy()
        np.testing.assert_array_equal(policy.session().act([1, 2, 3]), policy.act([1, 2, 3]))

    def test_names_come_back_from_the_file(self, tmp_path):
        for policy in (random_policy(schema=NAMED), choosing(frame_skip=2)):
            policy.save(tmp_path / "p")
            again = Policy.load(tmp_path / "p")
            assert again.schema == policy.schema
            assert again.action_names == policy.action_names

    def test_files_without_a_schema_are_as_they_were(self, tmp_path):
        random_policy().save(tmp_path / "p")
        assert "schema" not in read_arrays(tmp_path / "p")[1]
        assert read_arrays(tmp_path / "p")[1]["format"] == FORMAT == 1
        assert Policy.load(tmp_path / "p").schema is None

    def test_a_schema_of_other_sizes_is_refused(self):
        with pytest.raises(RunError, match="its schema names 3 observation and 2 action numbers"):
            random_policy(sizes=(4, 2), schema=NAMED)
        three = Schema(obs=(Column(name="x"),), action=tuple(Column(name=n) for n in "abc"))
        with pytest.raises(RunError, match="its schema's actions and its own are of two kinds"):
            TestDiscrete().make(schema=three)


class TestNothingButNumbers:
    """An actuator may be behind a policy: it is given an action for numbers only."""

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None, 1e300, 10**400])
    @pytest.mark.parametrize("policy", [make, choosing], ids=["vector", "discrete"])
    @pytest.mark.usefixtures("unchecked")
    def test_an_observation_that_is_none_is_refused(self, policy, bad):
        policy = policy()
        obs = [[0.0] * policy.obs_dim, [0.0] * (policy.obs_dim - 1) + [bad]]
        for each in (obs, obs[1]):
            with pytest.raises(DataError, match=r"finite numbers|arrays of numbers"):
                policy.act(each)

    @pytest.mark.parametrize(
        "bad",
        [
            np.array(["NaT"] * 3, "M8[s]"),
            np.zeros(3, "m8[s]"),
            np.zeros(3, complex),
            np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]),
            np.ma.array([1, 2, 3], mask=[False, True, False]),
        ],
        ids=lambda bad: f"{type(bad).__name__} of {bad.dtype}",
    )
    @pytest.mark.usefixtures("unchecked")
    def test_what_only_looks_like_numbers_is_refused(self, bad):
        with pytest.raises(DataError, match=r"finite numbers|arrays of numbers"):
            make().act(bad)
        named = random_policy(schema=NAMED)
        with pytest.raises(DataError, match=r"must hold numbers|NaN or infinite"):
            named.act(dict(zip(named.obs_names, bad[:, None], strict=True)))

    def test_the_place_is_told(self):
        with pytest.raises(DataError, match=r"the one at \[1, 0\] is nan"):
            make().act([[0.0, 0.0], [np.nan, 0.0]])

    def test_one_that_overflows_the_network_is_refused(self):
        policy = random_policy()
        with pytest.raises(DataError, match="no answer"):
            policy.act(np.full(3, 3e38, np.float32))

    def test_many_rows_go_through_in_blocks_and_change_nothing(self, monkeypatch):
        obs = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
        policies = (
            random_policy(),
            random_policy(sizes=(3, 16, 16, 4), head="tanh_normal", space=within(2, -1, 1)),
            random_policy(sizes=(3, 16, 16, 4), head="categorical", space=ActionSpace.numbered(4)),
        )
        whole = [policy.act(obs, rng=np.random.default_rng(1)) for policy in policies]
        monkeypatch.setattr("countmorl.runtime.policy.BLOCK", 16)
        for policy, wanted in zip(policies, whole, strict=True):
            actions = policy.act(obs, rng=np.random.default_rng(1))
            np.testing.assert_allclose(actions, wanted, rtol=1e-4, atol=1e-5, strict=True)
