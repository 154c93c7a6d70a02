"""The operation battery: small kernels that run every operation on values that matter.

Each module but `kernel`, `values` and `writing` is a family with a function `kernels()`, which
yields `Kernel`s. `make_op_cases.py` compiles them, computes what they must give, and writes both
for `run_cases.py`.
"""
