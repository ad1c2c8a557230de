import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest

import countmorl
from countmorl.agents.sac_config import SACConfig
from countmorl.algorithms.bc import BC
from countmorl.configs import (
    added,
    at_least,
    check_types,
    finite,
    from_json,
    layer_sizes,
    positive,
    to_json,
)
from countmorl.errors import ConfigError
from countmorl.runs.options import DataOptions, RunOptions
from countmorl.tabular.train import Tabular


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: int = 1


@dataclass(frozen=True, kw_only=True)
class Outer:
    inner: Inner = Inner()
    kind: Literal["a", "b"] = "a"
    rate: float = 0.5
    note: str | None = None
    either: int | float | None = None
    layers: tuple[int, ...] = ()
    on: bool = False


@pytest.mark.parametrize(
    "config",
    [
        Outer(),
        Outer(inner=Inner(size=3), kind="b", rate=2.0, note="x", layers=(4, 5), on=True),
        BC(),
        BC(epochs=3, hidden=(), learning_rate=1e-3),
        RunOptions(seed=7, log=("tensorboard", "wandb")),
        DataOptions(task="hopper", rows=10, mode="d4rl-exact"),
    ],
    ids=repr,
)
def test_json_gives_the_same_config_back(config):
    text = json.dumps(to_json(config))
    assert from_json(type(config), json.loads(text)) == config


def test_a_config_that_lacks_a_setting_is_refused():
    values = to_json(Outer())
    del values["rate"], values["on"]
    with pytest.raises(ConfigError, match="config of Outer lacks rate, on; another version"):
        from_json(Outer, values)


def test_a_setting_that_was_added_may_be_absent_and_then_means_what_it_always_meant():
    @dataclass(frozen=True, kw_only=True)
    class Grown:
        size: int
        norm: bool = added(False)

    assert Grown(size=1) == Grown(size=1, norm=False)
    assert from_json(Grown, {"size": 1}) == Grown(size=1, norm=False)
    assert from_json(Grown, {"size": 1, "norm": True}).norm
    with pytest.raises(ConfigError, match="lacks size; another version"):
        from_json(Grown, {"norm": True})


def test_an_integer_will_do_for_a_float():
    rate = from_json(Outer, to_json(Outer()) | {"rate": 2}).rate
    assert (rate, type(rate)) == (2.0, float)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"rats": 1}, "Outer has no setting 'rats'. Did you mean 'rate'.*It has: inner, kind"),
        ({"inner": {"sise": 1}}, "Inner has no setting 'sise'. Did you mean 'size'"),
        ({"inner": 3}, "config of Inner must be a table, got 3"),
        ({"inner": {"size": "3"}}, "`size` must be int, got '3'"),
        ({"inner": {"size": 1.5}}, "`size` must be int, got 1.5"),
        ({"inner": {"size": True}}, "`size` must be int, got True"),
        ({"rate": "fast"}, "`rate` must be float, got 'fast'"),
        ({"rate": None}, "`rate` must be float, got None"),
        ({"rate": False}, "`rate` must be float, got False"),
        ({"kind": "c"}, "`kind` must be 'a' or 'b', got 'c'"),
        ({"kind": ["a"]}, "`kind` must be 'a' or 'b'"),
        ({"note": 3}, "`note` must be str or None, got 3"),
        ({"either": "x"}, "`either` must be int or float or None"),
        ({"layers": 3}, "`layers` must be a list of int, got 3"),
        ({"layers": [1, "2"]}, "`layers` must be a list of int"),
        ({"layers": [1, [2]]}, "`layers` must be a list of int"),
        ({"on": 1}, "`on` must be bool, got 1"),
    ],
)
def test_what_does_not_fit_is_named(values, words):
    with pytest.raises(ConfigError, match=words):
        from_json(Outer, values)


@pytest.mark.parametrize("values", [None, [], "x", 3])
def test_a_config_is_a_table(values):
    with pytest.raises(ConfigError, match="config of Outer must be a table"):
        from_json(Outer, values)


def test_checks_of_the_config_itself_hold():
    with pytest.raises(ConfigError, match="`epochs` must be at least 1, got 0"):
        from_json(BC, to_json(BC()) | {"epochs": 0})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kind": "c"}, "`kind` must be 'a' or 'b', got 'c'"),
        ({"rate": "1"}, "`rate` must be float, got '1'"),
        ({"note": 3}, "`note` must be str or None, got 3"),
        ({"note": ["x"]}, "`note` must be str or None"),
        ({"layers": [4, 5.5]}, r"`layers` must be a list of int, got \(4, 5.5\)"),
        ({"inner": None}, "`inner` must be a table, got None"),
        ({"layers": "x" * 99}, "got 'x{56}\\.\\.\\."),
        ({"on": 1}, "`on` must be bool, got 1"),
    ],
)
def test_wrong_types_are_named(values, words):
    check_types(Outer(rate=1, either=2))
    with pytest.raises(ConfigError, match=words):
        check_types(Outer(**values))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: countmorl.CountMORL(estimate="XX"), "`estimate` must be 'LC' or 'AVG' or 'UC'"),  # type: ignore[arg-type]
        (lambda: countmorl.MOPO(horizon=2.5), "`horizon` must be int, got 2.5"),  # type: ignore[arg-type]
        (lambda: countmorl.COMBO(sac=None), "`sac` must be a table, got None"),  # type: ignore[arg-type]
        (lambda: SACConfig(discount="0.9"), "`discount` must be float, got '0.9'"),  # type: ignore[arg-type]
        (lambda: RunOptions(seed="1"), "`seed` must be int, got '1'"),  # type: ignore[arg-type]
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_configs_check_themselves_when_they_are_made(make, words):
    with pytest.raises(ConfigError, match=words):
        make()


class TestNumPy:
    @pytest.mark.parametrize(
        ("name", "value", "plain"),
        [
            ("rate", np.float32(0.5), 0.5),
            ("rate", np.float64(0.5), 0.5),
            ("rate", np.int64(2), 2),
            ("either", np.int32(7), 7),
            ("on", np.bool_(True), True),
            ("layers", (np.int64(4), 5), (4, 5)),
        ],
    )
    def test_numbers_are_accepted_and_become_pythons(self, name, value, plain):
        config = Outer(**{name: value})
        check_types(config)
        got = getattr(config, name)
        assert (got, type(got)) == (plain, type(plain))
        assert from_json(Outer, json.loads(json.dumps(to_json(config)))) == Outer(**{name: plain})

    @pytest.mark.parametrize(
        "values", [{"inner": np.int64(3)}, {"note": np.int64(3)}, {"layers": (np.float64(1.5),)}]
    )
    def test_wrong_ones_are_named_all_the_same(self, values):
        with pytest.raises(ConfigError, match=f"`{next(iter(values))}` must be"):
            check_types(Outer(**values))

    @pytest.mark.usefixtures("unchecked")
    def test_where_settings_are_made(self, tmp_path):
        assert type(BC(epochs=np.int64(3), hidden=(np.int32(8),)).hidden[0]) is int
        assert type(RunOptions(seed=np.int64(3)).seed) is int
        assert type(Tabular(states=np.int64(4), beta=np.float32(0.5)).beta) is float


@dataclass(frozen=True, kw_only=True)
class Tables:
    part: Inner | None = None
    anything: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    parts: tuple[Inner, ...] = ()


class TestTables:
    @pytest.mark.parametrize(
        "config",
        [
            Tables(),
            Tables(part=Inner(size=3), anything={"a": [1, {"b": None}]}, sizes={"x": 1}),
            Tables(parts=(Inner(size=1), Inner(size=2))),
        ],
        ids=["empty", "full", "several"],
    )
    def test_json_gives_them_back(self, config):
        check_types(config)
        assert from_json(Tables, json.loads(json.dumps(to_json(config)))) == config

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ({"part": 3}, "`part` must be a table or None, got 3"),
            ({"part": {"sise": 3}}, "Inner has no setting 'sise'"),
            ({"part": {}}, "config of Inner lacks size"),
            ({"anything": []}, "`anything` must be a table"),
            ({"sizes": {"x": "1"}}, "`sizes` must be int, got '1'"),
            ({"parts": [{"size": "1"}]}, "`size` must be int, got '1'"),
        ],
    )
    def test_what_does_not_fit_is_named(self, values, words):
        with pytest.raises(ConfigError, match=words):
            from_json(Tables, to_json(Tables()) | values)


def test_finite():
    finite(SimpleNamespace(a=1.0, b=None), "a", "b")
    for value in ("inf", "-inf", "nan"):
        with pytest.raises(ConfigError, match=f"`a` must be finite, got {value}"):
            finite(SimpleNamespace(a=float(value)), "a")


@pytest.mark.usefixtures("unchecked")
def test_a_list_is_as_good_as_a_tuple():
    config = Outer(layers=[4, np.int64(5)])  # type: ignore[arg-type]
    check_types(config)
    assert config.layers == (4, 5)
    assert BC(hidden=[8, 8]) == BC(hidden=(8, 8))  # type: ignore[arg-type]


def test_at_least():
    at_least(SimpleNamespace(a=1, b=0), a=1, b=0)
    with pytest.raises(ConfigError, match=r"`a` must be at least 1, got 0.5"):
        at_least(SimpleNamespace(a=0.5), a=1)
    for value in ("nan", "inf"):
        with pytest.raises(ConfigError, match=f"got {value}"):
            at_least(SimpleNamespace(a=float(value)), a=1)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_positive(value):
    positive(SimpleNamespace(rate=1e-9), "rate")
    with pytest.raises(ConfigError, match="`rate` must be a number above 0"):
        positive(SimpleNamespace(rate=value), "rate")


def test_layer_sizes():
    layer_sizes(())
    layer_sizes((1, 2))
    with pytest.raises(ConfigError, match="`hidden` must hold layer sizes of at least 1"):
        layer_sizes((8, 0))
