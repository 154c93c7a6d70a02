"""What the reader finds when it builds MLIR: rules of types, constants and operations."""

from __future__ import annotations

import sys

import pytest
from bytecode_support import case

from tileir.bytecode import read_bytecode, write_bytecode
from tileir.bytecode.decode import decode
from tileir.bytecode.decode_body import MAX_REGION_DEPTH
from tileir.bytecode.encode import encode
from tileir.bytecode.records import Block, File, Function, Op, Record
from tileir.bytecode.schema import BY_NAME
from tileir.bytecode.tags import DEBUG, TYPES
from tileir.bytecode.version import V13_1
from tileir.dialects import make_context
from tileir.errors import BytecodeError, VerificationError


def op_of(file: File, name: str) -> Op:
    return next(op for op in file.functions[0].body if op.spec.name == name)


def type_record(name: str, **fields) -> Record:
    return Record(TYPES.by_name[name], fields)


def simple(body: list[Op], constants: list[bytes] | None = None, *types: Record) -> bytes:
    """A file with one entry without parameters. Types: 0 i1, 1 tile<i1>, 2 () -> (), `types`."""
    known = [
        type_record("i1"),
        type_record("tile", element=0, shape=()),
        type_record("function", inputs=(), results=()),
    ]
    return encode(
        File(V13_1, [b"k"], known + list(types), constants or [], functions=[Function(0, 2, body)])
    )


def constant(type: int, value: int = 0) -> Op:
    return Op(BY_NAME["constant"], [type], {"value": value}, [])


def plain(name: str) -> Op:
    return Op(BY_NAME[name], [], {}, [])


def test_reads_into_the_given_or_current_context() -> None:
    context = make_context()
    assert read_bytecode(case("vadd-13.3"), context).context == context
    with context:
        assert read_bytecode(case("vadd-13.3")).context == context
    assert read_bytecode(case("vadd-13.3")).context != context


def test_a_rule_of_an_operation_gives_source_and_offset() -> None:
    file = decode(case("vadd-13.3"))
    op_of(file, "addf").operands[0] = 0  # a pointer
    with pytest.raises(VerificationError) as raised:
        read_bytecode(encode(file))
    assert "operand #0 must be tile of f16, bf16, f32 or f64" in raised.value.reason
    assert raised.value.location == f"/kernels/kernels.py:19:33, byte {op_of(file, 'addf').offset}"


def test_a_rule_of_an_operation_in_a_region() -> None:
    file = decode(case("mm-13.3"))
    (block,) = op_of(file, "for").regions
    assert block is not None
    mmaf = next(op for op in block.operations if op.spec.name == "mmaf")
    mmaf.operands.reverse()
    with pytest.raises(VerificationError) as raised:
        read_bytecode(encode(file))
    assert raised.value.location == f"/kernels/kernels.py:28:14, byte {mmaf.offset}"


IOTA = (type_record("i32"), type_record("tile", element=3, shape=(4,)))  # types 3 and 4


def test_a_block_without_terminator() -> None:
    with pytest.raises(VerificationError, match="byte 17: block with no terminator"):
        read_bytecode(simple([Op(BY_NAME["iota"], [4], {}, [])], None, *IOTA))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (type_record("tile", element=0, shape=(3,)), "dimension 3 of a tile is not a power of two"),
        (type_record("tile", element=0, shape=(0,)), "dimension 0 of a tile is not a power of two"),
        (type_record("tile", element=0, shape=(1 << 25,)), "16777216 elements"),
        (type_record("tile", element=0, shape=(1 << 40, 1 << 40)), "elements"),
        (type_record("tensor_view", element=0, shape=(0,), strides=(1,)), "must be positive"),
        (type_record("tensor_view", element=0, shape=(4,), strides=()), "strides"),
    ],
)
def test_a_rule_of_a_type_gives_its_offset(record: Record, reason: str) -> None:
    data = simple([Op(BY_NAME["make_token"], [3], {}, []), plain("return")], None, record)
    with pytest.raises(BytecodeError) as raised:
        read_bytecode(data)
    assert reason in raised.value.reason
    where = int((raised.value.location or "").removeprefix("byte "))
    assert data[where] in (record.spec.tag, len(record.fields["shape"]))


@pytest.mark.parametrize("data", [b"", b"\0\0", b"\0\0\0\0\0", bytes(15), bytes(17)])
def test_a_constant_holds_one_element_or_all(data: bytes) -> None:
    file = simple([constant(4), plain("return")], [data], *IOTA)
    with pytest.raises(BytecodeError, match="constant 0: .* neither one element nor the 4 of"):
        read_bytecode(file)


def test_a_constant_of_pointers() -> None:
    types = (
        type_record("i32"),
        type_record("ptr", pointee=3),
        type_record("tile", element=4, shape=()),
    )
    file = simple([constant(5), plain("return")], [bytes(8)], *types)
    with pytest.raises(BytecodeError, match="constants of !cuda_tile.ptr<i32> are not supported"):
        read_bytecode(file)


def test_a_splat_of_many_elements_is_not_expanded() -> None:
    types = (type_record("i32"), type_record("tile", element=3, shape=(4096, 4096)))
    file = simple([constant(4), plain("return")], [b"\1\0\0\0"], *types)
    assert "constant <i32: 1> : tile<4096x4096xi32>" in str(read_bytecode(file))


def test_a_constant_under_too_many_types() -> None:
    """1 MiB of data, for which 700 types would make 700 MiB."""
    count = 1 << 18
    types = [type_record("i32")]
    types += [
        type_record("tile", element=3, shape=(1 << k, *[1] * ones, count >> k))
        for k in range(18)
        for ones in range(40)
    ]
    body = [constant(4 + k) for k in range(700)] + [plain("return")]
    data = simple(body, [bytes(range(256)) * (count // 64)], *types)
    with pytest.raises(BytecodeError, match="constants are used under too many types"):
        read_bytecode(data)


def test_i1_constants() -> None:
    types = (
        type_record("tile", element=0, shape=(4,)),
        type_record("tile", element=0, shape=(16,)),
    )
    body = [constant(3), constant(1), constant(4, 1), plain("return")]
    module = str(read_bytecode(simple(body, [b"\1", b"\xff"], *types)))
    assert "<i1: [true, false, false, false]>" in module
    assert "constant <i1: true> : tile<i1>" in module
    assert "constant <i1: true> : tile<16xi1>" in module
    with pytest.raises(BytecodeError, match="neither one element nor the 16"):
        read_bytecode(simple([constant(4), plain("return")], [b"\1"], *types))


def test_inbounds_go_with_the_indices() -> None:
    file = decode(case("vadd-13.4"))
    load = op_of(file, "load_view_tko")
    for inbounds in ((True, False), (False, False)):
        load.attributes["inbounds"] = inbounds
        reason = f"byte {load.offset}: inbounds has 2 entries for 1 indices"
        with pytest.raises(BytecodeError, match=reason):
            read_bytecode(encode(file))


def test_deepest_regions() -> None:
    body: list[Op] = []
    for _ in range(MAX_REGION_DEPTH):
        inside = Block([], [*body, plain("yield")])
        body = [Op(BY_NAME["if"], [], {}, [0], regions=[inside, None])]
    data = simple([constant(1), *body, plain("return")], [b"\xff"])
    frames = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        frames, frame = frames + 1, frame.f_back
    assert frames + 2 * MAX_REGION_DEPTH < sys.getrecursionlimit()
    module = read_bytecode(data)
    assert str(module).count("if %") == MAX_REGION_DEPTH
    assert str(read_bytecode(write_bytecode(module, "13.1"))) == str(module)


def test_deep_and_shared_debug_records() -> None:
    file = decode(case("vadd-13.3"))
    for number in range(190):
        scope = len(file.debug) if number else 3
        fields = {"scope": scope, "file": 1, "line": 1, "column": number}
        file.debug.append(Record(DEBUG.by_name["lexical_block"], fields))
    fields = {"scope": len(file.debug), "filename": 0, "line": 1, "column": 1}
    file.debug.append(Record(DEBUG.by_name["loc"], fields))
    file.functions[0].body[0].location = len(file.debug)
    module = read_bytecode(encode(file))
    assert str(module.operation.get_asm(enable_debug_info=True)).count("di_lexical_block") >= 190
    for _ in range(20):  # 2^20 nodes if followed through
        same = len(file.debug)
        file.debug.append(Record(DEBUG.by_name["call_site"], {"callee": same, "caller": same}))
    with pytest.raises(BytecodeError, match="debug scopes or call sites are nested too deeply"):
        read_bytecode(encode(file))


@pytest.mark.parametrize("what", ["global", "entry"])
def test_symbols_are_unique(what: str) -> None:
    file = decode(case("all-ops-13.3"))
    name = "k" if what == "entry" else "g0"
    file.globals[1].name = file.strings.index(name.encode())
    with pytest.raises(BytecodeError, match=f"symbol '{name}' is defined twice"):
        read_bytecode(encode(file))


def test_get_global_names_a_global() -> None:
    file = decode(case("all-ops-13.3"))
    get = op_of(file, "get_global")
    get.attributes["name"] = file.strings.index(b"k")
    with pytest.raises(BytecodeError, match=f"byte {get.offset}: there is no global 'k'"):
        read_bytecode(encode(file))


@pytest.mark.parametrize("name", [b"", b"\xff"])
def test_symbols_are_names(name: bytes) -> None:
    file = decode(case("vadd-13.3"))
    file.strings.append(name)
    file.functions[0].name = len(file.strings) - 1
    with pytest.raises(BytecodeError, match="byte 17: a symbol must be UTF-8 and not empty"):
        read_bytecode(encode(file))


def test_messages_need_not_be_utf8() -> None:
    file = decode(case("all-ops-13.3"))
    check = op_of(file, "assert")
    file.strings[check.attributes["message"]] = b"a\xff"
    data = encode(file)
    written = write_bytecode(read_bytecode(data), "13.3")
    assert b"a\xff" in decode(written).strings
