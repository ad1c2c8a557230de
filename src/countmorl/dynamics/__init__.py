"""The learned model: an ensemble of Gaussian networks."""
