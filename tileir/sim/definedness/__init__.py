"""Which bits of registers and of shared memory nobody has written."""
