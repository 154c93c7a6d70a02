"""The kernel cases of test/data/kernels, against their expected results."""

from __future__ import annotations

import pytest
from kernel_cases import case_names, load_case

import tileir
from tileir import interp


@pytest.mark.parametrize("check", (True, False), ids=("checked", "unchecked"))
@pytest.mark.parametrize("name", case_names())
def test_kernel(name, check):
    case = load_case(name)
    args = case.args()
    interp.run(tileir.read_bytecode(case.bytecode), case.symbol, case.grid, args, check=check)
    result = case.compare(args)
    assert result.passed, result.failures
