"""What the tests share: small logs, small runs, and the command line called in process."""

# ruff: noqa: E402  (flags and the hook come before what they act on)

import functools
import os
import shutil
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

# The suite compiles thousands of programs and runs each for milliseconds. Compiling is quicker with
# fewer optimisations, and what one worker or subprocess compiled the others read from a cache.
# A flag that XLA does not know ends the process, so they are given only where they are known.
KNOWN_JAX = version("jax").startswith(("0.9.", "0.10."))
if KNOWN_JAX:
    os.environ["XLA_FLAGS"] = (
        "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false "
        "--xla_cpu_parallel_codegen_split_count=1 " + os.environ.get("XLA_FLAGS", "")
    )
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "jax")
)
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"

import jaxtyping

# Every annotation of the package is checked at every call, shapes and all.
jaxtyping.install_import_hook("countmorl", "checker.check")
jaxtyping.config.update("jaxtyping_remove_typechecker_stack", True)

import h5py
import hypothesis
import jax
import numpy as np
import optax
import pytest

from checker import check_fields
from countmorl.cli import main
from countmorl.collecting.qlearning import Steps
from countmorl.runs.folder import Run
from countmorl.types import Transition

check_fields(Transition)
check_fields(Steps)

jax.config.update("jax_numpy_dtype_promotion", "strict")

# What programs are written down in would take a megabyte for each of thousands of them, so they
# share it; a program that is needed while another is being written still gets its own.
if KNOWN_JAX:
    from jax._src.interpreters import mlir

    new_context, shared = mlir.make_ir_context, mlir.make_ir_context()
    mlir.make_ir_context = lambda: new_context() if mlir.ir.Context.current else shared


def _lenient(make):
    """Optax mixes floats with integer counters: let it, and stay strict with our own code."""

    @functools.wraps(make)
    def wrapped(*args, **kwargs):
        transform = make(*args, **kwargs)

        def update(*args, **kwargs):
            with jax.numpy_dtype_promotion("standard"):
                return transform.update(*args, **kwargs)

        return optax.GradientTransformation(transform.init, update)

    return wrapped


for name in ("adam", "adamw"):
    setattr(optax, name, _lenient(getattr(optax, name)))

# Examples are the same in every run, and none is judged by the clock.
hypothesis.settings.register_profile(
    "suite", derandomize=True, deadline=None, database=None, max_examples=50
)
hypothesis.settings.load_profile("suite")

TINY = ("--epochs", "4", "--updates", "3", "--batch", "8", "--hidden", "8", "--save-every", "2")
"""Options of a training that takes milliseconds; used everywhere, so it is compiled once."""

Log = dict[str, np.ndarray]


@pytest.fixture(autouse=True)
def _alone(tmp_path, monkeypatch):
    """Keep every test in its own folder, away from the network and the user's caches."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("D4RL_DATASET_DIR", str(tmp_path / "d4rl"))
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    monkeypatch.setenv("COUNTMORL_D4RL_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)


MAPS = Path("/proc/self/maps")
MANY_MAPS = 20_000


@pytest.fixture(autouse=True, scope="module")
def _forget_programs():
    """Every compiled program maps memory; past Linux's 65,530 maps a process, XLA crashes."""
    yield
    if MAPS.exists() and MAPS.read_bytes().count(b"\n") > MANY_MAPS:
        jax.clear_caches()


def make_log(rows: int = 60, obs: int = 3, action: int = 2, *, episode: int = 20) -> Log:
    """Return a clean log in D4RL's v2 layout; episodes end in turn by a fall and by a limit."""
    rng = np.random.default_rng(0)
    ends = np.arange(rows) % episode == episode - 1
    fall = ends & (np.arange(rows) // episode % 2 == 0)
    states = rng.standard_normal((rows + 1, obs)).astype(np.float32)
    after = states[1:].copy()
    after[ends] = rng.standard_normal((ends.sum(), obs))
    return {
        "observations": states[:-1],
        "actions": rng.uniform(-0.9, 0.9, (rows, action)).astype(np.float32),
        "rewards": rng.standard_normal(rows).astype(np.float32),
        "next_observations": after,
        "terminals": fall,
        "timeouts": ends & ~fall,
    }


def save_log(path: Path, arrays: Mapping[str, np.ndarray], **attributes: object) -> Path:
    """Write arrays as they are to an NPZ or HDF5 file, without countmorl's own writers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npz":
        np.savez(path, **arrays)
        return path
    with h5py.File(path, "w") as file:
        for key, values in arrays.items():
            file.create_dataset(key, data=values)
        file.attrs.update(attributes)
    return path


@pytest.fixture
def unchecked(monkeypatch) -> None:
    """Let a test hand in what the annotations forbid: what users get wrong, or a stand-in."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture
def log() -> Callable[..., Log]:
    """`make_log`, for tests."""
    return make_log


@pytest.fixture
def save() -> Callable[..., Path]:
    """`save_log`, for tests."""
    return save_log


@pytest.fixture
def run_cli(capsys) -> Callable[..., tuple[int, str, str]]:
    """Call the command line in process: `run_cli("data", "list")` gives code, stdout, stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def tiny() -> tuple[str, ...]:
    """Options of a training that takes milliseconds."""
    return TINY


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Path:
    """A folder with `log.hdf5` and a finished run `run` on it. Read it, never write to it."""
    folder = tmp_path_factory.mktemp("trained")
    save_log(folder / "log.hdf5", make_log())
    code = main(
        ["train", "bc", str(folder / "log.hdf5"), "--out", str(folder / "run"), *TINY, "--json"]
    )
    assert code == 0
    return folder


@pytest.fixture(scope="session")
def finished_small(tmp_path_factory) -> Callable:
    """`finish` of `small_runs`, each algorithm once for all files. Read its runs only."""
    from small_runs import finish

    return functools.cache(functools.partial(finish, tmp_path_factory.mktemp("small")))


class Kill(BaseException):
    """Stands for `kill -9` inside one process: nothing catches it."""


@pytest.fixture(scope="session")
def _half_done(trained) -> Path:
    """The same run, killed right after the line of epoch 3; its checkpoint is of epoch 2."""
    append = Run.append

    def killed(run: Run, file_name: str, record: Mapping) -> None:
        append(run, file_name, record)
        if file_name == "metrics.jsonl" and record["epoch"] == 3:
            raise Kill

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "append", killed)
        with pytest.raises(Kill):
            main(["train", "bc", str(trained / "log.hdf5"), "--out", str(trained / "half"), *TINY])
    return trained / "half"


@pytest.fixture
def halted(_half_done, tmp_path) -> Path:
    """A copy of a run that was killed on its way; `trained / "run"` is the same run unbroken."""
    return Path(shutil.copytree(_half_done, tmp_path / "halted"))


@pytest.fixture
def finished(trained, tmp_path) -> Path:
    """A copy of the finished run that a test may spoil."""
    return Path(shutil.copytree(trained / "run", tmp_path / "finished"))


@pytest.fixture(scope="session")
def pendulum(tmp_path_factory) -> Path:
    """A folder with `log.npz` of a pendulum at random and a run of count-morl on it. Read only."""
    pytest.importorskip("gymnasium")
    from countmorl import train
    from countmorl.envs.simulators import make_env, record
    from small_runs import QUIET, small

    folder, rng = tmp_path_factory.mktemp("pendulum"), np.random.default_rng(0)
    act = lambda _: rng.uniform(-2, 2, 1).astype(np.float32)  # noqa: E731
    names = ("obs", "action", "reward", "next_obs", "terminated", "truncated")
    steps = zip(*record(act, make_env("Pendulum-v1"), rows=400, seed=0), strict=True)
    columns = {name: np.array(column) for name, column in zip(names, steps, strict=True)}
    columns |= {"truncated": np.arange(400) % 20 == 19}
    bounds = {"action_low": np.full(1, -2.0), "action_high": np.full(1, 2.0)}
    np.savez(folder / "log.npz", **columns, **bounds)
    train(small("count-morl", epochs=1), folder / "log.npz", out=folder / "run", **QUIET)
    return folder
