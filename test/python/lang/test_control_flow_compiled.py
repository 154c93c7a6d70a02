"""Control flow of the language, compiled to PTX and run on the simulator."""

import numpy as np
import pytest
import test_functions
import test_idioms
import test_loops
from plain_python import check

import tileir.lang as ct

_CASES = [*test_loops.CASES, *test_functions.CASES, *test_idioms.CASES]
#: A few in each run of the tests, all of them in the long one.
_QUICK = {"first_above", "return_from_nested_loops", "return_from_with"}


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        pytest.param(kernel, cases[-1], marks=() if kernel.name in _QUICK else pytest.mark.slow)
        for kernel, *cases in _CASES
    ],
    ids=lambda value: value.name if isinstance(value, ct.Kernel) else "",
)
def test_on_the_simulator(kernel, arguments):
    check(kernel, np.full(16, -1, np.int32), *arguments, backend="sim")
