"""NVTX ranges as a tool gets them: a library that does what Nsight's does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

TOOL = r"""
/* A tool for NVTX, after nvtx3/nvtxDetail/nvtxTypes.h: it prints what it is told. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef void (*Function)(void);
typedef struct {
  size_t size;
  int (*get_table)(int module, Function ***table, unsigned *size);
} Callbacks;
typedef struct {
  size_t size;
  uint32_t version, reserved;
  void (*set_version)(uint32_t version);
} VersionInfo;
typedef struct {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  union { uint64_t u; double d; } payload;
  int32_t message_type;
  union { const char *ascii; } message;
} Attributes;

static void *create(const char *name) { printf("domain %s\n", name); return (void *)1; }
static int push(void *domain, const Attributes *a) {
  printf("push %s %d %d %d\n", a->message.ascii, a->version, (int)(a->size == sizeof *a),
         (int)(domain == (void *)1 && a->message_type == 1));
  return 0;
}
static int pop(void *domain) { printf("pop\n"); return 0; }

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t)) {
  const Callbacks *callbacks = get_export_table(1);
  const VersionInfo *version = get_export_table(3);
  Function **table;
  unsigned size = 0;
  setvbuf(stdout, NULL, _IONBF, 0);
  if (get_export_table(99) || version->version != 3 || version->size != sizeof *version) return 0;
  version->set_version(3);
  if (callbacks->size != sizeof *callbacks || callbacks->get_table(9, &table, &size)) return 0;
  if (!callbacks->get_table(5, &table, &size) || size != 16) return 0;
  *table[12] = (Function)create;
  *table[4] = (Function)push;
  *table[5] = (Function)pop;
  return 1;
}
"""

SCRIPT = """
import tileir.runtime.jit
from tileir import trace
print("on", trace.is_on(), flush=True)
with trace.slice("compile matmul"):
    with trace.slice("ptxas", "tool"):
        pass
"""


def lines_of(tool: str | None) -> list[str]:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    environment.pop("NVTX_INJECTION64_PATH", None)
    if tool is not None:
        environment["NVTX_INJECTION64_PATH"] = tool
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("nvtx")
    (folder / "tool.c").write_text(TOOL)
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None
    library = folder / "libtool.so"
    command = [compiler, "-shared", "-fPIC", "-o", str(library), str(folder / "tool.c")]
    subprocess.run(command, check=True)
    return str(library)


def test_a_tool_is_told_of_ranges(tool: str) -> None:
    assert lines_of(tool) == [
        "domain tileir",
        "on True",
        "push compile matmul 3 1 1",
        "push ptxas 3 1 1",
        "pop",
        "pop",
    ]


def test_without_a_tool_nothing_is_traced() -> None:
    assert lines_of(None) == ["on False"]


@pytest.mark.parametrize("path", ["/nowhere/libtool.so", "./.", sys.executable])
def test_what_is_no_tool_is_passed_over(path: str) -> None:
    assert lines_of(path) == ["on False"]
