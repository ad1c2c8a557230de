"""Bad input of every kind: a helpful sentence, the right exit code, and nothing damaged."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from countmorl.data.names import D4RL

TRAIN = ("--epochs", 4, "--updates", 3, "--batch", 8, "--hidden", 8, "--save-every", 2)


@dataclass
class Place:
    """A folder with good things in it, for a case to spoil."""

    path: Path
    log: Callable[..., dict[str, np.ndarray]]
    save: Callable[..., Path]
    trained: Path
    half_done: Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def data(self) -> Path:
        """A good log."""
        return self.save(self.path / "good.hdf5", self.log())

    @property
    def run(self) -> Path:
        """A finished run."""
        return Path(shutil.copytree(self.trained / "run", self.path / "run"))

    @property
    def halted(self) -> Path:
        """A run that was killed on its way."""
        return Path(shutil.copytree(self.half_done, self.path / "halted"))

    def file(self, name: str, content: bytes = b"mine") -> Path:
        (self.path / name).write_bytes(content)
        return self.path / name

    def spoiled(self, name: str, *, drop: tuple[str, ...] = (), **changes: Any) -> Path:
        """The good log with some arrays changed or left out."""
        arrays = {k: v for k, v in (self.log() | changes).items() if k not in drop}
        return self.save(self.path / name, arrays)

    def opened(self, drop: str, write: Callable[[h5py.File], Any]) -> Path:
        """The good log as HDF5 without one array, which `write` puts there in its own way."""
        path = self.spoiled("odd.hdf5", drop=(drop,))
        with h5py.File(path, "a") as file:
            write(file)
        return path

    def within(self, run: Path, name: str, content: bytes) -> Path:
        """The run with one of its files replaced."""
        (run / name).write_bytes(content)
        return run

    def config(self, run: Path, **changes: Any) -> Path:
        path = run / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))
        return run

    def flipped(self, path: Path) -> Path:
        raw = bytearray(path.read_bytes())
        raw[-3] ^= 1
        path.write_bytes(raw)
        return path


Arguments = tuple[Any, ...]


@dataclass
class Case:
    """What is done to a place, the command on it, and what must be said."""

    name: str
    make: Callable[[Place], Arguments]
    words: str
    code: int = 2
    leaves: bool = False
    """Whether a run folder may be left behind."""


def info(make: Callable[[Place], Any]) -> Callable[[Place], Arguments]:
    return lambda place: ("data", "info", make(place))


def train(*options: Any) -> Callable[[Place], Arguments]:
    return lambda place: ("train", "bc", place.data, "--out", "new", *TRAIN, *options)


def huge_npy() -> bytes:
    """A header that promises a petabyte, and no data."""
    header = io.BytesIO()
    shape = {"descr": "<f4", "fortran_order": False, "shape": (10**14, 3)}
    np.lib.format.write_array_header_1_0(header, shape)
    return header.getvalue()


def npz_with_huge_array(place: Place) -> Path:
    path = place.save(place.path / "huge.npz", place.log())
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | {"observations.npy": huge_npy()}).items():
            archive.writestr(name, content)
    return path


def npz_with_broken_stream(place: Place) -> Path:
    np.savez_compressed(place.path / "broken.npz", **place.log())
    raw = bytearray((place.path / "broken.npz").read_bytes())
    raw[120] ^= 0xFF
    return place.file("broken.npz", bytes(raw))


def external_link(file: h5py.File) -> None:
    file["rewards"] = h5py.ExternalLink("/etc/hostname", "/rewards")


def external_storage(file: h5py.File) -> None:
    file.create_dataset("rewards", (60,), "f4", external=[("/etc/hostname", 0, 240)])


def virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout(shape=(60,), dtype="f4")
    layout[:] = h5py.VirtualSource("/etc/hostname", "rewards", shape=(60,))
    file.create_virtual_dataset("rewards", layout)


def gigantic(file: h5py.File) -> None:
    file.create_dataset("observations", (10**13, 3), "f4", chunks=(1000, 3))


def strings(file: h5py.File) -> None:
    file.create_dataset("rewards", data=["good"] * 60)


def records(file: h5py.File) -> None:
    file.create_dataset("rewards", data=np.zeros(60, [("a", "f4"), ("b", "f4")]))


def group(file: h5py.File) -> None:
    file["rewards/nested"] = np.zeros(60)


def with_nan(place: Place) -> Path:
    rewards = place.log()["rewards"]
    rewards[7] = np.nan
    return place.spoiled("nan.npz", rewards=rewards)


def in_cache(place: Place) -> str:
    path = D4RL["hopper-medium-v2"].path
    path.parent.mkdir()
    path.write_bytes(b"half a download")
    return "hopper-medium-v2"


def with_env(name: str, value: Any, *arguments: Any) -> Callable[[Place], Arguments]:
    def make(place: Place) -> Arguments:
        place.file("file")
        place.monkeypatch.setenv(name, value)
        return arguments

    return make


FILES = [
    Case("missing HDF5 file", info(lambda p: "nowhere.hdf5"), "There is no file nowhere.hdf5"),
    Case("missing NPZ file", info(lambda p: "nowhere.npz"), "There is no file nowhere.npz"),
    Case("folder as data", info(lambda p: p.path), "is a folder. Give a file"),
    Case("unknown ending", info(lambda p: p.file("log.csv")), "ending '.csv', which is not known"),
    Case("no ending", info(lambda p: p.file("log")), "ending '', which is not known"),
    Case("empty HDF5 file", info(lambda p: p.file("x.hdf5", b"")), "not a readable HDF5 file"),
    Case("text as HDF5", info(lambda p: p.file("x.hdf5")), "not a readable HDF5 file"),
    Case(
        "HDF5 cut short",
        info(lambda p: p.file("x.hdf5", p.data.read_bytes()[:3000])),
        "not a readable HDF5 file",
    ),
    Case("damaged file in D4RL's cache", info(in_cache), "delete it and download it again"),
    Case("text as NPZ", info(lambda p: p.file("x.npz")), "not a readable NPZ file"),
    Case(
        "NPZ cut short",
        info(lambda p: p.file("x.npz", p.spoiled("y.npz").read_bytes()[:500])),
        "not a readable NPZ file",
    ),
    Case(
        "NPZ with a broken stream",
        info(npz_with_broken_stream),
        "not a readable NPZ file",
    ),
    Case(
        "objects in NPZ",
        info(lambda p: p.spoiled("x.npz", rewards=np.array([{}] * 60))),
        "no objects",
    ),
    Case(
        "gigantic shape in NPZ",
        info(npz_with_huge_array),
        "huge.npz",
    ),
    Case("external link", info(lambda p: p.opened("rewards", external_link)), "links"),
    Case(
        "external storage",
        info(lambda p: p.opened("rewards", external_storage)),
        "stored in another file, which is not allowed",
    ),
    Case("virtual dataset", info(lambda p: p.opened("rewards", virtual)), "another file"),
    Case(
        "gigantic shape in HDF5",
        info(lambda p: p.opened("observations", gigantic)),
        "GB of numbers, more than",
    ),
    Case("strings in HDF5", info(lambda p: p.opened("rewards", strings)), "wanted real numbers"),
    Case("records in HDF5", info(lambda p: p.opened("rewards", records)), "wanted real numbers"),
    Case("group as array", info(lambda p: p.opened("rewards", group)), "has no `reward`"),
    Case(
        "empty rewards in HDF5",
        info(lambda p: p.opened("rewards", lambda f: f.create_dataset("rewards", dtype="f4"))),
        "`rewards` of",
    ),
    Case(
        "empty observations in HDF5",
        info(
            lambda p: p.opened(
                "observations", lambda f: f.create_dataset("observations", dtype="f4")
            )
        ),
        "obs",
    ),
    Case(
        "scalar in HDF5",
        info(lambda p: p.spoiled("x.hdf5", observations=np.float32(1))),
        "obs",
    ),
    Case(
        "scalar in NPZ",
        info(lambda p: p.spoiled("x.npz", observations=np.float32(1))),
        "obs",
    ),
]

SHAPES = [
    Case("no observations", info(lambda p: p.spoiled("x.npz", drop=("observations",))), "no `obs`"),
    Case("no rewards", info(lambda p: p.spoiled("x.hdf5", drop=("rewards",))), "no `reward`"),
    Case(
        "one row too few",
        info(lambda p: p.spoiled("x.npz", next_observations=np.zeros((59, 3)))),
        "`next_obs` has 59 rows but `obs` has 60",
    ),
    Case(
        "one column too many",
        info(lambda p: p.spoiled("x.npz", next_observations=np.zeros((60, 4)))),
        "`next_obs` has 4 columns but `obs` has 3",
    ),
    Case(
        "images",
        info(lambda p: p.spoiled("x.npz", observations=np.zeros((60, 8, 8)))),
        "Images are not supported",
    ),
    Case(
        "no rows",
        info(lambda p: p.save(p.path / "x.npz", {k: v[:0] for k, v in p.log().items()})),
        "has no rows",
    ),
    Case(
        "two rewards a row",
        info(lambda p: p.spoiled("x.hdf5", rewards=np.zeros((60, 2)))),
        "wanted one value per row",
    ),
    Case(
        "flags that are no flags",
        info(lambda p: p.spoiled("x.npz", terminals=np.full(60, 3))),
        "`terminated` must hold only true and false",
    ),
    Case(
        "two flags a row",
        info(
            lambda p: p.save(
                p.path / "hopper_x.hdf5",
                {
                    k: v
                    for k, v in (
                        p.log(obs=11, action=3) | {"terminals": np.zeros((60, 2), bool)}
                    ).items()
                    if k != "timeouts"
                },
            )
        ),
        "has shape [60, 2], wanted one value",
    ),
    Case(
        "complex numbers",
        info(lambda p: p.spoiled("x.npz", observations=np.zeros((60, 3), complex))),
        "wanted real numbers",
    ),
    Case(
        "text",
        info(lambda p: p.spoiled("x.npz", actions=np.array([["left"]] * 60))),
        "wanted real numbers",
    ),
    Case(
        "two names for one array",
        info(lambda p: p.spoiled("x.npz", obs=np.zeros((60, 3)))),
        "both 'obs' and 'observations'",
    ),
    Case("NaN", info(with_nan), "`reward` of 'nan' is NaN or infinite in 1 rows, first in row 7"),
    Case("NaN found by check", lambda p: ("data", "check", with_nan(p)), "(1 row: 7)", code=1),
    Case(
        "actions out of bounds",
        info(
            lambda p: p.spoiled("x.npz", action_low=np.full(2, -0.1), action_high=np.full(2, 0.1))
        ),
        "lie outside their bounds",
    ),
    Case(
        "actions out of bounds found by check",
        lambda p: (
            "data",
            "check",
            p.spoiled("x.npz", action_low=np.full(2, -0.1), action_high=np.full(2, 0.1)),
        ),
        "error: actions outside their bounds",
        code=1,
    ),
    Case(
        "empty bounds",
        info(lambda p: p.spoiled("x.npz", action_low=np.ones(2), action_high=-np.ones(2))),
        "bounds are empty",
    ),
    Case(
        "bounds of another size",
        info(lambda p: p.spoiled("x.npz", action_low=-np.ones(5), action_high=np.ones(5))),
        "action",
    ),
    Case(
        "exact mode without a limit",
        lambda p: ("data", "info", p.spoiled("x.hdf5", drop=("timeouts",)), "--mode", "d4rl-exact"),
        "needs `timeouts`",
    ),
    Case(
        "exact mode without flags",
        lambda p: (
            "data",
            "info",
            p.spoiled("x.hdf5", drop=("terminals",)),
            "--mode",
            "d4rl-exact",
        ),
        "terminals",
    ),
    Case(
        "exact mode with arrays of two lengths",
        lambda p: (
            "data",
            "info",
            p.spoiled("x.hdf5", timeouts=np.zeros(50, bool)),
            "--mode",
            "d4rl-exact",
        ),
        "rows",
    ),
]

NAMES = [
    Case(
        "misspelt dataset",
        info(lambda p: "hopper-medum-v2"),
        "Did you mean 'hopper-medium-v2'? `countmorl data list` shows all",
    ),
    Case(
        "misspelt download",
        lambda p: ("data", "download", "hopper-medum-v2"),
        "Did you mean 'hopper-medium-v2'",
    ),
    Case("no network", lambda p: ("data", "download", "hopper-medium-v2"), "could not be reached"),
    Case("malformed Minari id", info(lambda p: "minari:no id"), "'no id' could not be loaded"),
    Case(
        "name longer than the system allows",
        info(lambda p: "x" * 300),
        "No dataset named",
    ),
    Case(
        "mirror that is no address",
        with_env("COUNTMORL_D4RL_MIRROR", "mirror", "data", "download", "hopper-medium-v2"),
        "mirror",
    ),
    Case(
        "cache folder that is a file",
        with_env("D4RL_DATASET_DIR", "file", "data", "download", "hopper-medium-v2"),
        "file",
    ),
    Case("misspelt task", train("--task", "hoper"), "Did you mean 'hopper'"),
    Case("unknown environment", train("--task", "Nowhere-v0"), "No task named 'Nowhere-v0'"),
    Case("task of other sizes", train("--task", "hopper"), "Give the task the data was logged on"),
    Case(
        "environment of a missing module",
        train("--task", "no_such:Env-v0"),
        "'no_such:Env-v0' could not be imported",
    ),
]

SETTINGS = [
    Case("seed below 0", train("--seed", -1), "`seed` must be at least 0, got -1"),
    Case("no epochs", train("--epochs", 0), "`epochs` must be at least 1, got 0"),
    Case("no updates", train("--updates", 0), "`updates` must be at least 1"),
    Case("no batch", train("--batch", -3), "`batch` must be at least 1, got -3"),
    Case("huge batch", train("--batch", 10**12), "`batch` must be at most 1,000,000, got 1,000"),
    Case("absurd batch", train("--batch", 10**30), "`batch` must be at most 1,000,000, got"),
    Case("huge epoch", train("--updates", 10**22), "`updates` must be at most 1,000,000,000"),
    Case(
        "a layer beyond memory",
        train("--hidden", 10**10),
        "not enough memory for this",
        leaves=True,
    ),
    Case("empty layer", train("--hidden", 8, 0), "`hidden` must hold layer sizes of at least 1"),
    Case("learning rate of 0", train("--learning-rate", 0), "`learning_rate` must be a number"),
    Case("learning rate NaN", train("--learning-rate", "nan"), "`learning_rate` must be a number"),
    Case("no rows kept", train("--rows", 0), "`rows` must be at least 1, got 0"),
    Case("never saved", train("--save-every", 0), "`save_every` must be at least 1"),
    Case("no evaluation episodes", train("--eval-episodes", 0), "`eval_episodes` must be at least"),
    Case("word for a number", train("--epochs", "many"), "many"),
    Case("fraction for a count", train("--epochs", "1.5"), "1.5"),
    Case("unknown mode", train("--mode", "wrong"), "d4rl-exact"),
    Case("unknown logger", train("--log", "paper"), "tensorboard"),
    Case("unknown option", train("--epoch", 3), "no option '--epoch'. Did you mean '--epochs'?"),
    Case("option without its value", train("--epochs"), "`--epochs` wants INT, and nothing"),
    Case("misspelt preset", train("--preset", "papr"), "Did you mean 'paper'?"),
    Case("no kept policies below 0", train("--keep-policies", -1), "`keep_policies` must be at"),
    Case(
        "seed beyond all generators",
        train("--seed", 10**20),
        "seed",
    ),
    Case(
        "learning rate without measure",
        train("--learning-rate", "1e30", "--hidden", 8, 8),
        "diverged: `loss` is nan in epoch 1",
        leaves=True,
    ),
]

COMMANDS = [
    Case("unknown command", lambda p: ("trian",), "Did you mean 'train'"),
    Case("unknown command of a group", lambda p: ("data", "inof", "x"), "Did you mean 'info'"),
    Case("unknown method", lambda p: ("train", "bcc", p.data), "Did you mean 'bc'"),
    Case(
        "method of a missing module",
        lambda p: ("train", "no_such:Mine", p.data),
        "'no_such:Mine' could not be imported",
    ),
    Case("method that is none", lambda p: ("train", "json:loads", p.data), "is not a method"),
    Case("no data named", lambda p: ("train", "bc"), "`countmorl train bc` wants DATA"),
    Case("one argument too many", lambda p: ("data", "info", p.data, "extra"), "extra"),
    Case("option of another command", lambda p: ("data", "list", "--rows", 3), "--rows"),
]

FOLDERS = [
    Case(
        "training into an existing run",
        lambda p: ("train", "bc", p.data, "--out", p.run, *TRAIN),
        "exists already. Go on with it by `countmorl resume",
    ),
    Case(
        "training into a file",
        lambda p: ("train", "bc", p.data, "--out", p.file("out"), *TRAIN),
        "exists already",
    ),
    Case(
        "training below a file",
        lambda p: ("train", "bc", p.data, "--out", p.file("out") / "run", *TRAIN),
        "out",
    ),
    Case("resuming nothing", lambda p: ("resume", "nowhere"), "There is no run folder nowhere"),
    Case("resuming a file", lambda p: ("resume", p.file("run")), "There is no run folder"),
    Case("resuming another folder", lambda p: ("resume", p.path), "it holds no config.json"),
    Case(
        "resuming with a broken config",
        lambda p: ("resume", p.within(p.halted, "config.json", b"{")),
        "config.json is not readable JSON",
    ),
    Case(
        "resuming with an incomplete config",
        lambda p: ("resume", p.config(p.halted, data={"name": "log"})),
        "DataOrigin lacks hash, source, options",
    ),
    Case(
        "resuming without data",
        lambda p: ("resume", p.config(p.halted, data=None)),
        "says nothing of its data",
    ),
    Case(
        "resuming with incomplete options",
        lambda p: ("resume", p.config(p.halted, options={"seed": 0})),
        "RunOptions lacks eval_every",
    ),
    Case(
        "resuming an unknown method",
        lambda p: ("resume", p.config(p.halted, algorithm="bcc")),
        "No method named 'bcc'. Did you mean 'bc'",
    ),
    Case(
        "resuming code that a file names",
        lambda p: ("resume", p.config(p.halted, algorithm="os:system")),
        "no file alone makes code run",
    ),
    Case(
        "training on for fewer epochs",
        lambda p: ("resume", p.run, "--epochs", 2),
        "must be more than the 4 that",
    ),
    Case(
        "resuming with an unknown setting",
        lambda p: ("resume", p.config(p.halted, config={"layers": 3})),
        "has no setting 'layers'",
    ),
    Case(
        "resuming with another version",
        lambda p: ("resume", p.config(p.halted, versions={"countmorl": "9.9"})),
        "made by countmorl 9.9",
    ),
    Case(
        "resuming another format",
        lambda p: ("resume", p.config(p.halted, format=9)),
        "in format 9, this version reads format 2",
    ),
    Case(
        "resuming a damaged checkpoint",
        lambda p: ("resume", p.flipped(p.halted / "checkpoint.safetensors").parent),
        "checkpoint.safetensors is damaged",
    ),
    Case(
        "resuming with shortened metrics",
        lambda p: ("resume", p.within(p.halted, "metrics.jsonl", b"")),
        "shorter than when the checkpoint was saved",
    ),
    Case(
        "resuming with other data",
        lambda p: ("resume", p.halted, "--data", p.spoiled("x.npz", rewards=np.ones(60))),
        "The dataset has changed since",
    ),
    Case(
        "resuming with missing data",
        lambda p: ("resume", p.halted, "--data", "nowhere.npz"),
        "There is no file nowhere.npz",
    ),
    Case("demo into another folder", lambda p: ("demo", "--out", p.run), "is not a demo's folder"),
]

READING = [
    Case("comparing nothing", lambda p: ("compare", "nowhere"), "There is no run folder nowhere"),
    Case(
        "comparing with damaged metrics",
        lambda p: ("compare", p.within(p.run, "metrics.jsonl", b"{oops}\n")),
        "metrics.jsonl is damaged",
    ),
    Case(
        "comparing with metrics that are none",
        lambda p: ("compare", p.within(p.run, "metrics.jsonl", b'{"epoch": 1}\n')),
        "metrics.jsonl, line 1 does not say which stage and epoch it is of",
    ),
    Case(
        "comparing with timings that are none",
        lambda p: ("compare", p.within(p.run, "timing.jsonl", b'{"stage": "a", "epoch": 1}\n')),
        "timing.jsonl, line 1 is not a timing",
    ),
    Case(
        "drawing with metrics that are words",
        lambda p: (
            "figures",
            p.within(p.run, "metrics.jsonl", b'{"stage": "a", "epoch": 1, "q": "high"}\n'),
        ),
        "`q` is 'high', wanted numbers",
    ),
    Case("drawing what was not judged", lambda p: ("figures", p.run), "has nothing to draw"),
    Case(
        "calibration that is damaged",
        lambda p: ("calibration", p.within(p.run, "calibration.json", b'{"rows": 3}')),
        "calibration.json is damaged",
    ),
    Case("calibration of no counts", lambda p: ("calibration", p.run), "has no calibration"),
    Case("counting without counts", lambda p: ("count", p.run, p.data), "holds no counts"),
]

POLICIES = [
    Case("evaluating nothing", lambda p: ("evaluate", "nowhere"), "There is no file nowhere"),
    Case("evaluating another folder", lambda p: ("evaluate", p.path), "no policy.safetensors"),
    Case("evaluating a text", lambda p: ("evaluate", p.file("x")), "not a readable safetensors"),
    Case(
        "evaluating a checkpoint",
        lambda p: ("evaluate", p.run / "checkpoint.safetensors"),
        "is not a policy; it is a checkpoint file",
    ),
    Case(
        "evaluating a damaged policy",
        lambda p: ("evaluate", p.flipped(p.run / "policy.safetensors")),
        "policy.safetensors is damaged",
    ),
    Case("evaluating without a task", lambda p: ("evaluate", p.run), "Name one with --task"),
    Case(
        "evaluating on a task of other sizes",
        lambda p: ("evaluate", p.run, "--task", "hopper"),
        "The policy takes 3 numbers and gives 2, but Hopper-v4 has 11 and 3",
    ),
    Case(
        "evaluating on discrete actions",
        lambda p: ("evaluate", p.run, "--task", "CartPole-v1"),
        "The policy takes 3 numbers and gives 2, but CartPole-v1 has 4 and 2",
    ),
    Case(
        "evaluating no episodes",
        lambda p: ("evaluate", p.run, "--task", "Pendulum-v1", "--episodes", 0),
        "`episodes` must be at least 1, got 0",
    ),
]

WRITING = [
    Case(
        "converting to an unknown ending",
        lambda p: ("data", "convert", p.data, "x.csv"),
        "the ending '.csv'; wanted .hdf5, .h5, .npz",
    ),
    Case(
        "converting onto a file",
        lambda p: ("data", "convert", p.data, p.file("x.npz")),
        "exists already. Delete it first",
    ),
    Case(
        "converting onto itself",
        lambda p: ("data", "convert", p.data, p.path / "good.hdf5"),
        "exists already",
    ),
    Case(
        "converting below a file",
        lambda p: ("data", "convert", p.data, p.file("file") / "x.npz"),
        "file",
    ),
    Case(
        "collecting onto a file",
        lambda p: ("data", "collect", "Pendulum-v1", p.file("x.npz"), "--rows", 5),
        "exists already",
    ),
    Case(
        "collecting no rows",
        lambda p: ("data", "collect", "Pendulum-v1", "x.npz", "--rows", 0),
        "`rows` must be at least 1, got 0",
    ),
    Case(
        "collecting states that are no vectors",
        lambda p: ("data", "collect", "Blackjack-v1", "x.npz", "--rows", 5),
        "'Blackjack-v1' has observations Tuple",
    ),
    Case(
        "collecting in no environment",
        lambda p: ("data", "collect", "Nowhere-v0", "x.npz", "--rows", 5),
        "No task named 'Nowhere-v0'",
    ),
    Case(
        "collecting with a policy of other sizes",
        lambda p: ("data", "collect", "hopper", "x.npz", "--policy", p.run, "--rows", 5),
        "The policy takes 3 numbers",
    ),
    Case(
        "collecting with a seed below 0",
        lambda p: ("data", "collect", "Pendulum-v1", "x.npz", "--rows", 5, "--seed", -1),
        "seed",
    ),
]

CASES = [*FILES, *SHAPES, *NAMES, *SETTINGS, *COMMANDS, *FOLDERS, *READING, *POLICIES, *WRITING]


def parameter(case: Case) -> Any:
    return pytest.param(case, id=case.name)


def snapshot(folder: Path) -> dict[Path, bytes]:
    """Every file with its contents; a lock that a refused command leaves is not counted."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {path: path.read_bytes() for path in files}


@pytest.fixture
def place(tmp_path, log, save, trained, _half_done, monkeypatch):
    return Place(tmp_path, log, save, trained, _half_done, monkeypatch)


@pytest.mark.parametrize("case", [parameter(case) for case in CASES])
def test_bad_input(case, place, run_cli):
    arguments = case.make(place)
    before = snapshot(place.path)
    code, out, err = run_cli(*arguments)
    after = snapshot(place.path)
    assert code == case.code
    message = out if case.code == 1 else err
    assert case.words in " ".join(message.split())
    assert "Traceback" not in out + err
    if case.code == 2:  # One sentence of ours; progress may stand before it.
        assert err.splitlines()[-1].startswith("countmorl: ")
        assert err.count("countmorl: ") == 1
    assert {path: after.get(path) for path in before} == before
    if not case.leaves:
        assert set(after) == set(before)


def test_there_are_many_kinds_and_each_has_its_name():
    names = [case.name for case in CASES]
    assert len(names) >= 30
    assert len(set(names)) == len(names)
