"""The blocks of README and guides work as they stand, one after the other in one folder a page.

Python blocks are executed. In bash and console blocks every line that calls `countmorl` is run
through the command line. A block whose first line says `no-test` is passed over: one that
downloads or trains for hours.
"""

import re
import shlex
from pathlib import Path
from unittest import mock

import pytest

from countmorl.algorithms import ALGORITHMS
from countmorl.cli import main

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
SHELLS = ("bash", "sh", "shell", "console")


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and contents of every block that is to be tested."""
    found = []
    for words, body in FENCE.findall(text):
        language, *more = words.split() or [""]
        if "no-test" not in more and language in ("python", *SHELLS):
            found.append((language, body))
    return found


def commands(body: str) -> list[list[str]]:
    """The calls of `countmorl` in a shell block, with continued lines joined."""
    joined = body.replace("\\\n", " ")
    lines = [line.strip().removeprefix("$ ") for line in joined.splitlines()]
    calls = [shlex.split(line, comments=True) for line in lines if line.startswith("countmorl ")]
    return [call[1:] for call in calls]


def run(language: str, body: str, names: dict) -> None:
    if language == "python":
        exec(compile(body, "a page", "exec"), names)
        return
    for arguments in commands(body):
        assert main(arguments) == 0, f"countmorl {shlex.join(arguments)}"


@pytest.mark.parametrize("page", ["README.md", "docs/algorithms.md"])
def test_every_block_of_a_page_works(page, capsys):
    names: dict = {"__name__": "page"}
    with mock.patch.dict(ALGORITHMS):  # A page may add an algorithm of its own.
        for language, body in blocks((ROOT / page).read_text(encoding="utf-8")):
            run(language, body, names)


SAMPLE = """
# Title

```python
value = 3
```

```bash
$ countmorl data list --json  # all of them
pip install countmorl
countmorl train bc log.npz \\
    --epochs 4
```

```console no-test
countmorl data download hopper-medium-v2
```

```
countmorl nothing
```

```text
countmorl nothing
```
"""


def test_blocks_are_found():
    assert [language for language, _ in blocks(SAMPLE)] == ["python", "bash"]


def test_commands_are_found():
    _, body = blocks(SAMPLE)[1]
    assert commands(body) == [
        ["data", "list", "--json"],
        ["train", "bc", "log.npz", "--epochs", "4"],
    ]


def test_a_failing_block_is_noticed():
    with pytest.raises(AssertionError, match="countmorl data info nowhere"):
        run("bash", "countmorl data info nowhere\n", {})
    with pytest.raises(ZeroDivisionError):
        run("python", "1 / 0\n", {})


def test_names_live_on_in_the_next_block():
    names: dict = {}
    run("python", "value = 3\n", names)
    run("python", "assert value == 3\n", names)
