"""The command line as a whole: choosing commands, help, exit codes."""

import ast
import dataclasses
import inspect
import os
import re
import subprocess
import sys
from importlib import metadata

import pytest

import countmorl.cli
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.bc import BC
from countmorl.cli import GROUPS, _select, main
from countmorl.runs.options import DataOptions, RunOptions

COMMANDS = _select([])[1]


def plain(text):
    """Help without boxes and line breaks."""
    return " ".join(re.sub(r"[│╭╮╰╯─•]", " ", text).split())


def entries(text):
    """Options and positional arguments of a help page with what it says about each."""
    found, inside = {}, None
    for raw in text.splitlines():
        line = re.sub(r"[│╭╮╰╯─]", " ", raw).rstrip()
        head = re.match(r" {1,2}(--?[a-z][\w.-]*|[A-Z]+)\b", line)
        if not line.strip(" -"):
            inside = None
        elif head:
            inside = head.group(1)
            # What is said stands two or more spaces behind the name and its type.
            parts = re.split(r"\s{2,}", line.strip(), maxsplit=1)
            found[inside] = parts[1] if len(parts) > 1 else ""
        elif inside:
            found[inside] += " " + line.strip()
    return found


class TestHelp:
    @pytest.mark.parametrize("name", sorted(COMMANDS))
    def test_every_command_has_help_that_explains_every_option(self, run_cli, monkeypatch, name):
        monkeypatch.setenv("COLUMNS", "100")
        code, out, err = run_cli(*name.split(), "--help")
        assert (code, err) == (0, "")
        summary = inspect.getdoc(COMMANDS[name]).split("\n\n")[0]
        assert plain(summary) in plain(out)
        explained = entries(out)
        assert set(explained) >= {"-h", "--json"}
        for option, text in explained.items():
            words = re.sub(r"\((default|required|optional)[^)]*\)", "", text).split()
            assert len(words) >= 2, f"{name} says nothing about {option}: {text!r}"

    @pytest.mark.parametrize("cls", [AbstractAlgorithm, BC, DataOptions, RunOptions])
    def test_the_docstring_of_every_field_is_printed(self, run_cli, cls):
        _, out, _ = run_cli("train", "bc", "--help")
        documented = field_docs(cls)
        assert documented
        for name, doc in documented.items():
            settings = {field.name for field in dataclasses.fields(cls)}
            if name not in settings or (name == "epochs" and cls is AbstractAlgorithm):
                continue  # A class variable, or a default that BC replaces.
            assert f"--{name.replace('_', '-')} " in out
            assert plain(doc) in plain(out)

    @pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
    def test_without_a_command_all_are_listed(self, run_cli, arguments):
        code, out, err = run_cli(*arguments)
        assert (code, err) == (0, "")
        for name in COMMANDS:
            assert name in out

    @pytest.mark.parametrize("group", GROUPS)
    def test_a_group_lists_its_own(self, run_cli, group):
        for arguments in ((group,), (group, "--help")):
            code, out, err = run_cli(*arguments)
            assert (code, err) == (0, "")
            for name in COMMANDS:
                listed = re.search(rf"^\W+{name}  ", out, re.MULTILINE) is not None
                assert listed == name.startswith(f"{group} ")

    def test_every_command_is_documented_for_its_arguments(self):
        for name, command in COMMANDS.items():
            assert "Args:" in (command.__doc__ or ""), name


def field_docs(cls):
    """The docstrings that stand under the fields of a class."""
    (tree,) = ast.parse(inspect.getsource(cls)).body
    docs = {}
    for field, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr):
            docs[field.target.id] = after.value.value
    return docs


class TestErrors:
    def test_an_unknown_command(self, run_cli):
        code, out, err = run_cli("resum", "x")
        assert (code, out) == (2, "")
        assert err.startswith("countmorl: There is no command 'resum'. Did you mean 'resume'?")

    def test_an_unknown_command_of_a_group(self, run_cli):
        code, _, err = run_cli("data", "inof")
        assert code == 2
        assert "There is no command 'data inof'. Did you mean 'data info'?" in err

    def test_an_unknown_algorithm(self, run_cli):
        code, _, err = run_cli("train", "bcc", "log.npz")
        assert code == 2
        assert "There is no command 'train bcc'. Did you mean 'train bc'?" in err

    def test_an_algorithm_without_train_before_it(self, run_cli):
        code, _, err = run_cli("mopo", "log.hdf5")
        assert code == 2
        assert "There is no command 'mopo'. Did you mean 'train mopo'?" in err

    def test_traceback_shows_where_an_error_arose(self, run_cli):
        code, _, err = run_cli("data", "info", "nowhere.npz", "--traceback")
        assert code == 2
        assert "Traceback" in err
        assert "There is no file nowhere.npz" in err

    def test_without_it_one_line_is_printed(self, run_cli):
        code, out, err = run_cli("data", "info", "nowhere.npz")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("countmorl: There is no file nowhere.npz. Check the path;")

    def test_ctrl_c_outside_of_a_training(self, run_cli, monkeypatch):
        def interrupted(arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr(countmorl.cli, "_run", interrupted)
        code, out, err = run_cli("data", "list")
        assert (code, out, err) == (130, "", "Stopped.\n")

    def test_what_we_did_not_foresee_is_not_hidden(self, monkeypatch):
        def broken(arguments):
            raise ZeroDivisionError

        monkeypatch.setattr(countmorl.cli, "_run", broken)
        with pytest.raises(ZeroDivisionError):
            main(["data", "list"])


def test_a_reader_that_goes_away_is_no_error():
    """`countmorl data list | head -1`, with a pipe that is closed before anything is written."""
    read, write = os.pipe()
    os.close(read)
    program = "import sys; from countmorl.cli import main; sys.exit(main())"
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, "data", "list", "--json"],
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    finally:
        os.close(write)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "BrokenPipeError" not in done.stderr


def test_data_commands_do_not_wait_for_jax():
    program = (
        "import sys; from countmorl.cli import main; main(['data', 'list', '--json']); "
        "print('jax' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "False\n")


def test_version(run_cli):
    assert run_cli("--version") == (0, f"countmorl {metadata.version('countmorl')}\n", "")
