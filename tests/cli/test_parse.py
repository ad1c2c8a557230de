import pytest

from countmorl.cli.parse import first_sentence, parse, run_command, run_group
from countmorl.errors import ConfigError

DATA = "DATA: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("resum x", "There is no command 'resum'. Did you mean 'resume'? Known: auto, "),
        ("data inof", "There is no command 'data inof'. Did you mean 'info'? Known: list, "),
        ("study count", "There is no command 'study count'. Did you mean 'counts'? Known: "),
        ("train bcc x", "There is no method 'bcc'. Did you mean 'bc'? Known: count-morl, bc, "),
        ("train --epochs 3", "There is no method '--epochs'. Known: "),
        ("train bc x --epoch 4", "`countmorl train bc` has no option '--epoch'. Did you mean '--"),
        ("train bc x --epoch=4", "has no option '--epoch'. Did you mean '--epochs'?"),
        ("train bc x --eval_evry 4", "no option '--eval-evry'. Did you mean '--eval-every'?"),
        ("train bc x --epochs abc", "`--epochs` wants INT, got 'abc'."),
        ("train bc x --epochs 1.5", "`--epochs` wants INT, got '1.5'."),
        ("train bc x --epochs", "`--epochs` wants INT, and nothing stands behind it."),
        ("train bc x --epochs --json", "`--epochs` wants INT, and nothing stands behind it."),
        ("train count-morl x --beta much", "`--beta` wants FLOAT|auto, got 'much'."),
        ("train bc x --hidden 8 big", "`--hidden` wants INT ..., got '8 big'."),
        ("train bc --epochs it's x", "`--epochs` wants INT, got 'it's'."),
        ("train bc --epochs=abc x", "`--epochs` wants INT, got 'abc'."),
        ("train tabular x --value-range 1", "`--value-range` wants FLOAT FLOAT, got '1'."),
        (
            "train mopo x --preset papr",
            "`--preset` must be one of default, paper, quick; got 'papr'. Did you mean 'paper'?",
        ),
        ("train bc x --preset", "`--preset` wants default|paper|quick, and nothing stands"),
        ("train bc x --mode wrong", "`--mode` must be one of true, d4rl-exact; got 'wrong'."),
        ("train bc x --log paper", "`--log` must be one of tensorboard, wandb, mlflow; got"),
        (
            "data collect hopper x --recipe meduim",
            "must be one of random, medium, medium-replay, expert, medium-expert; got 'meduim'. "
            "Did you mean 'medium'?",
        ),
        ("train bc", f"`countmorl train bc` wants {DATA} `countmorl train bc --help` lists"),
        ("train bc --preset paper", f"`countmorl train bc` wants {DATA}"),
        ("data info", f"`countmorl data info` wants {DATA}"),
        ("count", "wants RUN: The folder of a run that counts, such as one of count-morl; DATA: "),
        ("count run", f"`countmorl count` wants {DATA[:-1]}; observations and actions are"),
        ("resume --epochs 5", "`countmorl resume` wants RUN: The run's folder."),
        ("train bc --epoch 4", "has no option '--epoch'. Did you mean '--epochs'?"),
        ("train bc --jsn x.npz", "has no option '--jsn'. Did you mean '--json'?"),
        ("data collect hopper --recip medium", "no option '--recip'. Did you mean '--recipe'?"),
        ("data info a b", "`countmorl data info` does not know what to do with 'b'."),
        ("data list --rows 3", "`countmorl data list` has no option '--rows'. `countmorl data li"),
        ("train bc x -e 3", "`countmorl train bc` has no option '-e'."),
        (
            "train mopo x --sac.critic-norms",
            "has no option '--sac.critic-norms'. Did you mean '--sac.critic-norm'?",
        ),
        ("train mopo x --sac.no-critic-norms", "Did you mean '--sac.no-critic-norm'?"),
        ("train mopo x --sac.actor-rate -1", "`actor_rate` must be a number above 0, got -1."),
        ("train no_such:Mine x", "'no_such:Mine' could not be imported: No module named"),
        ("train json:loads x", "'json:loads' is not a method"),
    ],
)
def test_wrong_words_end_in_one_sentence(run_cli, words, sentence):
    code, out, err = run_cli(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("countmorl: ")
    assert sentence in err
    assert err.rstrip().endswith((".", "?"))


def shout(word: str = "ho", *, times: int = 1, loud: bool = True) -> int:
    """Say a word. Or more.

    Args:
        word: What to say.
        times: How often.
        loud: Whether to shout.
    """
    print(word.upper() * times if loud else word * times)
    return times - 1


class TestCommand:
    def test_its_value_is_the_exit_code(self, capsys):
        assert run_command(shout, ["--word", "he", "--times", "3"], "p") == 2
        assert run_command(shout, ["--no-loud"], "p") == 0
        assert capsys.readouterr().out == "HEHEHE\nho\n"

    @pytest.mark.parametrize("word", ["-h", "--help"])
    def test_help_stands_anywhere(self, capsys, word):
        assert run_command(shout, ["--times", word], "countmorl shout") == 0
        assert capsys.readouterr().out.startswith("usage: countmorl shout [OPTIONS]")

    def test_what_its_function_returns(self):
        assert parse(lambda: {"a": 1}, [], "p") == {"a": 1}

    def test_mistakes_of_its_own_are_not_taken_for_the_users(self):
        def broken() -> int:
            """Break."""
            return int("ho")

        with pytest.raises(ValueError, match="invalid literal"):
            run_command(broken, [], "p")


class TestGroup:
    commands = {"shout": shout, "shoot": shout}  # noqa: RUF012

    def test_its_commands_are_listed(self, capsys):
        for words in ([], ["--help"]):
            assert run_group("countmorl g", "Noises.", self.commands, words) == 0
            out = capsys.readouterr().out
            assert "Noises." in out
            assert " shout  Say a word." in out

    def test_one_is_run(self, capsys):
        assert run_group("countmorl g", "Noises.", self.commands, ["shout", "--times", "2"]) == 1
        assert capsys.readouterr().out == "HOHO\n"

    def test_another_is_refused(self):
        with pytest.raises(ConfigError, match=r"no command 'g shot'. Did you mean '(shout|shoot)'"):
            run_group("countmorl g", "Noises.", self.commands, ["shot"])


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("One. Two.", "One."),
        ("How often\nis it so?\n\nMore.", "How often is it so?"),
        ("As .hdf5 or e.g. so", "As .hdf5 or e.g."),
        (None, ""),
    ],
)
def test_first_sentence(doc, sentence):
    def command():
        pass

    command.__doc__ = doc
    assert first_sentence(command) == sentence
