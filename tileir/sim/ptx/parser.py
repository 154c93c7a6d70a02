"""PTX text to a `Module`."""

from __future__ import annotations

from typing import Any

from ...errors import ParseError
from .declarations import parse_register, parse_variable
from .lexer import Tokens
from .operands import OperandParser
from .scope import Registers, Scope
from .syntax import (
    Function,
    Instruction,
    Module,
    Negated,
    Operand,
    Register,
    Statement,
    Variable,
)

_LINKAGE = (".visible", ".extern", ".weak", ".common")
_SPACES = (".global", ".const", ".shared", ".local", ".param", ".tex")
_TUNING = {
    *(".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg"),
    *(".reqnctapercluster", ".maxclusterrank", ".explicitcluster", ".noreturn"),
    *(".blocksareclusters", ".abi_preserve", ".abi_preserve_control", ".unified"),
}


def parse(text: str, name: str = "ptx") -> Module:
    """Parses PTX; `name` stands for it in messages (`name:line`).

    Raises `ParseError` for text that is no PTX. Opcodes and their modifiers are not looked at.
    """
    return _Parser(text, name).parse()


class _Parser:
    def __init__(self, text: str, name: str):
        self._tokens = Tokens(text, name)
        self._module = Module(name, text)
        self._files: dict[int, str] = {}
        self._place: tuple[int, int, int] | None = None

    def parse(self) -> Module:
        while self._tokens.kind != "end":
            self._top_level()
        if not self._module.functions:
            raise ParseError("the text has no function", location=self._module.name)
        return self._module

    def _top_level(self) -> None:
        tokens = self._tokens
        linkage = ""
        while tokens.text in _LINKAGE:
            linkage = tokens.advance()[1:]
        text = tokens.text
        if text == ".version":
            tokens.advance()
            self._module.version = tokens.expect_kind("number", "a version")
        elif text == ".target":
            tokens.advance()
            self._module.target = tokens.word()
            while tokens.accept(","):
                tokens.advance()
        elif text == ".address_size":
            tokens.advance()
            if tokens.integer() != 64:
                raise tokens.error("only 64-bit addresses are supported")
        elif text in (".entry", ".func"):
            self._function(linkage)
        elif text in _SPACES:
            variable = parse_variable(tokens, self._module, Scope(Registers()), linkage)
            self._module.variables[variable.name] = variable
            tokens.expect(";")
        elif not self._debug_or_pragma():
            raise tokens.error(f"expected a declaration, found {tokens.found}")

    # --- debug information -----------------------------------------------------------------------

    def _debug_or_pragma(self) -> bool:
        tokens = self._tokens
        text = tokens.text
        if text == ".loc":
            self._loc()
        elif text == ".file":
            tokens.advance()
            number = tokens.integer()
            self._files[number] = tokens.expect_kind("string", "a file name")[1:-1]
            while tokens.accept(","):
                tokens.integer()
        elif text == ".section":
            tokens.advance()
            tokens.advance()
            self._skip_braces()
        elif text in (".pragma", ".alias"):
            while not tokens.accept(";"):
                tokens.advance()
        else:
            return False
        return True

    def _loc(self) -> None:
        tokens = self._tokens
        tokens.expect(".loc")
        file, line, column = tokens.integer(), tokens.integer(), tokens.integer()
        while tokens.accept(","):
            if tokens.word() == "function_name":
                tokens.word()
                if tokens.accept("+"):
                    tokens.integer()
            else:  # inlined_at: the place of the call; the callee's own is the better one
                for _ in range(3):
                    tokens.integer()
        self._place = (file, line, column) if line else None

    def _skip_braces(self) -> None:
        tokens = self._tokens
        tokens.expect("{")
        depth = 1
        while depth:
            if tokens.kind == "end":
                raise tokens.error("a section without end")
            text = tokens.advance()
            depth += (text == "{") - (text == "}")

    # --- functions -------------------------------------------------------------------------------

    def _function(self, linkage: str) -> None:
        tokens = self._tokens
        line = tokens.line()
        is_entry = tokens.advance() == ".entry"
        registers = Registers()
        scope = Scope(registers)
        while tokens.text in _TUNING:
            tokens.advance()
        results = self._parameters(scope) if tokens.text == "(" else []
        name = tokens.word()
        parameters = self._parameters(scope) if tokens.text == "(" else []
        function = self._module.functions.get(name)
        if function is None or function.body is None:
            function = function or Function(name, is_entry)
            self._module.functions[name] = function
        else:
            raise tokens.error(f"function '{name}' is defined twice")
        function.parameters, function.results, function.line = parameters, results, line
        function.directives = self._directives()
        self._place = None
        if tokens.accept(";"):
            return
        function.body = []
        body = _Body(self, function, scope)
        body.parse()
        missing = scope.resolve_labels()
        if missing is not None:
            raise tokens.error(f"'{missing}' is no register, variable or label of '{name}'")
        function.registers = registers.all

    def _parameters(self, scope: Scope) -> list[Variable | Register]:
        tokens = self._tokens
        tokens.expect("(")
        found: list[Variable | Register] = []
        while not tokens.accept(")"):
            if found:
                tokens.expect(",")
            if tokens.text == ".reg":
                found += parse_register(tokens, scope)
            else:
                variable = parse_variable(tokens, self._module, scope, "")
                scope.variables[variable.name] = variable
                found.append(variable)
        return found

    def _directives(self) -> dict[str, tuple[int, ...]]:
        tokens = self._tokens
        found: dict[str, tuple[int, ...]] = {}
        while tokens.text in _TUNING or tokens.text == ".pragma":
            if tokens.text == ".pragma":
                self._debug_or_pragma()
                continue
            name = tokens.advance()[1:]
            numbers = []
            while tokens.kind == "number":
                numbers.append(tokens.integer())
                tokens.accept(",")
            found[name] = tuple(numbers)
        return found

    @property
    def tokens(self) -> Tokens:
        return self._tokens

    @property
    def module(self) -> Module:
        return self._module

    @property
    def place(self) -> tuple[int, int, int] | None:
        return self._place

    @property
    def files(self) -> dict[int, str]:
        return self._files

    def skip_debug_or_pragma(self) -> bool:
        return self._debug_or_pragma()


class _Body:
    """The statements of one function."""

    def __init__(self, parser: _Parser, function: Function, scope: Scope):
        self._parser = parser
        self._tokens = parser.tokens
        self._function = function
        self._operands = OperandParser(parser.tokens, parser.module, scope)
        assert function.body is not None
        self._statements: list[Statement] = function.body

    def parse(self) -> None:
        self._tokens.expect("{")
        while not self._tokens.accept("}"):
            self._statement()

    @property
    def _scope(self) -> Scope:
        return self._operands.scope

    def _statement(self) -> None:
        tokens = self._tokens
        if tokens.kind == "word" or tokens.text == "@":
            self._instruction_or_label()
        elif tokens.text == "{":
            outer = self._operands.scope
            self._operands.scope = Scope(outer._registers, outer)
            self.parse()
            self._operands.scope = outer
        elif tokens.text == ".reg":
            parse_register(tokens, self._scope)
            tokens.expect(";")
        elif tokens.text in _SPACES:
            variable = parse_variable(tokens, self._parser.module, self._scope, "")
            self._scope.variables[variable.name] = variable
            self._function.variables.append(variable)
            tokens.expect(";")
        elif not tokens.accept(";") and not self._parser.skip_debug_or_pragma():
            raise tokens.error(f"expected a statement, found {tokens.found}")

    def _instruction_or_label(self) -> None:
        tokens = self._tokens
        start = tokens.start
        guard = self._guard() if tokens.accept("@") else None
        opcode = tokens.word()
        if guard is None and tokens.accept(":"):
            self._label(opcode)
            return
        operands: list[Operand] = []
        while tokens.text != ";":
            if operands and tokens.text != "(" and opcode.split(".")[0] != "call":
                tokens.expect(",")
            elif operands:
                tokens.accept(",")
            operands.append(self._operands.operand())
        instruction = Instruction(
            opcode,
            tuple(operands),
            guard,
            tokens.line(start),
            self._parser.place,
            self._parser.files,
            (start, tokens.start + 1),
            tokens.source,
        )
        tokens.expect(";")
        self._statements.append(instruction)

    def _guard(self) -> Any:
        tokens = self._tokens
        negated = tokens.accept("!")
        name = tokens.word()
        register = self._scope.register(name)
        if register is None:
            raise tokens.error(f"unknown predicate '{name}'")
        return Negated(register) if negated else register

    def _label(self, name: str) -> None:
        tokens = self._tokens
        if tokens.text == ".branchtargets":
            tokens.advance()
            labels = [self._scope.refer_to_label(tokens.word())]
            while tokens.accept(","):
                labels.append(self._scope.refer_to_label(tokens.word()))
            tokens.expect(";")
            self._function.targets[name] = tuple(labels)
            self._scope.define_label(name)
            return
        if tokens.text in (".callprototype", ".calltargets"):
            while not tokens.accept(";"):
                tokens.advance()
            self._scope.define_label(name)
            return
        label = self._scope.define_label(name)
        if label is None:
            raise tokens.error(f"label '{name}' is defined twice in this scope")
        self._statements.append(label)
