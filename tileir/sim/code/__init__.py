"""PTX functions to Python functions: one for each basic block."""
