"""The blocks of README and docs work as they stand, one after the other in one folder per page.

Python blocks are executed; one whose first line names a file (```python mine.py) is written there,
and so is a block of TOML. Text whose first line names a file shows how that file begins. In shell
blocks every line calls `countmorl` and is run through the command line. A block that says
`no-test: why` is passed over: one that downloads, or trains for hours. Its commands must parse.
"""

import functools
import importlib
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from unittest import mock

import pytest
import tyro

import insulin
from countmorl.algorithms import ALGORITHMS
from countmorl.cli import main
from countmorl.cli.train import OTHERS
from countmorl.counting import COUNTERS
from countmorl.data.readers import READERS
from countmorl.runs.records import Timing, table
from raw_logs import write

ROOT = Path(__file__).parent.parent
DOCS = sorted(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))
GUIDES = ["README.md", "CONTRIBUTING.md", *DOCS]
NOTES = sorted(f"lab/{path.name}" for path in ROOT.glob("lab/*.md"))
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
SHELLS = ("bash", "sh", "shell", "console")
TABLES = (ALGORITHMS, COUNTERS, READERS)
"""A page may add rows of its own to these."""
FILLED: dict[str, Callable[[Path], None]] = {
    "docs/your-log.md": write,
    "docs/insulin.md": insulin.write,
}
"""Pages whose folder holds something at first."""
HERE = "PYTHONPATH=. "
WIDTH = 120


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    body: str
    file: str = ""
    """Where it is to be written, instead of run."""
    why_not: str = ""
    """Why it is not run."""


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str) -> list[Block]:
    """Every block, with what its first line says."""
    found = []
    for words, body in FENCE.findall(text):
        language, _, more = words.strip().partition(" ")
        why_not = ""
        if more.startswith("no-test"):
            mark, _, why_not = more.partition(":")
            assert mark == "no-test", f"```{words}: a reason follows `no-test:`."
            assert why_not.strip(), f"```{words}: say why it is not run, after `no-test:`."
        found.append(Block(language, body, "" if why_not else more, why_not.strip()))
    return found


def lines(body: str) -> list[str]:
    """The lines of a shell block that do something, with continued lines joined."""
    joined = [line.strip().removeprefix("$ ") for line in body.replace("\\\n", " ").splitlines()]
    return [line for line in joined if line and not line.startswith("#")]


def words_of(line: str) -> list[str] | None:
    """What follows `countmorl` in a line; nothing where the line calls something else."""
    call = line.removeprefix(HERE)
    return shlex.split(call, comments=True)[1:] if call.startswith("countmorl ") else None


def run(block: Block, names: dict) -> None:
    if block.language == "text":
        begins = Path(block.file).read_text(encoding="utf-8")[: len(block.body)]
        assert begins == block.body, f"{block.file} does not begin as the page says."
    elif block.file:
        Path(block.file).write_text(block.body, encoding="utf-8")
    elif block.language == "python":
        with this_folder_on_path():  # As in an interpreter that was started here.
            exec(compile(block.body, "a page", "exec"), names)
    else:
        for line in lines(block.body):
            words = words_of(line)
            assert words is not None, f"Not a call of countmorl, so mark it no-test: {line}"
            with as_a_new_process(here=line.startswith(HERE)):
                assert main(words) == 0, line


@contextmanager
def this_folder_on_path() -> Iterator[None]:
    importlib.invalidate_caches()
    with mock.patch.object(sys, "path", [str(Path.cwd()), *sys.path]):
        yield


@contextmanager
def as_a_new_process(*, here: bool) -> Iterator[None]:
    """A command knows nothing of what the page did in Python, nor of its folder unless told."""
    forget_modules()
    with ExitStack() as stack:
        for rows in TABLES:
            stack.enter_context(mock.patch.dict(rows, AT_FIRST[id(rows)], clear=True))
        if here:
            stack.enter_context(this_folder_on_path())
        yield


AT_FIRST = {id(rows): dict(rows) for rows in TABLES}


def forget_modules() -> None:
    """Forget the modules that lie in the page's folder."""
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(Path.cwd())):
            del sys.modules[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", GUIDES)
def test_every_block_of_a_page_works(name, capsys):
    names: dict = {"__name__": "page"}
    with ExitStack() as stack:
        stack.callback(forget_modules)
        for rows in TABLES:
            stack.enter_context(mock.patch.dict(rows))
        FILLED.get(name, lambda folder: None)(Path())
        for block in blocks(page(name)):
            runs = block.language in ("python", *SHELLS) or block.file
            if runs and not block.why_not:
                run(block, names)


def parse_only(words: list[str]) -> int:
    """Let the command line read the words, and do nothing."""
    real = tyro.cli

    def read(command, **settings):
        if words[0] == "train" and words[1] not in OTHERS:  # It returns what was said.
            return real(command, **settings)
        return real(functools.wraps(command)(lambda *_, **__: 0), **settings)

    with (
        mock.patch("countmorl.cli.parse.tyro.cli", read),
        mock.patch("countmorl.cli.train._train", return_value=0),
    ):
        return main(words)


@pytest.mark.parametrize("name", GUIDES)
def test_commands_that_are_not_run_can_be_parsed(name, capsys):
    for block in blocks(page(name)):
        if block.language in SHELLS and block.why_not:
            for line in lines(block.body):
                words = words_of(line)
                assert words is None or parse_only(words) == 0, line


def test_parsing_notices_what_is_no_longer_there():
    assert parse_only(["study", "log", "cliff", "log.npz"]) == 0
    assert parse_only(["study", "log", "cliff", "log.npz", "--episodes", "3"]) == 2
    assert parse_only(["train", "count-morl", "nowhere.npz", "--beta", "3"]) == 0
    assert parse_only(["train", "count-morl", "nowhere.npz", "--sac.warm-start", "3"]) == 2
    assert parse_only(["gridworld-data", "cliff", "log.npz"]) == 2
    assert not list(Path().iterdir())


@pytest.mark.parametrize("name", GUIDES)
def test_every_block_says_what_it_is(name):
    text = page(name)
    assert not re.search(r"^[ \t]+```", text, re.MULTILINE), "An indented block is not tested."
    for block in blocks(text):
        assert block.language, f"A block without a language is not tested:\n{block.body}"
        shown = block.language == "text"
        assert not (shown and "countmorl " in block.body.splitlines()[0]), "Commands are bash."


@pytest.mark.parametrize("name", [*GUIDES, *NOTES])
def test_links_lead_somewhere(name):
    prose = re.sub(r"^\s*```.*?^\s*```\s*$", "", page(name), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", prose):
        assert "://" in target or (ROOT / name).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("name", [*GUIDES, "lab/README.md"])
def test_lines_can_be_read(name):
    long = [line for line in page(name).splitlines() if len(line) > WIDTH]
    assert not [line for line in long if not line.startswith("|")]


def test_the_metrics_page_has_every_metric():
    text = page("docs/metrics.md")
    (found,) = re.findall(r"^\| metric \|(?:.*\n)+?(?=\n)", text, re.MULTILINE)
    assert found.strip() == table(), "Replace it by what python -m countmorl.runs.records prints."
    assert all(f"`{each.name}`" in text for each in fields(Timing))


SAMPLE = """
# Title

```python
value = 3
```

```python mine.py
value = 4
```

```bash
# A remark.
$ countmorl data list --json  # all of them
PYTHONPATH=. countmorl train bc log.npz \\
    --epochs 4
```

```console no-test: downloads
countmorl data download hopper-medium-v2
```

```text
countmorl nothing
```
"""


def test_blocks_are_found():
    assert [(b.language, b.file, b.why_not) for b in blocks(SAMPLE)] == [
        ("python", "", ""),
        ("python", "mine.py", ""),
        ("bash", "", ""),
        ("console", "", "downloads"),
        ("text", "", ""),
    ]


@pytest.mark.parametrize("mark", ["no-test", "no-test:", "no-test: ", "no-tests: slow"])
def test_a_block_that_is_not_run_says_why(mark):
    with pytest.raises(AssertionError, match="no-test:"):
        blocks(f"```bash {mark}\ncountmorl demo\n```\n")


def test_commands_are_found():
    body = blocks(SAMPLE)[2].body
    assert [words_of(line) for line in lines(body)] == [
        ["data", "list", "--json"],
        ["train", "bc", "log.npz", "--epochs", "4"],
    ]
    assert words_of("pip install countmorl") is None


def test_a_failing_block_is_noticed():
    with pytest.raises(AssertionError, match="countmorl data info nowhere"):
        run(Block("bash", "countmorl data info nowhere\n"), {})
    with pytest.raises(ZeroDivisionError):
        run(Block("python", "1 / 0\n"), {})
    with pytest.raises(AssertionError, match="mark it no-test: pip"):
        run(Block("bash", "pip install countmorl\n"), {})


def test_names_live_on_in_the_next_block():
    names: dict = {}
    run(Block("python", "value = 3\n"), names)
    run(Block("python", "assert value == 3\n"), names)


def test_text_shows_how_a_file_begins():
    Path("log.csv").write_text("a,b\n1,2\n3,4\n")
    run(Block("text", "a,b\n1,2\n", file="log.csv"), {})
    with pytest.raises(AssertionError, match="does not begin"):
        run(Block("text", "a,b\n3,4\n", file="log.csv"), {})


def test_a_block_can_be_a_file():
    run(Block("python", "value = 4\n", file="mine.py"), {})
    run(Block("python", "import mine\nassert mine.value == 4\n"), {})
    assert "mine" in sys.modules
    forget_modules()
    assert "mine" not in sys.modules
