from dataclasses import replace

import numpy as np
import pytest

from countmorl.runtime.coding import LearnedCodes, Places, Projections, named_arrays, stored_coder


def codes(**changes):
    """One member: a unit of each of two layers passes swish(x) on, two bits tell its sign."""
    one = np.ones((1, 1, 1), np.float32)
    nothing = np.zeros((1, 1), np.float32)
    parts = {
        "trunk_weights": (one, one),
        "trunk_biases": (nothing, nothing),
        "hidden_mean": nothing + 0.5,
        "hidden_std": nothing + 2,
        "encoder_weights": (np.array([[[2.0, -2.0]]], np.float32),),
        "encoder_biases": (np.zeros((1, 2), np.float32),),
    }
    return LearnedCodes(**parts | changes)


X = np.array([[3.0], [-3.0]], np.float32)


def swish(x):
    return x / (1 + np.exp(-x))


def test_learned_codes_by_hand():
    hidden = swish(swish(np.array([3.0, -3.0])))
    logits = (hidden - 0.5) / 2 * 2  # 2.5 and about -0.57
    words, known = codes().codes(X)
    assert logits[0] > 0 > logits[1]
    assert words.tolist() == [[[1], [2]]]
    assert known.all()


def test_a_code_counts_where_its_decoder_rebuilds_the_pair():
    # The decoder is the bottleneck's first unit: 0.92 for the pair 3, about 0.36 for -3.
    decoder = {
        "decoder_weights": (np.array([[[1.0], [0.0]]], np.float32),),
        "decoder_biases": (np.zeros((1, 1), np.float32),),
    }
    error = (1 / (1 + np.exp(-(swish(swish(3.0)) - 0.5))) - 3) ** 2
    for limit, wanted in ((error + 1e-4, True), (error - 1e-4, False)):
        limits = np.array([limit], np.float32)
        assert codes(limits=limits, **decoder).codes(X)[1].tolist() == [[wanted, False]]


def test_signs_of_projections():
    projections = np.array([[[1.0, -1.0]], [[0.0, 1.0]]], np.float32)
    words, known = Projections(projections=projections).codes(X)
    assert words.tolist() == [[[1], [2]], [[2], [0]]]
    assert known.all()


def test_places_of_known_numbers():
    values = np.array([[-1.0, 0.0, 1.0], [5.0, np.inf, np.inf]], np.float32)
    coder = Places(values=values, slack=np.full(2, 0.01, np.float32))
    words, known = coder.codes(np.array([[0.005, 5.0], [1.0, 5.0], [0.5, 5.0]], np.float32))
    assert words[0, :2].tolist() == [[1, 0], [2, 0]]
    assert known.tolist() == [[True, True, False]]
    alone = Places(values=values[1:, :1], slack=coder.slack[1:])
    assert alone.codes(np.array([[5.0], [6.0]], np.float32))[1].tolist() == [[True, False]]


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_what_is_no_number_is_never_counted(number):
    x = np.array([[number]], np.float32)
    coders = (
        codes(),
        Projections(projections=np.ones((1, 1, 2), np.float32)),
        Places(values=np.ones((1, 1), np.float32), slack=np.ones(1, np.float32)),
    )
    for coder in coders:
        assert not coder.codes(x)[1].any()


def test_a_coder_comes_back_from_its_arrays():
    again = stored_coder("codes", named_arrays(codes()))
    assert again.codes(X)[0].tolist() == codes().codes(X)[0].tolist()
    assert again.trunk_gains == ()


@pytest.mark.parametrize(
    "change",
    [
        {"trunk_weights": ()},
        {"trunk_weights": (np.ones((1, 1, 1), np.float32),)},
        {"trunk_biases": (np.zeros(1, np.float32),) * 2},
        {"trunk_gains": (np.ones((1, 3), np.float32),) * 2},
        {"hidden_mean": np.zeros((1, 3), np.float32)},
        {"hidden_std": -np.ones((1, 1), np.float32)},
        {"encoder_weights": ()},
        {"encoder_weights": (np.ones((1, 2, 2), np.float32),)},
        {"limits": np.ones(1, np.float32)},
    ],
)
def test_parts_that_do_not_fit(change):
    assert codes().problem() is None
    assert replace(codes(), **change).problem()
