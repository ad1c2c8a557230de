"""Networks in plain NumPy, against which the compiled ones are checked."""

import numpy as np


def mlp(net, x, member=None):
    """What a `countmorl.nets.MLP` gives; `member` picks one of several that are stacked."""
    pick = (lambda a: np.asarray(a)) if member is None else (lambda a: np.asarray(a)[member])
    for weight, bias in zip(net.weights[:-1], net.biases[:-1], strict=True):
        x = x @ pick(weight) + pick(bias)
        if net.norm:
            x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
        x = np.maximum(x, 0)
    return x @ pick(net.weights[-1]) + pick(net.biases[-1])
