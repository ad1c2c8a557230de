"""`countmorl auto`: from a log to a policy that is shown to be better than it, or to none."""
