"""Finite worlds: exact counts, exact planning, and guarantees that can be computed."""
