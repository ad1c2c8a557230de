"""What runs in production: NumPy and safetensors, never JAX, no package of tables."""
