"""Scalars of NumPy are Python's numbers in kernels."""

from __future__ import annotations

from typing import Any


def plain(value: Any) -> Any:
    """`value`, or the Python number that a scalar of NumPy is."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return value.item() if not hasattr(value, "__len__") else value
    return value
