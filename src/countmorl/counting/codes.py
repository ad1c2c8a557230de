"""Binary codes of state-action pairs: an autoencoder on a member's hidden layer, rounded."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from countmorl.nets import MLP
from countmorl.scaling import Standardizer
from countmorl.types import Key


def encoder_sizes(bits: int, inputs: int, outputs: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Layer sizes before and after the bottleneck (Section 4.3; the output layer is ours)."""
    if bits < 50:
        return (inputs, 100, 50, bits), (bits, 50, 100, 100, outputs)
    return (inputs, 100, 100, bits), (bits, 100, 100, outputs)


class Autoencoder(eqx.Module):
    """Reconstructs a standardised (obs, action) from a hidden layer, through d sigmoid units.

    Those of the elites are stacked in one, by `jax.vmap`.
    """

    standardizer: Standardizer
    """What the hidden layer is scaled by."""
    encoder: MLP
    decoder: MLP

    @classmethod
    def make(
        cls, standardizer: Standardizer, bits: int, inputs: int, outputs: int, *, key: Key
    ) -> "Autoencoder":
        """Start with random weights; `standardizer` scales the hidden layer."""
        encoder_key, decoder_key = jax.random.split(key)
        before, after = encoder_sizes(bits, inputs, outputs)
        return cls(
            standardizer,
            MLP.make(before, activation="swish", key=encoder_key),
            MLP.make(after, activation="swish", key=decoder_key),
        )

    @classmethod
    def from_arrays(cls, saved: dict[str, Any]) -> "Autoencoder":
        """Bring autoencoders back from their nested arrays."""
        nets = (
            MLP(tuple(saved[part]["weights"]), tuple(saved[part]["biases"]), "swish")
            for part in ("encoder", "decoder")
        )
        return cls(Standardizer(**saved["standardizer"]), *nets)

    def logits(self, hidden: Float[Array, "*batch hidden"]) -> Float[Array, "*batch bits"]:
        """The bottleneck before its sigmoid."""
        return self.encoder(self.standardizer(hidden))

    def bits(self, hidden: Float[Array, "*batch hidden"]) -> Bool[Array, "*batch bits"]:
        """The bottleneck rounded: sigmoid(z) rounds to one where z > 0."""
        return self.logits(hidden) > 0

    def error(
        self, hidden: Float[Array, "*batch hidden"], target: Float[Array, "*batch inputs"]
    ) -> Float[Array, "*batch"]:
        """Mean squared error of each pair's reconstruction."""
        rebuilt = self.decoder(jax.nn.sigmoid(self.logits(hidden)))
        return jnp.mean(jnp.square(rebuilt - target), axis=-1)

    def loss(
        self,
        hidden: Float[Array, "batch hidden"],
        target: Float[Array, "batch columns"],
        noise: Float[Array, "#batch bits"],
        kept: Float[Array, "#batch bits"],
        weights: Float[Array, " columns"],
    ) -> Float[Array, ""]:
        """Mean squared error of the reconstruction, columns weighted.

        `noise` is added before the sigmoid; bits that are not `kept` do not reach the decoder.
        """
        bottleneck = kept * jax.nn.sigmoid(self.logits(hidden) + noise)
        return jnp.mean(weights * jnp.square(self.decoder(bottleneck) - target))

    def rebuilding(self, columns: int) -> "Autoencoder":
        """The same, whose decoder rebuilds the first columns alone."""
        nets = self.decoder
        weight, bias = nets.weights[-1][..., :columns], nets.biases[-1][..., :columns]
        decoder = MLP((*nets.weights[:-1], weight), (*nets.biases[:-1], bias), "swish")
        return Autoencoder(self.standardizer, self.encoder, decoder)

    def first(self, bits: int) -> "Autoencoder":
        """The same with a code of the first bits alone, as if no other reached the decoder."""
        before, after = self.encoder, self.decoder
        ends = before.weights[-1][..., :bits], before.biases[-1][..., :bits]
        encoder = MLP((*before.weights[:-1], ends[0]), (*before.biases[:-1], ends[1]), "swish")
        decoder = MLP((after.weights[0][..., :bits, :], *after.weights[1:]), after.biases, "swish")
        return Autoencoder(self.standardizer, encoder, decoder)
