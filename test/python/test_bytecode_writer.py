"""The writer: what it refuses and why, what it writes in whose place, locations."""

from __future__ import annotations

from pathlib import Path

import pytest
from bytecode_support import disassemble

import tileir
from tileir import ir
from tileir.bytecode import SUPPORTED, read_bytecode, write_bytecode
from tileir.bytecode.decode import decode
from tileir.dialects import make_context
from tileir.errors import BytecodeError, VerificationError

# Values that the snippets below use.
PARAMETERS = "%p: tile<ptr<f32>>, %n: tile<i32>"
PRELUDE = """
  %f = constant <f32: 1.0> : tile<4xf32>
  %i = constant <i32: 1> : tile<4xi32>
  %b = constant <i8: 1> : tile<16xi8>
  %zero = constant <i32: 0> : tile<i32>
  %c = constant <i1: true> : tile<i1>
  %tok = make_token : token
  %tv = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %pv = make_partition_view %tv : partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>
"""  # noqa: E501
VIEW = "partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>"
TENSOR = "tensor_view<?xf32, strides=[1]>"


def kernel(body: str, entry_options: str = "", members: str = "", module: str = "") -> ir.Module:
    return tileir.parse(
        f"cuda_tile.module @m {module} {{ {members} entry @k({PARAMETERS}) {entry_options} "
        f"{{ {PRELUDE} {body} return }} }}"
    )


# (a snippet, the first version that holds it, what is named)
GATED = [
    ("%r = atan2 %f, %f : tile<4xf32>", "13.2", "cuda_tile.atan2 needs"),
    ("%r = tanh %f rounding<approx> : tile<4xf32>", "13.2", "cuda_tile.tanh with rounding_mode"),
    ("%r = negi %i overflow<no_signed_wrap> : tile<4xi32>", "13.2", "cuda_tile.negi with overflow"),
    (
        "for unsigned %x in (%n to %n, step %n) : tile<i32> { continue }",
        "13.2",
        "cuda_tile.for with unsignedCmp needs",
    ),
    (
        '%t = print_tko "x=%f", %f token=%tok : tile<4xf32> -> token',
        "13.2",
        "cuda_tile.print_tko with tokens needs",
    ),
    (
        '%t = print_tko "x=%f", %f : tile<4xf32> -> token %u = join_tokens %t, %t : token',
        "13.2",
        "cuda_tile.print_tko with tokens needs",
    ),
    (
        "%r = ftof %f rounding<zero> : tile<4xf32> -> tile<4xf8E8M0FNU>",
        "13.2",
        "type f8E8M0FNU needs",
    ),
    ("%r = exp %f rounding<approx> : tile<4xf32>", "13.3", "cuda_tile.exp with rounding_mode"),
    ("%r = pack %f : tile<4xf32> -> tile<16xi8>", "13.3", "cuda_tile.pack needs"),
    ("%r = unpack %b : tile<16xi8> -> tile<4xf32>", "13.3", "cuda_tile.unpack needs"),
    ("%r = alloca num_elem = 4, alignment = 8 : tile<ptr<f32>>", "13.3", "cuda_tile.alloca needs"),
    (
        f"%r = make_strided_view %tv : strided_view<tile=(4), traversal_strides=[3], {TENSOR}>",
        "13.3",
        "cuda_tile.make_strided_view needs",
    ),
    (
        "%r = make_gather_scatter_view %tv : "
        f"gather_scatter_view<tile=(4), {TENSOR}, sparse_dim=0>",
        "13.3",
        "cuda_tile.make_gather_scatter_view needs",
    ),
    (
        f"%r = atomic_red_view_tko relaxed device %pv[%zero], addf, %f : tile<4xf32>, {VIEW}, "
        "tile<i32> -> token",
        "13.3",
        "cuda_tile.atomic_red_view_tko needs",
    ),
    (
        "%m = constant <f8E4M3FN: 1.0> : tile<4x4xf8E4M3FN> "
        "%a = constant <f32: 0.0> : tile<4x4xf32> %r = mmaf %m, %m, %a fast_acc : "
        "tile<4x4xf8E4M3FN>, tile<4x4xf8E4M3FN>, tile<4x4xf32>",
        "13.3",
        "cuda_tile.mmaf with fast_acc needs",
    ),
    ("%r = constant <f4E2M1FN: 1.0> : tile<4xf4E2M1FN>", "13.3", "type f4E2M1FN needs"),
    (
        "%x, %t = load_view_tko weak %pv[%zero] optimization_hints = <default = {latency = 2}> "
        f": {VIEW}, tile<i32> -> tile<4xf32>, token",
        "13.3",
        "cuda_tile.load_view_tko with the hint 'default' needs",
    ),
    (
        "%r = ftoi %f signed saturating : tile<4xf32> -> tile<4xi32>",
        "13.4",
        "cuda_tile.ftoi with saturating needs",
    ),
    ("%r = fpowi %f, %i : tile<4xf32>, tile<4xi32>", "13.4", "cuda_tile.fpowi needs"),
    (
        "%s = extract %f[%zero] : tile<4xf32> -> tile<2xf32> "
        "%r = insert %s, %f[%zero] : tile<2xf32>, tile<4xf32>",
        "13.4",
        "cuda_tile.insert needs",
    ),
    ("%t = gdc_wait_tko -> token", "13.4", "cuda_tile.gdc_wait_tko needs"),
    ("%t = gdc_launch_dependents_tko -> token", "13.4", "gdc_launch_dependents_tko needs"),
    ("%t = memory_fence_alias_tko %tok", "13.4", "cuda_tile.memory_fence_alias_tko needs"),
    (
        "%r = ftof %f rounding<nearest_away> : tile<4xf32> -> tile<4xtf32>",
        "13.4",
        "cuda_tile.ftof with rounding_mode nearest_away needs",
    ),
    (
        "%r = ftof %f rounding<zero> : tile<4xf32> -> tile<4xf16>",
        "13.4",
        "cuda_tile.ftof to f16 with rounding_mode zero needs",
    ),
    (
        f"%x, %t = load_view_tko weak %pv[%zero] inbounds = [true] : {VIEW}, tile<i32> "
        "-> tile<4xf32>, token",
        "13.4",
        "cuda_tile.load_view_tko with inbounds needs",
    ),
    (
        "%q = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<f32, <none>>>",
        "13.4",
        "type !cuda_tile.ptr<f32, <none>> needs",
    ),
    (
        "%q = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<f32, <unicast>>>",
        "13.5",
        "type !cuda_tile.ptr<f32, <unicast>> needs",
    ),
]


@pytest.mark.parametrize(("snippet", "since", "what"), GATED, ids=[what for *_, what in GATED])
def test_refuses_what_is_newer(snippet: str, since: str, what: str, tmp_path: Path) -> None:
    module = kernel(snippet)
    for version in map(str, SUPPORTED):
        if version >= since:
            written = write_bytecode(module, version)
            assert str(read_bytecode(written)).count("@k(") == 1
            disassemble(written, tmp_path)
            continue
        with pytest.raises(BytecodeError) as raised:
            write_bytecode(module, version)
        assert what in raised.value.reason
        assert f"or newer, {version} was asked for" in raised.value.reason
        assert str(raised.value).startswith("<text>:")
    with pytest.raises(BytecodeError, match=f"needs bytecode {since} or newer"):
        write_bytecode(module, SUPPORTED[[str(v) for v in SUPPORTED].index(since) - 1])


@pytest.mark.parametrize(
    ("options", "members", "what"),
    [
        ("", "global private @g <f32: [1.0, 2.0]> : tile<2xf32>", "global that is private needs"),
        ("", "global constant @g <f32: [1.0, 2.0]> : tile<2xf32>", "global that is constant needs"),
        ("optimization_hints=<default = {occupancy = 2}>", "", "hint 'default' needs"),
        (
            "optimization_hints=<sm_90 = {num_worker_warps_per_cta = 4}>",
            "",
            "hint 'num_worker_warps_per_cta' needs",
        ),
    ],
)
def test_refuses_newer_globals_and_hints(options: str, members: str, what: str) -> None:
    module = kernel("", options, members)
    with pytest.raises(BytecodeError, match=f"{what} bytecode 13.3 or newer, 13.2 was asked for"):
        write_bytecode(module, "13.2")
    assert write_bytecode(module, "13.3")


def test_refuses_newer_inbounds_of_an_older_operation() -> None:
    module = kernel(
        "%r = atomic_red_view_tko relaxed device %pv[%zero], addf, %f inbounds = [true] : "
        f"tile<4xf32>, {VIEW}, tile<i32> -> token"
    )
    reason = "cuda_tile.atomic_red_view_tko with inbounds needs bytecode 13.5 or newer, 13.4 was"
    with pytest.raises(BytecodeError, match=reason):
        write_bytecode(module, "13.4")
    assert "inbounds = [true]" in str(read_bytecode(write_bytecode(module, "13.5")))


def test_names_the_operation_its_place_and_the_version() -> None:
    module = tileir.parse(
        "cuda_tile.module @m { entry @k(%x: tile<f32>) {\n"
        '  %r = atan2 %x, %x : tile<f32> loc("k.py":4:5)\n  return } }'
    )
    with pytest.raises(BytecodeError) as raised:
        write_bytecode(module, "13.1")
    expected = "k.py:4:5: cuda_tile.atan2 needs bytecode 13.2 or newer, 13.1 was asked for"
    assert str(raised.value) == expected


def test_names_the_entry_where_there_is_no_location() -> None:
    module = tileir.parse(
        "cuda_tile.module @m { entry @k(%x: tile<f32>) {"
        "  %r = atan2 %x, %x : tile<f32> loc(unknown) return loc(unknown) } loc(unknown) }"
    )
    with pytest.raises(BytecodeError) as raised:
        write_bytecode(module, "13.1")
    assert raised.value.location == "@k"


def test_refuses_extended_modules() -> None:
    module = kernel("", module="attributes {cuda_tile.extended}")
    with pytest.raises(BytecodeError, match="marked cuda_tile.extended has no place") as raised:
        write_bytecode(module)
    assert raised.value.remedy


def test_refuses_other_modules() -> None:
    with make_context(), ir.Location.unknown():
        with pytest.raises(BytecodeError, match="holds one cuda_tile.module, here are 0"):
            write_bytecode(ir.Module.create())
        module = ir.Module.parse("module { func.func private @f() }")
        with pytest.raises(BytecodeError, match="func.func has no place in Tile IR bytecode"):
            write_bytecode(module)


def test_refuses_other_dialects_in_a_body() -> None:
    module = kernel('%x = "arith.constant"() {value = 1 : i32} : () -> i32')
    with pytest.raises(BytecodeError, match=r"arith.constant has no place in Tile IR bytecode"):
        write_bytecode(module)


def test_refuses_regions_nested_too_deeply() -> None:
    deep = "if %c {" * 201 + "}" * 201
    with pytest.raises(BytecodeError, match="cuda_tile.if is nested in more than 200 regions"):
        write_bytecode(kernel(deep))
    assert read_bytecode(write_bytecode(kernel("if %c {" * 200 + "}" * 200)))


def test_refuses_attributes_without_a_place() -> None:
    module = kernel("%r = absf %f {llvm.note} : tile<4xf32>")
    with pytest.raises(BytecodeError, match="has an attribute 'llvm.note'") as raised:
        write_bytecode(module)
    assert raised.value.remedy == "remove the attribute"


def test_refuses_modules_that_do_not_verify() -> None:
    module = kernel("%r = absf %f : tile<4xf32>")
    entry = module.body.operations[0].regions[0].blocks[0].operations[0]
    absf = next(op for op in entry.regions[0].blocks[0] if op.operation.name == "cuda_tile.absf")
    pointer = entry.regions[0].blocks[0].arguments[0]
    absf.operation.operands[0] = pointer
    with pytest.raises(VerificationError, match="must be tile of f16, bf16, f32 or f64"):
        write_bytecode(module)


def test_refuses_unknown_versions() -> None:
    with pytest.raises(BytecodeError, match="bytecode version 13.6 is not supported"):
        write_bytecode(kernel(""), "13.6")


def test_takes_a_tile_module_as_well() -> None:
    module = kernel("")
    inner = module.body.operations[0]
    assert write_bytecode(inner) == write_bytecode(module) == write_bytecode(module.operation)


# ---------------------------------------------------------------------------------------------
# What is written in whose place
# ---------------------------------------------------------------------------------------------


def _names(data: bytes) -> list[str]:
    return [op.spec.name for op in decode(data).functions[0].body]


def test_pow_is_fpowf() -> None:
    data = write_bytecode(kernel("%r = pow %f, %f : tile<4xf32>"), "13.1")
    assert "fpowf" in _names(data)
    assert "fpowf %" in str(read_bytecode(data))


@pytest.mark.parametrize("version", ["13.1", "13.2", "13.5"])
@pytest.mark.parametrize(
    "snippet",
    ['print "x=%f", %f : tile<4xf32>', '%t = print_tko "x=%f", %f : tile<4xf32> -> token'],
)
def test_print_and_print_tko_without_tokens(snippet: str, version: str, tmp_path: Path) -> None:
    # The operation after it shows that values are numbered rightly.
    data = write_bytecode(
        kernel(f"{snippet} %r = absf %f : tile<4xf32> %s = negf %r : tile<4xf32>"), version
    )
    module = str(read_bytecode(data))
    assert 'print_tko "x=%f", %' in module
    assert "negf" in module
    assert "print_tko" in disassemble(data, tmp_path)


def test_defaults_need_no_newer_version() -> None:
    body = """
      %r1 = exp %f rounding<full> : tile<4xf32>
      %r2 = tanh %f rounding<full> : tile<4xf32>
      %r3 = negi %i overflow<none> : tile<4xi32>
    """
    module = kernel(body)
    assert str(read_bytecode(write_bytecode(module, "13.1"))).count("rounding") == 0


def test_inbounds_that_promise_nothing_need_no_newer_version() -> None:
    body = (
        f"%x, %t = load_view_tko weak %pv[%zero] inbounds = [false] : {VIEW}, tile<i32> "
        "-> tile<4xf32>, token"
    )
    for version in ("13.1", "13.4"):
        assert "inbounds" not in str(read_bytecode(write_bytecode(kernel(body), version)))


def test_an_if_without_else() -> None:
    data = write_bytecode(kernel('if %c { assert %c, "bad" : tile<i1> }'))
    (branch,) = [op for op in decode(data).functions[0].body if op.spec.name == "if"]
    assert branch.regions[1] is None


def test_producer_is_kept_from_13_3_on() -> None:
    module = kernel("", module='producer "test"').operation
    assert 'producer "test"' in str(read_bytecode(write_bytecode(module, "13.3")))
    assert "producer" not in str(read_bytecode(write_bytecode(module, "13.2")))


def test_written_bytes_are_deterministic() -> None:
    texts = {write_bytecode(kernel("%r = absf %f : tile<4xf32>")) for _ in range(3)}
    assert len(texts) == 1


# ---------------------------------------------------------------------------------------------
# Constants
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("constant", "data"),
    [
        ("<i1: true> : tile<i1>", "ff"),
        ("<i1: false> : tile<16xi1>", "00"),
        ("<i1: true> : tile<16xi1>", "ff"),
        ("<i1: [true, false, true, false]> : tile<4xi1>", "05"),
        ("<i8: [1, -1]> : tile<2xi8>", "01ff"),
        ("<i32: 7> : tile<4x4xi32>", "07000000"),
        ("<i64: -2> : tile<i64>", "feffffffffffffff"),
        ("<f16: [1.0, -2.0]> : tile<2xf16>", "003c00c0"),
        ("<bf16: 1.0> : tile<8xbf16>", "803f"),
        ("<f64: 1.0> : tile<f64>", "000000000000f03f"),
        ("<tf32: [1.0, -1.0]> : tile<2xtf32>", "00fc0100fc05"),  # 19 bits in 3 bytes
        ("<f8E4M3FN: [1.0, 448.0]> : tile<2xf8E4M3FN>", "387e"),
        ("<f8E5M2: 1.0> : tile<2xf8E5M2>", "3c"),
        ("<f8E8M0FNU: 1.0> : tile<2xf8E8M0FNU>", "7f"),
        ("<f4E2M1FN: [1.0, -6.0]> : tile<2xf4E2M1FN>", "020f"),  # one byte each
        ("<f32: 0.0> : tile<4096x4096xf32>", "00000000"),  # 2^24 elements
    ],
)
def test_bytes_of_constants(constant: str, data: str, tmp_path: Path) -> None:
    module = tileir.parse(
        f"cuda_tile.module @m {{ entry @k() {{ %c = constant {constant} return }} }}"
    )
    written = write_bytecode(module)
    assert [c.hex() for c in decode(written).constants] == [data]
    assert str(read_bytecode(written)) == str(module).replace("@m", "@kernels")
    disassemble(written, tmp_path)


@pytest.mark.parametrize(
    ("type", "identity"),
    [
        ("f64", "0xFFF0000000000000"),
        ("f64", "0x7FF0000000000000"),
        ("f64", "-2.5"),
        ("f32", "0xFF800000"),
        ("f32", "0x7FC00001"),
        ("f16", "0xFC00"),
        ("bf16", "-0.0"),
        ("i64", "-9223372036854775808"),
        ("i32", "-1"),
        ("i1", "true"),
    ],
)
def test_identities_keep_their_bits(type: str, identity: str, tmp_path: Path) -> None:
    op = "maxf %a, %b" if type[0] != "i" else "andi %a, %b"
    value = identity if type == "i1" else f"{identity} : {type}"
    zero = "false" if type == "i1" else ("0" if type[0] == "i" else "0.0")
    text = f"""cuda_tile.module @m {{ entry @k() {{
      %x = constant <{type}: {zero}> : tile<8x{type}>
      %r = reduce %x dim=0 identities=[{value}] : tile<8x{type}> -> tile<{type}>
      (%a: tile<{type}>, %b: tile<{type}>) {{ %m = {op} : tile<{type}> yield %m : tile<{type}> }}
      return }} }}"""
    module = tileir.parse(text)
    written = write_bytecode(module)
    assert str(read_bytecode(written)) == str(module).replace("@m", "@kernels")
    printed = disassemble(written, tmp_path)
    (ours,) = [line for line in str(module).splitlines() if "identities" in line]
    identities = ours[ours.index("identities") : ours.index("]") + 1]
    assert identities in printed
