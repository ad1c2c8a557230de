from dataclasses import replace

import pytest

from countmorl.reports.groups import clean, group, method_labels, say
from countmorl.runs.manifest import DataOrigin
from countmorl.runs.options import RunOptions
from made_runs import make_facts


def facts(*, label=None, seed=0, beta=None, name="toy", code="abcdef012345", **about):
    config = {"config": {"beta": beta, "epochs": 10}} if beta is not None else {}
    origin = DataOrigin(name=name, hash=code)
    options = RunOptions(seed=seed, label=label)
    return make_facts(1.0, 2.0, data=origin, options=options, **config | about)


class TestLabels:
    def test_one_setting_is_called_by_its_algorithm(self):
        assert method_labels([facts(seed=0), facts(seed=1)]) == ["count-morl"] * 2

    def test_seeds_are_no_settings(self):
        assert method_labels([facts(model_seed=1), facts(model_seed=2)]) == ["count-morl"] * 2

    def test_what_differs_on_the_same_data_is_told(self):
        labels = method_labels([facts(beta=1.0), facts(beta=3.0)])
        assert labels == ["count-morl, beta 1", "count-morl, beta 3"]

    def test_what_differs_between_data_is_not(self):
        labels = method_labels([facts(beta=1.0), facts(beta=3.0, name="other")])
        assert labels == ["count-morl"] * 2

    def test_what_is_told_on_one_dataset_is_told_on_all(self):
        runs = [facts(beta=1.0), facts(beta=3.0), facts(beta=3.0, name="other")]
        assert method_labels(runs)[1:] == ["count-morl, beta 3"] * 2

    def test_other_algorithms_do_not_matter(self):
        other = facts(beta=3.0, algorithm="mopo")
        assert method_labels([facts(beta=1.0), other]) == ["count-morl", "mopo"]

    def test_a_label_of_ones_own_comes_first(self):
        runs = [facts(label="ours", beta=1.0), facts(beta=3.0), facts(label=" \n ", beta=3.0)]
        assert method_labels(runs) == ["ours", "count-morl", "count-morl"]

    def test_one_label_for_two_algorithms_is_taken_apart(self):
        runs = [facts(label="ours"), facts(label="ours", algorithm="bc")]
        assert method_labels(runs) == ["ours (count-morl)", "ours (bc)"]

    def test_many_settings_become_a_number(self):
        def made(value):
            return facts(config={name: value for name in "abcd"})

        labels = method_labels([made(10), made(2), made(10)])
        assert labels == ["count-morl, variant 2", "count-morl, variant 1", "count-morl, variant 2"]


def test_the_same_name_with_other_contents_is_another_dataset():
    study = group([facts(), facts(code="123456abcdef"), facts(name="else")])
    assert [data.label for data in study.data] == ["else", "toy 123456", "toy abcdef"]
    assert [data.name for data in study.data] == ["else", "toy", "toy"]


def test_cells_are_ordered_by_seed_and_nature():
    runs = [facts(beta=10.0), facts(beta=9.0, seed=2), facts(beta=9.0, seed=1)]
    study = group(runs)
    assert study.methods == ("count-morl, beta 9", "count-morl, beta 10")
    assert [run.seed for run in study.cells["count-morl, beta 9", "toy"]] == [1, 2]
    assert [run.seed for run in study.runs] == [1, 2, 0]
    assert (study.notes, group(runs[::-1]).cells) == ((), study.cells)


class TestTwins:
    def made(self, folder, **changes):
        run = facts(seed=4)
        return replace(run, summary=replace(run.summary, run=folder, **changes))

    @pytest.mark.parametrize("order", [1, -1])
    def test_a_finished_run_is_kept_and_it_is_said(self, order):
        done, open_ = self.made("a"), self.made("b", finished=False, epochs=9)
        study = group([done, open_][::order])
        assert study.runs == [done]
        (note,) = study.notes
        assert note.startswith("2 runs are “count-morl” on toy with seed 4; a is kept, b left out")

    @pytest.mark.parametrize("order", [1, -1])
    def test_of_equal_ones_the_last_folder(self, order):
        study = group([self.made("a"), self.made("b"), self.made("c", epochs=1)][::order])
        assert [run.summary.run for run in study.runs] == ["b"]
        assert "b is kept, a, c left out" in study.notes[0]


def test_runs_of_one_label_that_differ_are_noted():
    study = group([facts(label="ours", beta=1.0), facts(label="ours", beta=2.0, seed=1)])
    assert "“ours” on toy differ in more than their seeds: beta." in study.notes[0]


def test_names_cannot_steer_a_terminal():
    assert clean("a\x1b[31m\nb\t c") == "a [31m b c"
    assert method_labels([facts(label="red\x1b[31m\nline")]) == ["red [31m line"]
    assert group([facts(name="x\ny")]).data[0].label == "x y"


def test_values_as_people_write_them():
    assert [say(each) for each in (3.0, 3e-4, [256, 256.0], (), None, "auto", True)] == [
        "3",
        "0.0003",
        "256 256",
        "none",
        "none",
        "auto",
        "True",
    ]
