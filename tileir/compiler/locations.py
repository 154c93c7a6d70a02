"""Source locations without the debug scopes of Tile IR.

`cuda_tile` keeps the scopes of its debug information in its locations (`di_loc`). LLVM knows other
scopes; after `convert-cuda-tile` a location is the plain `file:line:column`.
"""

from __future__ import annotations

from tileir.dialects.cuda_tile import di_loc_place
from tileir.ir import Location, OpView


def plain_location(location: Location) -> Location:
    """`location` with every `di_loc` replaced by the place it names."""
    if location.is_a_file():
        return location
    if location.is_a_callsite():
        return Location.callsite(plain_location(location.callee), [plain_location(location.caller)])
    if location.is_a_name():
        return plain_location(location.child_loc)
    place = di_loc_place(location)
    return location if place is None else plain_location(place)


def place(location: Location) -> str | None:
    """`file:line:column` of a location, as far as it says; None if it says nothing."""
    text = str(plain_location(location)).removeprefix("loc(").removesuffix(")")
    return None if text == "unknown" else text.replace('"', "")


def location_text(op: OpView) -> str | None:
    """`file:line:column` of an operation; None if its location says nothing."""
    return place(op.location)
