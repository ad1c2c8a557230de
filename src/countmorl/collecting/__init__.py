"""Data made with a simulator."""
