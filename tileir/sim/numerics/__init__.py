"""Arithmetic of PTX on NumPy arrays."""
