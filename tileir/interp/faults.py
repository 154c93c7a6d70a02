"""What the inner parts of the interpreter raise; the runner adds place and block."""

from __future__ import annotations


class Fault(Exception):
    """Undefined or failing behaviour of the running operation.

    `site` is the operation at fault where it is not the one that runs (a value that was undefined
    when it was made); its place then becomes the location of the error.
    """

    def __init__(self, reason: str, remedy: str | None = None, site: int | None = None):
        self.reason = reason
        self.remedy = remedy
        self.site = site
        super().__init__(reason)
