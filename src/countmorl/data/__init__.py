"""The data border: everything that enters is checked here once, then trusted."""
