"""Today's log against the training's: what has moved, and how sure that is."""
