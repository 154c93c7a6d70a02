"""What a compilation gives, and how it travels from one process to another."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tileir.compiler.toolchain import Assembly, KernelReport
from tileir.runtime.metadata import KernelInfo


@dataclass(frozen=True)
class Output:
    """PTX, what a launcher must know of each kernel, what passes had to say, and seconds by stage.

    `assembly` is what ptxas made of the PTX, as far as it has run.
    """

    ptx: str
    kernels: tuple[KernelInfo, ...]
    remarks: tuple[str, ...]
    timings: Mapping[str, float]
    assembly: Assembly | None = None

    def pack(self) -> tuple[dict[str, Any], bytes]:
        """The output as JSON and a payload."""
        ptx = self.ptx.encode()
        header: dict[str, Any] = {
            "ptx_bytes": len(ptx),
            "kernels": [info.to_json() for info in self.kernels],
            "remarks": list(self.remarks),
            "timings": dict(self.timings),
        }
        if self.assembly is None:
            return header, ptx
        header["reports"] = {
            name: dataclasses.asdict(report) for name, report in self.assembly.reports.items()
        }
        header["messages"] = list(self.assembly.messages)
        return header, ptx + self.assembly.cubin

    @staticmethod
    def unpack(header: Mapping[str, Any], payload: bytes) -> Output:
        """What `pack` packed."""
        ptx, cubin = payload[: header["ptx_bytes"]], payload[header["ptx_bytes"] :]
        assembly = None
        if "reports" in header:
            reports = {name: KernelReport(**report) for name, report in header["reports"].items()}
            assembly = Assembly(cubin, reports, tuple(header["messages"]))
        return Output(
            ptx.decode(),
            tuple(map(KernelInfo.from_json, header["kernels"])),
            tuple(header["remarks"]),
            header["timings"],
            assembly,
        )
