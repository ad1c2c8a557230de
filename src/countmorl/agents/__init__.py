"""Learners of policies: each is a pytree with an `update` and a way to act."""
