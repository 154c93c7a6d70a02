"""Translation of an entry into the Python function that runs it, one module a kind of operation."""
