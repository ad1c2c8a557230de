"""The command line as a whole: choosing commands, exit codes, what is not waited for."""

import errno
import os
import subprocess
import sys
from importlib import metadata

import pytest

import countmorl.cli
from countmorl.algorithms import ALGORITHMS
from countmorl.cli import ENTRIES, main

LONG = "c" * 5000
"""A name that no system takes."""


class TestListing:
    @pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
    def test_without_a_command_all_are_listed_on_one_screen(self, run_cli, monkeypatch, words):
        monkeypatch.setenv("COLUMNS", "80")
        code, out, err = run_cli(*words)
        assert (code, err) == (0, "")
        lines = out.splitlines()
        assert len(lines) <= 34
        assert all(len(line) <= 80 for line in lines)
        for name, entry in ENTRIES.items():
            line = f" {f'{name} {entry.usage}'.strip()}"
            assert any(each.startswith(line) and entry.about in each for each in lines), name

    def test_every_entry_says_what_it_does_in_a_sentence(self):
        for entry in ENTRIES.values():
            assert entry.about[0].isupper()
            assert entry.about.endswith(".")

    @pytest.mark.parametrize("name", [name for name in ENTRIES if not ENTRIES[name].is_group])
    def test_every_command_has_help(self, run_cli, name):
        code, out, err = run_cli(name, "--help")
        assert (code, err) == (0, "")
        assert out.startswith(f"usage: countmorl {name} ")


class TestChoice:
    def test_an_unknown_command(self, run_cli):
        code, out, err = run_cli("resum", "x")
        assert (code, out) == (2, "")
        assert err.startswith("countmorl: There is no command 'resum'. Did you mean 'resume'?")

    def test_one_that_is_like_no_other(self, run_cli):
        code, _, err = run_cli("--epochs", "3")
        assert (code, err.count("\n")) == (2, 1)
        assert f"There is no command '--epochs'. Known: {', '.join(ENTRIES)}." in err

    @pytest.mark.parametrize("name", [*ALGORITHMS])
    def test_a_method_without_train_before_it(self, run_cli, name):
        code, _, err = run_cli(name, "log.hdf5")
        assert code == 2
        assert f"There is no command '{name}'. Did you mean 'train {name}'?" in err


class TestErrors:
    def test_traceback_shows_where_an_error_arose(self, run_cli):
        code, _, err = run_cli("data", "info", "nowhere.npz", "--traceback")
        assert code == 2
        assert "Traceback" in err
        assert "There is no file nowhere.npz" in err

    def test_without_it_one_line_is_printed(self, run_cli):
        code, out, err = run_cli("data", "info", "nowhere.npz")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("countmorl: There is no file nowhere.npz. Check the path;")

    @pytest.mark.parametrize(
        "words",
        [
            ("resume", LONG),
            ("judge", LONG),
            ("choose", LONG),
            ("evaluate", LONG),
            ("serve", LONG),
            ("monitor", LONG, "log.npz"),
            ("export", LONG, "-o", "out"),
            ("guard", LONG),
            ("coverage", LONG),
            ("counts", "show", LONG),
            ("sweep", "status", LONG),
            ("report", LONG),
            ("data", "import", LONG, "--obs", "a", "--action", "b", "--reward", "c"),
        ],
        ids=lambda words: words[0],
    )
    def test_a_path_longer_than_any_is_a_sentence(self, run_cli, words):
        code, _, err = run_cli(*words)
        assert (code, err.count("\n")) == (2, 1)
        assert err.startswith("countmorl: ")

    def test_what_the_system_refuses_is_a_sentence(self, run_cli, monkeypatch):
        def refused(*_):
            raise PermissionError(errno.EACCES, "Permission denied", "somewhere")

        monkeypatch.setattr("countmorl.cli._run", refused)
        assert run_cli("methods") == (
            2,
            "",
            "countmorl: somewhere could not be used (Permission denied). Check the path and its "
            "permissions.\n",
        )

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


def test_what_computes_nothing_does_not_wait_for_jax(trained):
    """The list of commands, a list of names, runs side by side: all in one process."""
    program = (
        "import sys; from countmorl.cli import main; "
        "codes = [main([]), main(['data', 'list', '--json']), "
        f"main(['compare', {str(trained / 'run')!r}])]; "
        "print(codes, 'jax' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "[0, 0, 0] False\n")


def test_version(run_cli):
    assert run_cli("--version") == (0, f"countmorl {metadata.version('countmorl')}\n", "")
