"""From a run to a folder that goes into production."""
