from dataclasses import replace

from countmorl import BC, CountMORL
from countmorl.algorithms.model_alone import ModelAlone
from countmorl.sweeps.facts import DataFacts
from countmorl.sweeps.needs import BUFFER, COPIES, LAYERS, PROGRAM, memory_need

WALKER = DataFacts(rows=1_000_000, obs_dim=17, action_dim=6)


def test_a_clone_needs_its_program_and_its_data():
    row = 4 * (17 + 17 + 6 + 1) + 3
    assert memory_need(BC(), WALKER) == int(PROGRAM + COPIES * 1_000_000 * row)


def test_rollouts_need_their_buffer_and_the_models_layers():
    config = CountMORL(horizon=20, branches=50_000, retain=5)
    row = 4 * (17 + 17 + 6 + 1) + 3
    wanted = PROGRAM + COPIES * 1e6 * row + 4 * 7 * 1e6
    wanted += BUFFER * 5 * 50_000 * 20 * row + LAYERS * 4 * 50_000 * 7 * 200
    assert memory_need(config, WALKER) == int(wanted)
    # The benchmark of memory measures 2.78 GB for a run of these sizes.
    assert 2.78e9 < memory_need(config, WALKER) < 5.6e9


def test_more_data_and_more_rollouts_need_more():
    config = CountMORL()
    assert memory_need(config, replace(WALKER, rows=2_000_000)) > memory_need(config, WALKER)
    assert memory_need(CountMORL(retain=9), WALKER) > memory_need(config, WALKER)
    assert (
        memory_need(BC(), WALKER) < memory_need(ModelAlone(), WALKER) < memory_need(config, WALKER)
    )
