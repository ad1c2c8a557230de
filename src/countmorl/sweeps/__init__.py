"""Many runs as one thing: a plan, engines that carry it out, and what shows how far they are."""
