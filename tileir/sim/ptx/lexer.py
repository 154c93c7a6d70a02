"""PTX text to tokens."""

from __future__ import annotations

import re
from bisect import bisect_right

from ...errors import ParseError

# A word may hold dots: an opcode with its modifiers (`ld.global.v4.b32`, `shared::cta` inside
# one), a special register (`%tid.x`). A directive or a type starts with its dot.
_TOKEN = re.compile(
    r"""
      (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<word>[%$A-Za-z_][\w$]*(?:(?:\.|::)[\w$]+)*)
    | (?P<directive>\.[A-Za-z_]\w*(?:::\w+)*)
    | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
        |\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)
    | (?P<string>"[^"\n]*")
    | (?P<mark>[{}\[\]()<>,;:=|!@+\-*/~&^?])
    """,
    re.VERBOSE | re.DOTALL,
)


class Tokens:
    """The tokens of a text, with one of look-ahead.

    `kind`, `text` and `start` describe the token that comes next; at the end `kind` is "end".
    """

    def __init__(self, text: str, name: str):
        self.source = text
        self.name = name
        self._lines = [match.end() for match in re.finditer("\n", text)]
        self._tokens: list[tuple[str, str, int]] = []
        position, size = 0, len(text)
        match_at, append = _TOKEN.match, self._tokens.append
        while position < size:
            match = match_at(text, position)
            if match is None:
                raise self.error(f"unexpected character {text[position]!r}", position)
            kind = match.lastgroup
            if kind != "skip":
                append((kind or "", match.group(), position))
            position = match.end()
        append(("end", "", size))
        self._next = 0
        self.kind, self.text, self.start = self._tokens[0]

    def advance(self) -> str:
        """Moves on; returns the text of the token passed."""
        text = self.text
        self._next += 1
        self.kind, self.text, self.start = self._tokens[min(self._next, len(self._tokens) - 1)]
        return text

    def accept(self, text: str) -> bool:
        """Passes a token if it is `text`."""
        if self.text != text or self.kind == "string":
            return False
        self.advance()
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"expected '{text}', found {self.found}")

    def expect_kind(self, kind: str, what: str) -> str:
        if self.kind != kind:
            raise self.error(f"expected {what}, found {self.found}")
        return self.advance()

    def word(self) -> str:
        return self.expect_kind("word", "a name")

    def integer(self) -> int:
        negative = self.accept("-")
        text = self.expect_kind("number", "a number")
        value = integer(text)
        if value is None:
            raise self.error(f"expected an integer, found '{text}'")
        return -value if negative else value

    @property
    def found(self) -> str:
        return "the end of the text" if self.kind == "end" else f"'{self.text}'"

    def line(self, position: int | None = None) -> int:
        """The line, from 1, of a position in the text (of the next token by default)."""
        return bisect_right(self._lines, self.start if position is None else position) + 1

    def error(self, reason: str, position: int | None = None) -> ParseError:
        return ParseError(reason, location=f"{self.name}:{self.line(position)}")


def integer(text: str) -> int | None:
    """An integer literal's value, None if it is a float."""
    digits = text.rstrip("U")
    if re.match(r"0[fFdD][0-9a-fA-F]{8}", digits) or re.search(r"[.]|^\d+[eE]", digits):
        return None
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return int(digits, 8)
    return int(digits, 0)
