"""The tasks that policies are judged on."""
