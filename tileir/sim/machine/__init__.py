"""The machine that runs translated code: warps, memory, barriers, asynchronous operations."""
