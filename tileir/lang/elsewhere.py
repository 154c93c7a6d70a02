"""What programs are told that use names of other languages and libraries.

Kernels are often written by people who know Triton, NumPy or PyTorch. Where such a name is not
ours, the error says what is.
"""

from __future__ import annotations

from typing import Any

#: Functions that `tileir.lang` does not have.
_FUNCTIONS = {
    "block_id": "write ct.bid(axis)",
    "program_id": "write ct.bid(axis)",
    "num_programs": "write ct.num_blocks(axis)",
    "static_range": "write ct.static_iter(range(n))",
    "constexpr": "annotate the parameter with ct.Constant[int]",
    "empty": "write ct.zeros(shape, dtype=...): a tile is a value and always has one",
    "zeros_like": "write ct.zeros(x.shape, dtype=x.dtype)",
    "full_like": "write ct.full(x.shape, value, dtype=x.dtype)",
    "array": "write ct.astile(...) for a tile of a few scalars",
    "tensor": "write ct.astile(...) for a tile of a few scalars",
    "concatenate": "write ct.cat((x, y), axis)",
    "concat": "write ct.cat((x, y), axis)",
    "trans": "write ct.transpose(x)",
    "squeeze": "write ct.reshape(x, shape)",
    "unsqueeze": "write ct.expand_dims(x, axis)",
    "view": "write ct.reshape(x, shape)",
    "cast": "write x.astype(dtype)",
    "mean": "write ct.sum(x, axis) / n",
    "clip": "write ct.minimum(ct.maximum(x, low), high)",
    "clamp": "write ct.minimum(ct.maximum(x, low), high)",
    "square": "write x * x",
    "fma": "write x * y + z, which becomes one operation",
    "erf": "GELU is ct.gelu(x)",
    "multiple_of": "write ct.assume_divisible_by(x, divisor)",
    "device_print": "write ct.printf(format, ...)",
    "device_assert": "write ct.assert_(condition, message)",
    "sync_threads": "nothing to wait for: a block is one thread of control to the language",
    "syncthreads": "nothing to wait for: a block is one thread of control to the language",
}

#: Methods of PyTorch's tensors that convert, and the dtypes that they convert to.
_CONVERSIONS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "char": "int8",
    "bool": "bool_",
}

#: Keyword arguments that ours do not have.
_KEYWORDS = {
    "mask": "what lies beyond the array is neither read nor written; where a mask says so, use "
    "ct.gather and ct.scatter",
    "other": "write padding_mode=ct.PaddingMode.ZERO (or NEG_INF, NAN, ...)",
    "padding": "write padding_mode=ct.PaddingMode.ZERO (or NEG_INF, NAN, ...)",
    "padding_option": "write padding_mode=ct.PaddingMode.ZERO (or NEG_INF, NAN, ...)",
    "boundary_check": "what lies beyond the array is neither read nor written",
    "dim": "write axis=...",
    "keep_dims": "write keepdims=True",
    "keepdim": "write keepdims=True",
    "dims": "write axis=...",
}


def function(name: str) -> str | None:
    """What to write instead of the function `ct.name`, which does not exist."""
    return _FUNCTIONS.get(name)


def method(name: str) -> str | None:
    """What to write instead of the method `name` of a tile, which does not exist."""
    import tileir.lang

    if name in _CONVERSIONS:
        return f"write x.astype(ct.{_CONVERSIONS[name]})"
    if name in tileir.lang.__all__:
        return f"write ct.{name}(x, ...)"
    if name == "T":
        return "write ct.transpose(x)"
    if name == "to":
        return "write x.astype(dtype)"
    return _FUNCTIONS.get(name)


def keyword(error: Any) -> str | None:
    """What to write instead of a keyword argument, from Python's error about it."""
    text = str(error)
    return next((hint for name, hint in _KEYWORDS.items() if f"argument '{name}'" in text), None)
