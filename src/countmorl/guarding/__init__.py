"""Choosing a guard: thresholds from the log, what each of them costs, and what it keeps."""
