"""Where a log is dense, where it is thin, and where a policy goes."""
