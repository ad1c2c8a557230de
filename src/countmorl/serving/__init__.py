"""A bundle behind a small HTTP service: actions with their counts, over JSON."""
