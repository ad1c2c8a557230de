"""What checks the package's annotations while the tests run; jaxtyping's import hook calls it."""

from typing import Any, Self, get_type_hints

import jaxtyping
from beartype import BeartypeConf, FrozenDict, beartype

# A whole number is a float too, as everywhere in Python's typing. `Self` can be known only to a
# decorator of whole classes, and jaxtyping's decorates methods.
check = beartype(conf=BeartypeConf(is_pep484_tower=True, hint_overrides=FrozenDict({Self: Any})))


def check_fields(kind: type) -> None:
    """Check a NamedTuple whenever it is made; the hook does so for dataclasses alone.

    JAX makes them of other things than arrays too, such as axes: those are let pass.
    """
    plain = kind.__new__
    plain.__annotations__ = get_type_hints(kind, include_extras=True)
    strict = jaxtyping.jaxtyped(plain, typechecker=check)

    def make(cls, *args, **kwargs):
        arrays = all(hasattr(value, "dtype") for value in (*args, *kwargs.values()))
        return (strict if arrays else plain)(cls, *args, **kwargs)

    kind.__new__ = make
