"""Evidence about the method itself: grid worlds, theorems."""
