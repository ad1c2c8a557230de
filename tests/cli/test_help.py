import ast
import importlib
import inspect
import re
import warnings
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest
import tyro
from tyro.conf import Positional

from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.bc import BC
from countmorl.cli import ENTRIES, data, study, train
from countmorl.cli.help import Option, field_docs, options_of, print_listing, print_page
from countmorl.runs.options import DataOptions, RunOptions

METHODS = ALGORITHMS
COMMANDS = {
    name: getattr(importlib.import_module(f"countmorl.cli.{name}"), name)
    for name, entry in ENTRIES.items()
    if not entry.is_group
}
COMMANDS |= {f"data {name}": command for name, command in data.COMMANDS.items()}
COMMANDS |= {f"study {name}": command for name, command in study.COMMANDS.items()}
COMMANDS |= {f"train {name}": train._command(cls, cls()) for name, cls in METHODS.items()}
COMMANDS |= {f"train {name}": command for name, command in train.OTHERS.items()}
every_command = pytest.mark.parametrize("name", sorted(COMMANDS))


def plain(text):
    """A page without its line breaks."""
    return " ".join(text.split())


@every_command
class TestPages:
    def test_every_option_is_explained(self, run_cli, name, monkeypatch):
        """On a wide page, so that no text is broken into two columns' lines."""
        monkeypatch.setattr("countmorl.cli.help.WIDEST", 1000)
        monkeypatch.setenv("COLUMNS", "1000")
        code, out, err = run_cli(*name.split(), "--help")
        assert (code, err) == (0, "")
        lines = [line.strip() for line in out.splitlines()]
        for option in options_of(COMMANDS[name]):
            line = next(
                line for line in lines if line.startswith((f"{option.name} ", f"{option.name}, "))
            )
            assert len(option.about.split()) >= 2, option
            assert option.about.endswith((".", ")")), option
            assert option.about in line, option

    def test_no_sentence_is_broken_in_the_middle(self, run_cli, name):
        """Every paragraph above the options begins and ends as a sentence does."""
        _, out, _ = run_cli(*name.split(), "--help")
        about = re.split(r"\n(?:arguments|options|settings that matter)\n", out)[0]
        usage, *paragraphs = about.strip().split("\n\n")
        assert usage.startswith(f"usage: countmorl {name} ")
        assert paragraphs
        for paragraph in paragraphs:
            assert paragraph.rstrip().endswith((".", "?", ":")), paragraph
            assert not re.match(r"[a-z]+[ .]", paragraph) or "~" in paragraph, paragraph

    def test_it_fits_a_terminal(self, run_cli, name, monkeypatch):
        for width in (80, 200):
            monkeypatch.setenv("COLUMNS", str(width))
            _, out, _ = run_cli(*name.split(), "--help")
            assert max(map(len, out.splitlines())) <= min(width, 100)

    def test_what_is_shown_is_what_is_parsed(self, name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            parser = tyro.extras.get_parser(COMMANDS[name])
        parsed = {word for action in parser._actions for word in action.option_strings}
        shown = set()
        for option in options_of(COMMANDS[name]):
            if not option.positional:
                shown |= {option.name, *option.wants.split("| ")[1:], *option.short.split()}
        off = {word for word in parsed - shown if re.match(r"--([\w-]+\.)*no-", word)}
        assert shown <= parsed
        assert parsed - shown - off == {"-h", "--help"}

    def test_every_option_of_the_command_is_documented_where_it_is_written(self, name):
        assert "Args:" in (COMMANDS[name].__doc__ or "")


class TestMethodPages:
    @pytest.mark.parametrize("name", METHODS)
    def test_about_ten_settings_come_first(self, run_cli, name):
        _, out, _ = run_cli("train", name, "--help")
        first, advanced = re.split(r"\nadvanced\n", out, maxsplit=1)
        leading = re.findall(r"^ (--[\w.-]+)", first, re.MULTILINE)
        assert [each for each in leading if each != "--preset"][:3] == [
            "--out",
            "--seed",
            "--epochs",
        ]
        assert 8 <= len(leading) <= 14
        assert " --json" in advanced

    @pytest.mark.parametrize("name", METHODS)
    def test_what_a_method_calls_first_exists(self, name):
        names = {option.name for option in options_of(COMMANDS[f"train {name}"])}
        first = [f"--{each.replace('_', '-')}" for each in METHODS[name].first]
        assert set(first) <= names
        assert len(set(first)) == len(first)

    def test_settings_of_parts_stand_under_their_names(self, run_cli):
        _, out, _ = run_cli("train", "count-morl", "--help")
        parts = re.findall(r"^advanced: (\w+)$", out, re.MULTILINE)
        assert parts == ["model", "sac", "codes"]

    def test_a_flag_that_is_on_shows_both_spellings(self, run_cli, monkeypatch):
        monkeypatch.setattr("countmorl.cli.help.WIDEST", 1000)
        monkeypatch.setenv("COLUMNS", "1000")
        _, out, _ = run_cli("train", "count-morl", "--help")
        lines = [line.strip() for line in out.splitlines()]
        place = next(i for i, line in enumerate(lines) if line.startswith("--sac.critic-norm |"))
        assert "Normalise the critics' hidden layers (layer normalisation)." in lines[place]
        assert lines[place].endswith("(default: on)")
        assert lines[place + 1] == "--sac.no-critic-norm"
        assert "--sac.mean-start" in out
        assert "--sac.no-mean-start" not in out  # It is off, and turned on by its name.

    @pytest.mark.parametrize("cls", [AbstractAlgorithm, BC, DataOptions, RunOptions])
    def test_the_docstring_of_every_field_is_printed(self, cls):
        told = {option.name: option.about for option in options_of(COMMANDS["train bc"])}
        documented = written_docs(cls)
        assert documented
        for name, doc in documented.items():
            if name == "epochs" and cls is AbstractAlgorithm:
                continue  # BC says its own.
            assert told[f"--{name.replace('_', '-')}"] == plain(doc)


def written_docs(cls):
    """The docstrings that stand under the settings of a class."""
    (tree,) = ast.parse(inspect.getsource(cls)).body
    settings = {each.name for each in fields(cls)}
    docs = {}
    for each, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(each, ast.AnnAssign) and isinstance(after, ast.Expr):
            docs[each.target.id] = after.value.value
    return {name: doc for name, doc in docs.items() if name in settings}


@dataclass(frozen=True, kw_only=True)
class Inner:
    """Settings within settings."""

    deep: int | Literal["auto"] = "auto"
    """How deep,
    or auto."""
    on: bool = True
    """Whether it is on."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings."""

    inner: Inner = field(default_factory=Inner)
    """A part."""
    sizes: tuple[int, ...] = (1, 2)
    """Sizes of layers."""
    pair: tuple[float, float] | None = None
    """Two numbers."""


Name = Annotated[Positional[str], tyro.conf.arg(metavar="NAME")]
Names = Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="FILE")]


def command(
    name: Name,
    files: Names,
    config: Annotated[Config, tyro.conf.arg(name="")],
    out_file: Path | None = None,
    kind: Literal["a", "b"] = "a",
    json: bool = False,
) -> int:
    """Do something that takes
    two lines to say.

    More of it.

    Args:
        name: Whose it is.
        files: Where it lies.
        out_file: Where it goes.
        kind: One or
            the other.
        json: Print JSON.
    """
    return 0


def test_options_by_hand():
    assert options_of(command) == [
        Option("NAME", "", "Whose it is.", ""),
        Option("FILE ...", "", "Where it lies.", ""),
        Option("--inner.deep", "INT|auto", "How deep, or auto.", "auto", "inner"),
        Option("--inner.on", "| --inner.no-on", "Whether it is on.", "on", "inner"),
        Option("--sizes", "INT ...", "Sizes of layers.", "1 2"),
        Option("--pair", "FLOAT FLOAT", "Two numbers.", ""),
        Option("--out-file", "PATH", "Where it goes.", ""),
        Option("--kind", "a|b", "One or the other.", "a"),
        Option("--json", "", "Print JSON.", ""),
    ]


def test_docs_of_fields_are_those_of_the_class_that_says_them_last():
    docs = field_docs(BC)
    assert docs["updates"] == "Gradient steps in one epoch."
    assert docs["hidden"] == "Units of each hidden layer."
    assert is_dataclass(BC)


def test_a_page_by_hand(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_page(command, "countmorl do", ("kind", "inner.deep"))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "usage: countmorl do NAME FILE ... [OPTIONS]",
        "",
        "Do something that takes two lines to say.",
        "",
        "More of it.",
        "",
        "arguments",
        " NAME      Whose it is.",
        " FILE ...  Where it lies.",
        "",
        "settings that matter",
        " --kind a|b             One or the other. (default: a)",
        " --inner.deep INT|auto  How deep, or auto. (default: auto)",
        "",
        "advanced: inner",
        " --inner.on | --inner.no-on  Whether it is on. (default: on)",
        "",
        "advanced",
        " --sizes INT ...     Sizes of layers. (default: 1 2)",
        " --pair FLOAT FLOAT  Two numbers.",
        " --out-file PATH     Where it goes.",
        " --json              Print JSON.",
    ]


def test_a_listing_by_hand(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    print_listing(
        "countmorl x", "All of it.", {"one": "The first.", "three [a]": "Another."}, "End."
    )
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "usage: countmorl x",
        "",
        "All of it.",
        "",
        " one        The first.",
        " three [a]  Another.",
        "",
        "End.",
    ]
