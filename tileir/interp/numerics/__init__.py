"""Number formats and exact arithmetic on NumPy arrays; nothing here knows about the IR."""
