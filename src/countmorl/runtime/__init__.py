"""What runs in production: NumPy, never JAX, no package of tables."""
