"""Old defects, tried from outside on a tree of countmorl's code: which of them show there.

python lab/defects.py SRC [SRC ...]              tries all on each tree, and prints a table
python lab/defects.py SRC [SRC ...] --only 2 7   tries those whose numbers begin so

Only what both an old and a new version have is used: the command line, `load_policy`, `summarize`,
and files made by hand. Whatever is tried is a child process with a time limit. Linux alone.
"""

import argparse
import contextlib
import functools
import http.server
import json
import os
import resource
import shutil
import signal
import socketserver
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import h5py
import numpy as np

CORPUS = Path(__file__).parents[1] / "tests" / "robustness" / "corpus"
MAIN = "import sys; from countmorl.cli import main; sys.exit(main())"
TINY = ("--updates", "3", "--batch", "8", "--hidden", "8")
PRECIOUS = "precious\n" * 500
NAME, FILE, SIZE, ROWS = "walker2d-medium-replay-v0", "walker_mixed.hdf5", 8_832_937, 100_930
"""A file of D4RL: its names, and what is known of it."""
GIB = 1 << 30
CHECKS, ENDINGS = {}, []


def defect(number, title):
    """A row of the table: the function says what shows, or nothing."""
    return functools.partial(CHECKS.__setitem__, (number, title))


class Ended:
    """How a child process ended."""

    def __init__(self, child, limit):
        """Wait for a child, so many seconds at the most."""
        try:
            self.out, self.err = (
                said.decode(errors="replace") for said in child.communicate(None, limit)
            )
            self.hung = False
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            self.out, self.err = (said.decode(errors="replace") for said in child.communicate())
            self.hung = True
        self.code = child.returncode
        last = (self.err.strip() or self.out.strip()).splitlines()[-1:]
        ENDINGS.append(f"exit code {self.code}, {' '.join(last)!r}")

    @property
    def bad(self):
        """What no file and no disk should bring about; nothing where it ended well."""
        if self.hung:
            return "never ends"
        if self.code < 0:
            return f"crashes ({signal.Signals(-self.code).name})"
        if "Traceback (most recent call last)" in self.err:
            return f"traceback, {self.err.strip().splitlines()[-1].split(':')[0]}"
        return ""


class Place:
    """A folder for one check, and the tree that it tries."""

    def __init__(self, src, folder, shared):
        """The shared folder keeps what was trained once."""
        self.src, self.path, self.shared = src, folder, shared

    def start(self, *words, code=MAIN, env=None, before=None):
        """Begin a command of countmorl's, or some code, in a process of its own."""
        rest = {k: v for k, v in os.environ.items() if not k.startswith(("HDF5_", "COUNTMORL_"))}
        env = {
            **rest,
            "PYTHONPATH": str(self.src),
            "COUNTMORL_D4RL_MIRROR": "http://127.0.0.1:9",
            "D4RL_DATASET_DIR": str(self.path / "d4rl"),
            "MINARI_DATASETS_PATH": str(self.path / "minari"),
            "NPROC": "1",
            "COLUMNS": "200",
            "NO_COLOR": "1",
            **(env or {}),
        }
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, words)],
            cwd=self.path,
            env=env,
            preexec_fn=before,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *words, limit=90, **rest):
        """The same, until it ends."""
        return Ended(self.start(*words, **rest), limit)

    def train(self, name, *words, log=None, **rest):
        """A training of two epochs, made once and copied."""
        whole = self.shared / name
        if not whole.exists():
            data = write_npz(self.shared / f"{name}.npz", log or make_log())
            begun(
                self.run("train", "bc", data, "--epochs", 2, *TINY, *words, "--out", whole, **rest)
            )
        return Path(shutil.copytree(whole, self.path / name))

    def longer(self, run, *words, **rest):
        """Train a copied run on."""
        return self.run("resume", run, "--epochs", 4, *words, **rest)


def make_log(rows=60, actions=2, discrete=False):
    """A small clean log."""
    rng = np.random.default_rng(0)
    ends = np.arange(rows) % 20 == 19
    fall = ends & (np.arange(rows) // 20 % 2 == 0)
    states = rng.standard_normal((rows + 1, 3)).astype(np.float32)
    vectors = rng.uniform(-0.9, 0.9, (rows, actions)).astype(np.float32)
    return {
        "observations": states[:-1],
        "actions": np.arange(rows) % 3 if discrete else vectors,
        "rewards": rng.standard_normal(rows).astype(np.float32),
        "next_observations": states[1:],
        "terminals": fall,
        "timeouts": ends & ~fall,
    }


def write_npz(path, arrays):
    """Arrays as numpy saves them."""
    np.savez(path, **arrays)
    return path


def write_hdf5(path, arrays, **attributes):
    """Arrays as h5py saves them."""
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file.create_dataset(name, data=values)
        file.attrs.update(attributes)
    return path


def listed(found):
    """Several findings in one cell, alike ones counted."""
    found = [each for each in found if each]
    return "; ".join(
        f"{each} ({found.count(each)} times)" if found.count(each) > 1 else each
        for each in dict.fromkeys(found)
    )


def said(ended):
    """What a piece of code printed as its finding; a crash is one too."""
    return ended.bad or (ended.out.splitlines() or [""])[-1]


def begun(ended):
    """What a check stands on must have worked."""
    if ended.code:
        raise RuntimeError(ended.err[-2000:])


# 1: a foreign run folder destroys files.


@defect("1a", "`.lock` of a run is a link: `resume` empties what it leads to")
def lock_is_a_link(place):
    """The lock was opened with "w"."""
    return through_link(place, ".lock", PRECIOUS)


@defect("1b", "`metrics.jsonl` of a run is a link: `resume` cuts what it leads to")
def metrics_are_a_link(place):
    """Metrics beyond the checkpoint were cut off."""
    lines = [json.dumps({"stage": "policy", "epoch": 3 + n, "loss": 0.5}) for n in range(50)]
    own = (place.train("run") / "metrics.jsonl").read_text()
    shutil.rmtree(place.path / "run")
    return through_link(place, "metrics.jsonl", own + "\n".join(lines) + "\n")


def through_link(place, name, text):
    """Resume a run of which one file leads to a file of the user's."""
    run, victim = place.train("run"), place.path / "victim"
    victim.write_text(text)
    (run / name).unlink()
    (run / name).symlink_to(victim)
    place.longer(run)
    now = victim.read_bytes()
    return "" if now == text.encode() else f"{len(text):,} bytes became {len(now):,}"


# 2: one byte hangs or crashes HDF5.


@defect("2a", "HDF5 with a damaged byte: a segmentation fault")
def hdf5_crashes(place):
    """Chunks of no bytes, and a text in the file's heap."""
    files = [*(CORPUS / "hdf5").iterdir(), *(CORPUS / "hdf5-d3rlpy").iterdir()]
    files.append(CORPUS / "hdf5-texts" / "1237c2001d55")
    return listed(info_of(place, file, "hdf5").bad for file in sorted(files))


@defect("2b", "HDF5 with a damaged byte: a reading that never ends")
def hdf5_hangs(place):
    """Text of any length, in a heap that leads to itself."""
    return info_of(place, CORPUS / "hdf5-texts" / "88ea989d917f", "hdf5").bad


def info_of(place, file, ending, **rest):
    """What `data info` says of a file under another name."""
    path = Path(shutil.copy(file, place.path / f"log.{ending}"))
    return place.run("data", "info", path, **rest)


# 3: NaN reaches the actuator.


@defect("3a", "`Policy.act` answers NaN, None and infinity with NaN")
def nan_acts(place):
    """A network of vectors of numbers."""
    return said(place.run(place.train("run"), code=ASKED))


@defect("3b", "a discrete policy answers NaN, None and infinity with an action")
def nan_chooses(place):
    """A network that chooses among actions."""
    return said(place.run(place.train("discrete", log=make_log(discrete=True)), code=ASKED))


ASKED = """
import sys, countmorl, numpy as np
policy, found = countmorl.load_policy(sys.argv[1]), []
for odd in (np.nan, None, np.inf):
    try:
        found.append(f"{odd}: {policy.act([0.0, odd, 0.0])}")
    except countmorl.CountMorlError:
        pass
print("; ".join(found))
"""


# 4: two trainings with one --out.


@defect("4a", "two `train --out X` at once: the run of one is gone")
def two_trainings(place):
    """Four times at the most, both let go at one moment; what is left must be one whole run."""
    log, found = write_npz(place.path / "log.npz", make_log()), ""
    for number in range(4):
        out, go = place.path / f"out{number}", place.path / f"go{number}"
        words = ("train", "bc", log, "--epochs", 2, *TINY, "--out", out)
        both = [place.start(go, *words, code=TOGETHER) for _ in range(2)]
        wait_for(lambda go=go: len(list(go.parent.glob(f"{go.name}-*"))) == 2, both[0])
        go.touch()
        codes = [Ended(child, 120).code for child in both]
        if not (out / "policy.safetensors").exists() or codes.count(0) != 1:
            left = "a folder" if out.exists() else "no folder"
            found = f"in trial {number + 1} {codes.count(0)} ended well, and {left} is left"
            break
    return found


TOGETHER = """
import os, sys, time
from countmorl.cli import main, train
import countmorl.training.train
go = sys.argv.pop(1)
open(f"{go}-{os.getpid()}", "w").close()
while not os.path.exists(go):
    time.sleep(0.0001)
sys.exit(main())
"""


@defect("4b", "a folder of the user's with `notes.tmp` is removed by a training that fails")
def folder_of_notes(place):
    """The training diverges in its first epoch."""
    out = place.path / "out"
    out.mkdir()
    (out / "notes.tmp").write_text(PRECIOUS)
    log = write_npz(place.path / "log.npz", make_log())
    words = ("--updates", 30, "--batch", 8, "--hidden", 8, "--learning-rate", 1e30)
    place.run("train", "bc", log, "--epochs", 1, *words, "--out", out)
    return "" if (out / "notes.tmp").exists() else "the file is gone"


# 5: a disk that is full or refuses.


@defect("5a", "no file may grow beyond 2,000 bytes (`ulimit -f`): `train`")
def files_too_large(place):
    """What the system says is EFBIG."""
    log = write_npz(place.path / "log.npz", make_log())
    small = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (2_000, 2_000))
    out = place.path / "out"
    return place.run("train", "bc", log, "--epochs", 2, *TINY, "--out", out, before=small).bad


@defect("5b", "the folder of a run is deleted while it trains")
def folder_deleted(place):
    """As soon as the first epoch is written down."""
    log, out = write_npz(place.path / "log.npz", make_log()), place.path / "out"
    child = place.start("train", "bc", log, "--epochs", 2_000, *TINY, "--out", out)
    wait_for(lambda: (out / "metrics.jsonl").exists(), child)
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(out, ignore_errors=True)
    return Ended(child, 90).bad


@defect("5c", "the lock of a run cannot be written")
def lock_is_a_folder(place):
    """A folder is in its place."""
    run = place.train("run")
    (run / ".lock").unlink()
    (run / ".lock").mkdir()
    return place.longer(run).bad


@defect("5d", "a torn last line of `timing.jsonl`: what reads the resumed run")
def torn_timing(place):
    """As a process leaves it that was killed."""
    run = place.train("run")
    with open(run / "timing.jsonl", "a") as file:
        file.write('{"stage": "policy", "ep')
    place.longer(run)
    ended = place.run("compare", run)
    return ended.bad or ("" if ended.code == 0 else "the run is called damaged")


# 6: "bit for bit" is promised and not enforced.


@defect("6a", "a seed changed by hand in `config.json`: resumed without a word")
def changed_seed(place):
    """The run's own numbers would be others."""
    run = place.train("run")
    config = json.loads((run / "config.json").read_text())
    config["options"]["seed"] = 7
    (run / "config.json").write_text(json.dumps(config))
    return resumed_in_silence(place, run)


@defect("6b", "another number of threads: resumed without a word")
def other_threads(place):
    """It began with one."""
    return resumed_in_silence(place, place.train("run"), env={"NPROC": "2"})


@defect("6c", "another set of instructions: resumed without a word")
def other_instructions(place):
    """As on an older machine."""
    return resumed_in_silence(place, place.train("run"), env={"XLA_FLAGS": "--xla_cpu_max_isa=AVX"})


def resumed_in_silence(place, run, **rest):
    """Whether a run goes on where it may not."""
    return "exit code 0" if place.longer(run, **rest).code == 0 else ""


# 7: downloads.


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """One file on 127.0.0.1, by pieces, with ranges or without an end."""

    daemon_threads = True

    def __init__(self, body, pause=0.0, endless=False):
        """Serve a file, with a pause after each of its pieces."""
        super().__init__(("127.0.0.1", 0), Answer)
        self.body, self.pause, self.endless, self.sent = body, pause, endless, 0

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """Whoever was sent too much has hung up."""


class Answer(http.server.BaseHTTPRequestHandler):
    """To one question."""

    def do_GET(self):
        """The file, or what is left of it."""
        asked = self.headers.get("Range", "bytes=0-")
        first = int(asked.removeprefix("bytes=").removesuffix("-"))
        body = self.server.body
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        if not self.server.endless:
            self.send_header("Content-Length", str(len(body) - first))
        self.end_headers()
        for at in range(first, len(body), 1 << 18):
            self.wfile.write(body[at : at + (1 << 18)])
            self.server.sent += 1 << 18
            time.sleep(self.server.pause)

    def log_message(self, *_):
        """Say nothing."""


def altered(place):
    """A file that has the shape and size of D4RL's own, and other numbers in it."""
    path = place.path / "made.hdf5"
    with h5py.File(path, "w") as file:
        for name, columns in (("observations", 17), ("actions", 6)):
            file.create_dataset(name, data=np.zeros((ROWS, columns), np.float32), compression=1)
        file["rewards"], file["terminals"] = np.ones(ROWS, np.float32), np.zeros(ROWS, bool)
        file["observations"].attrs["noise"] = 0
    raw = path.read_bytes()
    rest = np.random.default_rng(0).bytes(SIZE - len(raw))
    return raw + rest


def downloading(place, mirror):
    """Begin a download, and the place where its file is published."""
    return place.start("data", "download", NAME, env={"COUNTMORL_D4RL_MIRROR": mirror})


@defect("7a", "download: a file of the right size with other rewards is accepted")
def altered_rewards(place):
    """Whoever sits between can change what is learned."""
    with Server(altered(place)) as mirror:
        Ended(downloading(place, mirror), 90)
    return "published" if (place.path / "d4rl" / FILE).exists() else ""


@defect("7b", "download: a damaged part file is completed and accepted")
def damaged_part(place):
    """Bytes in the middle of what was there before are others."""
    body, folder = altered(place), place.path / "d4rl"
    folder.mkdir()
    half = bytearray(body[: SIZE // 2])
    half[SIZE // 4 : SIZE // 4 + 1000] = b"x" * 1000
    (folder / f"{FILE}.part").write_bytes(half)
    with Server(body) as mirror:
        Ended(downloading(place, mirror), 90)
    return published_wrong(place, body)


@defect("7c", "download: two at once publish a file that nobody sent")
def two_downloads(place):
    """The second begins while the first is on its way."""
    body = altered(place)
    part = place.path / "d4rl" / f"{FILE}.part"
    with Server(body, pause=0.05) as mirror:
        first = downloading(place, mirror)
        wait_for(lambda: part.exists() and part.stat().st_size > SIZE // 4, first)
        both = [first, downloading(place, mirror)]
        for child in both:
            Ended(child, 90)
    return published_wrong(place, body)


def published_wrong(place, body):
    """Whether a file got its name that is not the server's."""
    path = place.path / "d4rl" / FILE
    if not path.exists() or path.read_bytes() == body:
        return ""
    return f"published with {path.stat().st_size:,} bytes; the server's has {len(body):,}"


@defect("7d", "download: 8.8 MB are known, a server sends 100 without an end")
def endless_download(place):
    """Without a cap it fills the disk."""
    server = Server(bytes(100_000_000), endless=True)
    with server as mirror:
        Ended(downloading(place, mirror), 90)
    return f"{server.sent / 1e6:.0f} MB were taken" if server.sent > 3 * SIZE else ""


@defect("7e", "download: a mirror may be `file://`")
def mirror_on_the_disk(place):
    """Any file of this machine, then."""
    (place.path / "gym_mujoco").mkdir()
    (place.path / "gym_mujoco" / FILE).write_bytes(altered(place))
    Ended(downloading(place, place.path.as_uri()), 90)
    return "published" if (place.path / "d4rl" / FILE).exists() else ""


# 8: memory bombs.


def four_gib():
    """What would take the machine's memory is refused at 4 GiB, as by `ulimit -v`."""
    resource.setrlimit(resource.RLIMIT_AS, (4 * GIB, 4 * GIB))


@defect("8a", "HDF5 of some kB that asks for more than the machine's memory, under 4 GiB")
def hdf5_bomb(place):
    """Chunks that were never written: at 4 bytes a number it fits, at 8 it does not."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    path = write_hdf5(
        place.path / "bomb.hdf5", {"actions": np.zeros((9, 1)), "rewards": np.zeros(9)}
    )
    with h5py.File(path, "a") as file:
        file.create_dataset("terminals", data=np.zeros(9, bool))
        shape, chunks = (memory // 6, 1), (1_000_000, 1)
        file.create_dataset("observations", shape, np.float64, chunks=chunks, compression=1)
    return place.run("data", "info", path, before=four_gib).bad


@defect("8b", "NPZ of 1 MB that unpacks to 1 GB of bytes, 4 GB as numbers, under 4 GiB")
def npz_bomb(place):
    """The old guard counted what lies in the file."""
    rows, width = 1_000, 1_000_000
    path = write_npz(
        place.path / "bomb.npz", {"actions": np.zeros((rows, 1)), "rewards": np.zeros(rows)}
    )
    head = {"descr": "|u1", "fortran_order": False, "shape": (rows, width)}
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("observations.npy", "w") as member:
            np.lib.format.write_array_header_1_0(member, head)
            for _ in range(rows):
                member.write(bytes(width))
        archive.writestr("terminals.npy", npy_bytes(np.zeros(rows, bool)))
    return place.run("data", "info", path, before=four_gib).bad


def npy_bytes(array):
    """An array as a member of an NPZ file."""
    with tempfile.TemporaryFile() as file:
        np.save(file, array)
        file.seek(0)
        return file.read()


# 9: damaged Minari files, JSON of runs, forged digests.


@defect("9a", "damaged Minari files")
def minari(place):
    """Whole files of the corpus: arrays, then the description."""
    found = []
    for kind, name in (("minari", "main_data.hdf5"), ("minari-about", "metadata.json")):
        for file in sorted((CORPUS / kind).iterdir()):
            data = place.path / "minari" / "test" / "toy-v0" / "data"
            shutil.rmtree(data, ignore_errors=True)
            make_minari(data)
            shutil.copy(file, data / name)
            found.append(place.run("data", "info", "minari:test/toy-v0", limit=45).bad)
    return listed(found)


def make_minari(data):
    """A local Minari dataset of three episodes."""
    rng, steps, found = np.random.default_rng(0), 5, {}
    for number in range(3):
        found |= {
            f"episode_{number}/observations/a": rng.standard_normal((steps + 1, 2)),
            f"episode_{number}/observations/b": rng.standard_normal(steps + 1),
            f"episode_{number}/actions": rng.uniform(-1, 1, (steps, 1)),
            f"episode_{number}/rewards": rng.standard_normal(steps),
            f"episode_{number}/terminations": np.arange(steps) == steps - 1,
            f"episode_{number}/truncations": np.zeros(steps, bool),
        }
    box = {"type": "Box", "dtype": "float64"}
    seen = {
        "a": box | {"shape": [2], "low": [-9.0, -9.0], "high": [9.0, 9.0]},
        "b": box | {"shape": [], "low": -9.0, "high": 9.0},
    }
    about = {
        "total_episodes": 3,
        "total_steps": 3 * steps,
        "data_format": "hdf5",
        "dataset_id": "test/toy-v0",
        "minari_version": "0.5.3",
        "observation_space": json.dumps({"type": "Dict", "subspaces": seen}),
        "action_space": json.dumps(box | {"shape": [1], "low": [-1.0], "high": [1.0]}),
    }
    data.mkdir(parents=True)
    (data / "metadata.json").write_text(json.dumps(about))
    write_hdf5(data / "main_data.hdf5", found, id=0)


@defect("9b", "damaged JSON of a run: config, metrics, timing, calibration")
def json_of_runs(place):
    """By hand, and from the corpus."""
    odd = place.path / "odd"
    for name in ("config", "metrics", "timing", "calibration"):
        (odd / name).mkdir(parents=True)
        for file in (CORPUS / name).iterdir():
            shutil.copy(file, odd / name)
        for number, text in enumerate(ODD):
            (odd / name / str(number)).write_text(text)
    return said(place.run(place.train("run"), odd, code=DAMAGED))


ODD = (
    *("[]\n", "7\n", "null\n", '"words"\n', "{}\n", "[" * 100_000, '{"a":' * 50_000 + "\n"),
    '{"stage": "policy", "epoch": ' + "9" * 5_000 + ', "loss": 0.5, "seconds": 1}\n',
    '{"stage": "policy", "epoch": 1, "loss": ' + "9" * 400 + ', "seconds": ' + "9" * 400 + "}\n",
    '{"stage": ["policy"], "epoch": 1, "loss": {}, "seconds": "one"}\n',
    '{"epoch": 1}\n',
    '{"format": 2, "versions": 3, "algorithm": ["bc"]}\n',
)
DAMAGED = """
import pathlib, sys, countmorl
run, odd = map(pathlib.Path, sys.argv[1:])
found, tried = [], 0
for file in sorted(odd.glob("*/*")):
    name = file.parent.name
    name += ".jsonl" if name in ("metrics", "timing") else ".json"
    before = (run / name).read_bytes() if (run / name).exists() else None
    (run / name).write_bytes(file.read_bytes())
    try:
        tried += 1
        opened = countmorl.Run.open(run)
        countmorl.summarize(opened)
        opened.records(), opened.timings(), opened.manifest
        if name == "calibration.json":
            opened.calibration()
    except countmorl.CountMorlError:
        pass
    except Exception as error:
        found.append(type(error).__name__)
    (run / name).unlink() if before is None else (run / name).write_bytes(before)
kinds = ", ".join(sorted(set(found)))
print(f"{len(found)} of {tried} trace back ({kinds})" if found else "")
"""


@defect("9c", "policies with forged digests: neither refused nor finite")
def forged_policies(place):
    """Those of the corpus."""
    files = [*(CORPUS / "policy").iterdir(), *(CORPUS / "tabular-policy").iterdir()]
    for file in files:
        shutil.copy(file, place.path / f"{file.name}.safetensors")
    return said(place.run(place.path, code=FORGED))


FORGED = """
import pathlib, sys, warnings, countmorl, numpy as np
warnings.simplefilter("ignore")
found, files = [], sorted(pathlib.Path(sys.argv[1]).glob("*.safetensors"))
for file in files:
    try:
        policy = countmorl.load_policy(file)
        for rng in (None, np.random.default_rng(0)):
            actions = np.asarray(policy.act(np.ones((2, policy.obs_dim), np.float32), rng=rng))
            if not np.isfinite(actions).all():
                raise ValueError("an action that is not finite")
    except countmorl.CountMorlError:
        pass
    except Exception as error:
        found.append(type(error).__name__)
print(f"{len(found)} of {len(files)} ({', '.join(sorted(set(found)))})" if found else "")
"""


# 10: signals.


def hears_sigterm(child):
    """Whether a process has a handler for it: an epoch is under way."""
    lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
    caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def wait_for(true, child, limit=90.0):
    """Until something is true, the child has ended, or the time is over."""
    until = time.monotonic() + limit
    while time.monotonic() < until and child.poll() is None:
        with contextlib.suppress(OSError):
            if true():
                return
        time.sleep(0.005)


@defect("10a", "SIGTERM in the last epoch of a stage is swallowed")
def last_epoch(place):
    """The first stage, a clone, has one epoch; three of the second follow."""
    log, out = write_npz(place.path / "log.npz", make_log()), place.path / "out"
    words = ("--epochs", 3, "--clone-epochs", 1, *TINY[:4], "--sac.hidden", 8)
    child = place.start("train", "cql", log, *words, "--out", out)
    wait_for(lambda: hears_sigterm(child), child)
    child.send_signal(signal.SIGTERM)
    ended = Ended(child, 120)
    return "trains to its end" if ended.code == 0 else ended.bad.replace("never ends", "")


@defect("10b", "a second Ctrl-C: the process lives on")
def second_signal(place):
    """In an epoch of very many updates; 20 seconds after the second it must be gone."""
    log, out = write_npz(place.path / "log.npz", make_log()), place.path / "out"
    words = ("--epochs", 1, "--updates", 1_000_000, "--batch", 256, "--hidden", 256)
    child = place.start("train", "bc", log, *words, "--out", out)
    wait_for(lambda: hears_sigterm(child), child)
    time.sleep(12)  # It compiles first.
    for _ in range(2):
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
        time.sleep(1)
    return "still there after 20 seconds" if Ended(child, 20).hung else ""


# 11: ordinary files.


def renamed(**names):
    """The small log with other names of arrays; those that are not named are left out."""
    return {new: make_log()[old] for new, old in names.items()}


OWN = {"obs": "observations", "action": "actions", "reward": "rewards"}


@defect("11a", "`obs` with `terminals` and a known task")
def obs_and_terminals(place):
    """A task's time limit was looked for in `observations`."""
    arrays = renamed(**OWN, terminals="terminals")
    return place.run(
        "data", "info", write_hdf5(place.path / "log.hdf5", arrays, env_id="Pendulum-v1")
    ).bad


@defect("11b", "`truncated` with `terminals` is called both truncated and timeouts")
def truncated_and_terminals(place):
    """In a file whose task has a time limit."""
    arrays = renamed(observations="observations", actions="actions", rewards="rewards")
    arrays |= renamed(terminals="terminals", truncated="timeouts")
    ended = place.run(
        "data", "info", write_hdf5(place.path / "log.hdf5", arrays, env_id="Pendulum-v1")
    )
    return ended.bad or ("refused, as if both were there" if "both" in ended.err else "")


@defect("11c", "`env_id` in bytes")
def env_id_in_bytes(place):
    """As other writers store text."""
    path = write_hdf5(place.path / "log.hdf5", make_log(), env_id=np.bytes_("Pendulum-v1"))
    ended = place.run("data", "info", path)
    return ended.bad or ("`b'Pendulum-v1'`" if "b'Pendulum" in ended.out + ended.err else "")


@defect("11d", "whole numbers of 24 bits, and times, in HDF5")
def odd_types(place):
    """Types that NumPy does not have."""
    whole = h5py.h5t.STD_I32LE.copy()
    whole.set_size(3)
    found = []
    for kind in (whole, h5py.h5t.UNIX_D32LE):
        path, arrays = place.path / "log.hdf5", make_log()
        rewards = arrays.pop("rewards")
        write_hdf5(path, arrays)
        with h5py.File(path, "a") as file:
            space = h5py.h5s.create_simple(rewards.shape)
            h5py.h5d.create(file.id, b"rewards", kind, space)
        found.append(place.run("data", "info", path).bad)
    return listed(found)


@defect("11e", "a pipe where a file was wanted")
def pipe(place):
    """Nobody writes to it."""
    found = []
    for ending in ("npz", "hdf5"):
        os.mkfifo(place.path / f"log.{ending}")
        found.append(place.run("data", "info", place.path / f"log.{ending}", limit=20).bad)
    return listed(found)


@defect("11f", "NPZ: damaged LZMA, members that are no arrays, damaged headers")
def odd_npz(place):
    """And the corpus."""
    arrays = {f"{name}.npy": npy_bytes(values) for name, values in make_log().items()}
    packed = place.path / "packed.npz"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        for name, raw in arrays.items():
            archive.writestr(name, raw)
    raw = bytearray(packed.read_bytes())
    raw[60:120] = bytes(60)
    packed.write_bytes(raw)
    plain = place.path / "plain.npz"
    with zipfile.ZipFile(plain, "w") as archive:
        for name, raw in arrays.items():
            archive.writestr(name, raw)
        archive.writestr("episode_ends", b"no array")
    files = [packed, plain, *(CORPUS / "npz").iterdir(), *(CORPUS / "npz-packed").iterdir()]
    return listed(info_of(place, file, "npz").bad for file in files)


@defect("11g", "`~nobody-here`, and paths that are too long")
def odd_paths(place):
    """Neither is there."""
    paths = ("~nobody-here/log.npz", "long/" * 2_000 + "log.npz")
    return listed(place.run("data", "info", path).bad for path in paths)


@defect("11h", "a huge `--batch`")
def huge_batch(place):
    """More than any memory holds."""
    log = write_npz(place.path / "log.npz", make_log())
    return place.run("train", "bc", log, "--epochs", 1, "--batch", 10**12, before=four_gib_more).bad


def four_gib_more():
    """Room for XLA itself, and no more."""
    resource.setrlimit(resource.RLIMIT_AS, (16 * GIB, 16 * GIB))


@defect("11i", "`$` in a name, drawn by `figures` and `report`")
def dollars(place):
    """Matplotlib takes it for a formula."""
    log, run = write_npz(place.path / r"$\no$.npz", make_log(actions=1)), place.path / r"run$\no$"
    played = ("--task", "Pendulum-v1", "--eval-every", 1, "--eval-episodes", 1)
    begun(place.run("train", "bc", log, "--epochs", 2, *TINY, *played, "--out", run))
    drawn = place.run("report", run, "--figures", place.path / "drawn")
    return listed([place.run("figures", run).bad, drawn.bad])


@defect("11j", "`$` in a name, drawn by `study audit`")
def dollars_audited(place):
    """A tiny run of MOPO, put to the simulator."""
    log, run = write_npz(place.path / "log.npz", make_log(300, actions=1)), place.path / r"run$\no$"
    model = (
        "members",
        3,
        "elites",
        2,
        "width",
        8,
        "holdout",
        40,
        "max-epochs",
        2,
        "least-steps",
        1,
    )
    sizes = [f"--model.{word}" if isinstance(word, str) else word for word in model]
    words = ("--termination", "never", "--eval-every", 0, "--sac.hidden", 8)
    begun(place.run("train", "mopo", log, "--epochs", 1, *TINY[:4], *words, *sizes, "--out", run))
    tried = ("--horizon", 2, "--starts", 3, "--clone-updates", 3, "--task", "Pendulum-v1")
    return place.run("study", "audit", run, *tried, "--out", "drawn.png").bad


# 12: files, terminals, loggers, plugins, speed.


@defect("12a", "files are for everybody under umask 077")
def umask(place):
    """What the user keeps to himself."""
    log, out = write_npz(place.path / "log.npz", make_log()), place.path / "out.npz"
    place.run("data", "convert", log, out, before=functools.partial(os.umask, 0o077))
    mode = out.stat().st_mode & 0o777
    return f"0{mode:o}" if mode & 0o077 else ""


@defect("12b", "a temporary name can be foreseen, and a link there is followed")
def foreseen_name(place):
    """Somebody else has put it into a shared folder."""
    log, victim = write_npz(place.path / "log.npz", make_log()), place.path / "victim"
    victim.write_text(PRECIOUS)
    code = f"import os; os.symlink('victim', f'.out.npz.{{os.getpid()}}.tmp')\n{MAIN}"
    place.run("data", "convert", log, "out.npz", code=code)
    return "" if victim.read_bytes() == PRECIOUS.encode() else "the user's file is overwritten"


@defect("12c", "a folder is not synced after a rename")
def unsynced_folder(place):
    """Calls of `os.fsync` are watched."""
    log = write_npz(place.path / "log.npz", make_log())
    watch = (
        "import os, stat, sys\n"
        "from countmorl.cli import main\n"
        "sync, seen = os.fsync, []\n"
        "def watched(file):\n"
        "    seen.append(stat.S_ISDIR(os.fstat(file).st_mode))\n"
        "    return sync(file)\n"
        "os.fsync = watched\n"
        "main(sys.argv[1:])\n"
        "print('' if any(seen) else 'no folder among what is synced')\n"
    )
    return said(place.run("data", "convert", log, "out.npz", code=watch))


@defect("12d", "terminal escapes in the names of a file's arrays are printed raw")
def escapes(place):
    """They clear the screen."""
    arrays = make_log() | {"odd\x1b[2J": np.zeros(60)}
    ended = place.run("data", "info", write_hdf5(place.path / "log.hdf5", arrays))
    return "an escape is printed" if "\x1b" in ended.out + ended.err else ended.bad


@defect("12e", "a foreign config switches on a network logger")
def network_logger(place):
    """A stand-in for the package says whether it was begun."""
    (place.path / "more").mkdir()
    (place.path / "more" / "wandb.py").write_text(WANDB)
    env = {
        "PYTHONPATH": f"{place.src}:{place.path / 'more'}",
        "WANDB_SAYS": str(place.path / "begun"),
    }
    log, run = write_npz(place.path / "log.npz", make_log()), place.path / "run"
    place.run("train", "bc", log, "--epochs", 2, *TINY, "--log", "wandb", "--out", run, env=env)
    (place.path / "begun").unlink()  # A FileNotFoundError here: the training itself did not log.
    place.longer(run, env=env)
    return "`resume` begins it" if (place.path / "begun").exists() else ""


WANDB = """
import os

class Run:
    def log(self, *_, **__): pass
    def finish(self): pass

def init(**_):
    open(os.environ["WANDB_SAYS"], "w").close()
    return Run()
"""


@defect("12f", "HDF5 loads plugins from a folder that the environment names")
def plugins(place):
    """A library under the name of a plugin; the dynamic linker says what it loads."""
    folder = place.path / "plugins"
    folder.mkdir()
    library = next(Path(sysconfig.get_config_var("DESTSHARED")).glob("*.so"))
    shutil.copy(library, folder / "libplugin.so")
    path, arrays = place.path / "log.hdf5", make_log()
    rewards = arrays.pop("rewards")
    write_hdf5(path, arrays)
    with h5py.File(path, "a") as file:
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        made.set_chunk(rewards.shape)
        made.set_filter(32_001, h5py.h5z.FLAG_OPTIONAL, ())
        space = h5py.h5s.create_simple(rewards.shape)
        stored = h5py.h5d.create(file.id, b"rewards", h5py.h5t.IEEE_F32LE, space, made)
        stored.write_direct_chunk((0,), rewards.tobytes(), 0)
    env = {"HDF5_PLUGIN_PATH": str(folder), "LD_DEBUG": "files"}
    return (
        "the library is loaded"
        if "libplugin.so" in place.run("data", "info", path, env=env).err
        else ""
    )


@defect("12g", "`data check` is quadratic in columns: 20,000 of them")
def many_columns(place):
    """A tenth are codes for missing values; 15 seconds of a processor are too many."""
    arrays, rng = make_log(), np.random.default_rng(0)
    values = rng.standard_normal((61, 20_000)).astype(np.float32)
    values[rng.random(values.shape) < 0.1] = -999
    arrays |= {"observations": values[:-1], "next_observations": values[1:]}
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    ended = place.run("data", "check", write_npz(place.path / "log.npz", arrays), limit=120)
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return f"{'more than ' * ended.hung}{took:.0f} s" if took > 15 else ended.bad


@defect("12h", "`Policy.act` on 300,000 rows takes a GB more (a million: 2.9)")
def many_rows(place):
    """Hidden layers of 256 units; more than 300 MB are too many."""
    run = place.train("wide", "--hidden", 256)
    return said(place.run(run, code=WIDE))


WIDE = """
import resource, sys, countmorl, numpy as np
policy, rows = countmorl.load_policy(sys.argv[1]), np.zeros((300_000, 3), np.float32)
policy.act(rows[:100])
most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
before = most()
policy.act(rows)
print(f"{most() - before:.1f} GB" if most() - before > 0.3 else "")
"""


def tried(check, src, shared):
    """One check on one tree, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="countmorl-defects-") as folder:
        return check(Place(src, Path(folder), shared))


def main():
    """Try every check on every tree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--only", nargs="+", default=[""])
    asked = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory(prefix="countmorl-defects-") as folder:
        for number, src in enumerate(asked.trees):
            shared = Path(folder) / str(number)
            shared.mkdir()
            for (label, title), check in CHECKS.items():
                if label.startswith(tuple(asked.only)):
                    cell = tried(check, src.resolve(), shared) or "-"
                    found.setdefault((label, title), []).append(cell)
                    print(f"{src}, {label}: {cell}", file=sys.stderr)
                    print(f"  at last: {ENDINGS[-1]}", file=sys.stderr, flush=True)
    print(f"| | what is tried | {' | '.join(map(str, asked.trees))} |")
    print(f"|---|---|{'---|' * len(asked.trees)}")
    for (label, title), cells in found.items():
        print(f"| {label} | {title} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
