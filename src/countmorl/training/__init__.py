"""From a dataset and an algorithm to a run."""
