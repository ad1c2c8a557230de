import pytest

from countmorl.errors import ConfigError
from countmorl.sweeps.files import read_plan

PLAN = """
name = "weights"
data = ["logs/*.npz", "hopper-medium-v2"]
seeds = [3, 5]

[settings]
epochs = 4
sac.discount = 0.9

[options]
eval_every = 2

[data_options]
rows = 100

[[methods]]
method = "count-morl"
settings = {horizon = 2, "codes.bits" = 16}
[methods.grid]
beta = [0.5, 1]
sac.hidden = [[8, 8], [16, 16]]

[[methods]]
method = "bc"
label = "clone"
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "logs").mkdir()
    for name in ("a.npz", "b.npz"):
        (tmp_path / "logs" / name).touch()

    def write(text):
        path = tmp_path / "weights.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_file_says_everything(write, tmp_path, monkeypatch):
    monkeypatch.chdir("/")  # Files are seen from the plan's own folder.
    plan = read_plan(write(PLAN))
    assert plan.name == "weights"
    assert len(plan.trained) == 3 * 2 * (4 + 1)
    assert {row.data for row in plan.rows} == {
        str(tmp_path / "logs/a.npz"),
        str(tmp_path / "logs/b.npz"),
        "hopper-medium-v2",
    }
    first = plan.trained[0]
    assert first.label == "count-morl, beta 0.5, sac.hidden 8 8"
    assert (first.config.epochs, first.config.horizon, first.config.sac.discount) == (4, 2, 0.9)
    assert (first.config.codes.bits, first.config.sac.hidden) == (16, (8, 8))
    assert (first.options.eval_every, first.options.seed) == (2, 3)
    assert first.data_options.rows == 100
    assert plan.trained[4].config.epochs == 4  # Of BC, which has no discount.


LEAST = 'data = ["hopper-medium-v2"]\n[[methods]]\nmethod = "bc"\n'


def test_the_least_that_a_file_must_say(write):
    plan = read_plan(write(LEAST))
    assert [row.name for row in plan.rows] == ["bc-hopper-medium-v2-seed0"]
    assert plan.name == "weights"  # The file's own name.


def test_published_settings_and_tasks_of_a_folder(write, tmp_path):
    (tmp_path / "hopper_medium-recipe.hdf5").touch()
    text = 'data = "."\ntasks = "hopper-medium"\npreset = "paper"\n[[methods]]\nmethod = "mopo"\n'
    (row,) = read_plan(write(text)).trained
    assert (row.config.weight, row.config.epochs) == (5.0, 3000)
    other = text + 'preset = "default"\n'
    assert read_plan(write(other)).trained[0].config.epochs == 300


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "A plan wants `data` and `methods`"),
        ('data = ["x"]', "A plan wants `methods`"),
        ("data = [", "is not a readable plan"),
        (LEAST + "methods = 3", "[[methods]] has no key 'methods'. Did you mean 'method'"),
        ("sead = 1\n" + LEAST, "A plan has no key 'sead'. Did you mean 'seeds'?"),
        (LEAST + "lable = 'x'", "has no key 'lable'. Did you mean 'label'?"),
        (LEAST.replace("bc", "bcc"), "No method named 'bcc'. Did you mean 'bc'?"),
        (LEAST + "settings = {epochz = 1}", "BC has no setting 'epochz'. Did you mean 'epochs'"),
        (LEAST + "settings = {epochs = 'many'}", "`epochs` must be int, got 'many'"),
        (LEAST + "grid = {epochs = []}", "has no values for `epochs`"),
        (LEAST + "grid = {epochs = 3}", "`grid.epochs` must be a list of values, got 3"),
        ("seeds = 0\n" + LEAST, "The plan has no seeds"),
        ("seeds = 'x'\n" + LEAST, "`seeds` must be int or a list of int, got 'x'"),
        ("seeds = [1, 1]\n" + LEAST, "Two runs of the plan are called"),
        ("settings = {beta = 1}\n" + LEAST, "No method has a setting 'beta'"),
        ("options = {eval_evry = 1}\n" + LEAST, "[options] has no key 'eval_evry'. Did you mean"),
        ("options = {eval_every = -1}\n" + LEAST, "`eval_every` must be at least 0"),
        ("data_options = 3\n" + LEAST, "[data_options] must be a table, got 3"),
        ("preset = 'papers'\n" + LEAST, "`preset` must be 'default' or 'paper'"),
        (LEAST.replace("hopper-medium-v2", "no/*.npz"), "No file matches 'no/*.npz'"),
        (LEAST.replace("hopper-medium-v2", "no.npz"), "There is no file"),
        ('data = []\n[[methods]]\nmethod = "bc"', "The plan has no data"),
        ('data = ["hopper-medium-v2"]\nmethods = []', "The plan has no methods"),
        ('data = ["hopper-medium-v2"]\n[methods]\nmethod = "bc"', "write [[methods]]"),
        ('data = ["hopper-medium-v2"]\n[[methods]]\nlabel = "x"', "[[methods]] wants `method`"),
        ('data = ["hopper-medium-v2"]\nmethods = [3]', "[[methods]] must be a table, got 3"),
    ],
)
def test_what_is_wrong_is_a_sentence_with_the_files_name(write, text, said):
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        read_plan(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_files_that_are_no_plan(tmp_path):
    with pytest.raises(ConfigError, match=r"There is no plan"):
        read_plan(tmp_path / "no.toml")
    huge = tmp_path / "huge.toml"
    huge.write_bytes(b"#" * (2 << 20))
    with pytest.raises(ConfigError, match=r"more than the 1 MB"):
        read_plan(huge)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"is not a readable plan"):
        read_plan(tmp_path / "binary.toml")
    with pytest.raises(ConfigError, match=r"is not a readable plan"):
        read_plan(tmp_path)
