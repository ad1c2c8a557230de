"""What runs in production: NumPy only, never JAX."""
