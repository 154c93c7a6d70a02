"""The cache on disk: what is found again, what is not trusted, what many processes do to it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tileir.errors import CacheError
from tileir.runtime import disk_cache as module
from tileir.runtime.cache_file import Entry
from tileir.runtime.disk_cache import DiskCache, disk_cache
from tileir.tools import tileir_command


def key_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def entry(name: str, size: int = 100, **facts: object) -> Entry:
    return Entry("kernel", key_of(name), {"title": name, **facts}, {"cubin": os.urandom(size)})


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache")


def file_of(cache: DiskCache, one: Entry) -> Path:
    return cache.folder / f"{one.kind}-{one.key}"


# ---- what is found -------------------------------------------------------------------------------


def test_what_was_put_is_found(cache: DiskCache) -> None:
    one = Entry("kernel", key_of("a"), {"n": 1, "list": [1, "x"]}, {"cubin": b"\0\1", "ptx": b""})
    cache.put(one)
    found = cache.get("kernel", one.key)
    assert found is not None
    assert found.facts == {"n": 1, "list": [1, "x"]}
    assert found.sections == {"cubin": b"\0\1", "ptx": b""}
    assert abs(found.created - time.time()) < 60
    assert cache.get("kernel", key_of("b")) is None
    assert cache.get("tuning", one.key) is None


def test_folder_and_files_are_private(cache: DiskCache) -> None:
    one = entry("a")
    cache.put(one)
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    assert file_of(cache, one).stat().st_mode & 0o777 == 0o600


def test_what_was_used_longest_ago_goes_first(cache: DiskCache) -> None:
    cache.limit = 14_000
    entries = [entry(str(number), 1000) for number in range(10)]
    for number, one in enumerate(entries):
        cache.put(one)
        os.utime(file_of(cache, one), (number, number))
    assert cache.get("kernel", entries[0].key)  # used again, so it is new
    cache.put(entry("more", 2000))
    names = [one.entry.facts["title"] for one in cache.entries()]
    assert "0" in names and "more" in names and "1" not in names
    assert sum(path.stat().st_size for path in cache.folder.glob("kernel-*")) <= cache.limit


def test_what_is_larger_than_the_cache_is_not_kept(cache: DiskCache) -> None:
    cache.limit = 500
    cache.put(entry("large", 1000))
    assert not cache.folder.exists() or cache.entries() == []


# ---- what is not trusted -------------------------------------------------------------------------


def test_every_flipped_bit_is_noticed(cache: DiskCache) -> None:
    one = entry("a", 20)
    cache.put(one)
    whole = file_of(cache, one).read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << position % 8
        file_of(cache, one).write_bytes(damaged)
        assert cache.get("kernel", one.key) is None
        assert not file_of(cache, one).exists(), "what is damaged is removed"


def test_every_shortened_file_is_noticed(cache: DiskCache) -> None:
    one = entry("a", 20)
    cache.put(one)
    whole = file_of(cache, one).read_bytes()
    for length in range(len(whole)):
        file_of(cache, one).write_bytes(whole[:length])
        assert cache.get("kernel", one.key) is None
    file_of(cache, one).write_bytes(whole + b"x")
    assert cache.get("kernel", one.key) is None


def test_an_entry_under_another_name_is_not_used(cache: DiskCache) -> None:
    one, other = entry("a"), entry("b")
    cache.put(one)
    file_of(cache, one).rename(file_of(cache, other))
    assert cache.get("kernel", other.key) is None


def test_links_are_not_followed(cache: DiskCache, tmp_path: Path) -> None:
    one = entry("a")
    cache.put(one)
    file_of(cache, one).rename(tmp_path / "elsewhere")
    file_of(cache, one).symlink_to(tmp_path / "elsewhere")
    assert cache.get("kernel", one.key) is None


def test_files_that_others_can_write_are_not_used(cache: DiskCache) -> None:
    one = entry("a")
    cache.put(one)
    file_of(cache, one).chmod(0o620)
    assert cache.get("kernel", one.key) is None


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702, 0o1777])
def test_folders_that_others_can_write_are_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    cache = DiskCache(folder)
    for action in (lambda: cache.get("kernel", key_of("a")), lambda: cache.put(entry("a"))):
        with pytest.raises(CacheError, match="can be written by others.*\n.*chmod go-w"):
            action()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_folders_of_others_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(0o700)
    os.chown(folder, 12345, 12345)
    with pytest.raises(CacheError, match="belongs to another user"):
        DiskCache(folder).put(entry("a"))


def test_launching_goes_on_without_a_usable_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(module, "_warned", set())
    with pytest.warns(RuntimeWarning, match="cannot be used: Not a directory"):
        assert module.look_up("kernel", key_of("a")) is None
    with module.one_at_a_time(key_of("a")):
        module.keep(entry("a"))


@pytest.mark.parametrize("key", ["", "a" * 63, "../" + "a" * 61, "A" * 64])
def test_keys_cannot_lead_elsewhere(cache: DiskCache, key: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        cache.get("kernel", key)


# ---- many processes ------------------------------------------------------------------------------

WRITER = """
import hashlib, sys
from pathlib import Path
from tileir.runtime.cache_file import Entry
from tileir.runtime.disk_cache import DiskCache
cache = DiskCache(Path(sys.argv[1]), 200_000)
print("ready", flush=True)
for turn in range(int(sys.argv[2])):
    name = str(turn % 20)
    key = hashlib.sha256(name.encode()).hexdigest()
    with cache.locked(key):
        found = cache.get("kernel", key)
        if found is not None:
            assert found.sections["cubin"] == name.encode() * 5000, "torn"
        else:
            cache.put(Entry("kernel", key, {}, {"cubin": name.encode() * 5000}))
"""


def writer(cache: DiskCache, turns: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(cache.folder), str(turns)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_share_it_and_none_sees_half_an_entry(cache: DiskCache) -> None:
    writers = [writer(cache, 300) for _ in range(3)]
    assert [one.wait(60) for one in writers] == [0, 0, 0]
    assert sum(path.stat().st_size for path in cache.folder.glob("kernel-*")) <= 200_000


def test_killed_processes_leave_it_whole(cache: DiskCache) -> None:
    for delay in (0.002, 0.01, 0.03, 0.05):
        process = writer(cache, 1_000_000)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        process.stdout.close()
    for stored in cache.entries():
        assert cache.get("kernel", stored.entry.key) is not None
    key = key_of("0")
    with cache.locked(key, patience=5):  # no lock is left behind
        cache.put(entry("0"))


def test_what_killed_processes_leave_is_removed_later(cache: DiskCache) -> None:
    cache.put(entry("a"))
    old, new = cache.folder / ".new-1-aa", cache.folder / ".new-2-bb"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (0, 0))
    cache.put(entry("b"))
    assert not old.exists() and new.exists()


def test_one_makes_an_entry_while_others_wait(cache: DiskCache) -> None:
    made: list[int] = []

    def work(number: int) -> None:
        with cache.locked(key_of("a")):
            if cache.get("kernel", key_of("a")) is None:
                made.append(number)
                time.sleep(0.05)
                cache.put(entry("a"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_patience_ends(cache: DiskCache) -> None:
    with cache.locked(key_of("a")):
        start = time.monotonic()
        with cache.locked(key_of("a"), patience=0.1):
            assert time.monotonic() - start < 5


# ---- the environment -----------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["", "0", "off", "none", "OFF"])
def test_switched_off(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("TILEIR_CACHE_DIR", word)
    assert disk_cache() is None


def test_size_zero_switches_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TILEIR_CACHE_SIZE", "0")
    assert disk_cache() is None


@pytest.mark.parametrize(
    ("text", "limit"),
    [("", 2 << 30), ("500M", 500 << 20), ("1.5 GiB", 3 << 29), ("4096", 4096), ("2k", 2048)],
)
def test_sizes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, limit: int) -> None:
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TILEIR_CACHE_SIZE", text)
    cache = disk_cache()
    assert cache is not None and cache.limit == limit


def test_wrong_size_is_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TILEIR_CACHE_SIZE", "much")
    monkeypatch.setattr(module, "_warned", set())
    with pytest.warns(RuntimeWarning, match="500M or 2G, not 'much'"):
        cache = disk_cache()
    assert cache is not None and cache.limit == 2 << 30


def test_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TILEIR_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = disk_cache()
    assert cache is not None and cache.folder == tmp_path / "tileir"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path))
    cache = disk_cache()
    assert cache is not None and cache.folder == tmp_path / ".cache" / "tileir"


# ---- tileir cache --------------------------------------------------------------------------------


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskCache:
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))
    cache = DiskCache(tmp_path / "cache")
    cache.put(entry("matmul(f16[2])", 1000, seconds=1.25))
    cache.put(entry("softmax(f32[1])\x1b[31m", 1000, seconds=0.5))
    return cache


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert tileir_command.main(["cache", *words]) == 0
    return capsys.readouterr().out


def test_ls(filled: DiskCache, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = said(capsys, "ls", "matmul").splitlines()
    assert line.split() == [
        key_of("matmul(f16[2])")[:12], "kernel", *line.split()[2:4], "1.25", "s", "0", "s",
        "matmul(f16[2])",
    ]  # fmt: skip
    assert "\x1b" not in said(capsys, "ls"), "titles cannot drive the terminal"
    rows = json.loads(said(capsys, "ls", "--json"))
    assert {row["facts"]["seconds"] for row in rows} == {1.25, 0.5}


def test_rm(filled: DiskCache, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "rm", key_of("matmul(f16[2])")[:8]).startswith("1 entries removed, 1.")
    assert [one.entry.facts["seconds"] for one in filled.entries()] == [0.5]
    said(capsys, "rm", "--all")
    assert filled.entries() == []


def test_rm_wants_to_know_what(filled: DiskCache, capsys: pytest.CaptureFixture[str]) -> None:
    assert tileir_command.main(["cache", "rm"]) == 1
    assert "give part of a name or key, or --all" in capsys.readouterr().err
    assert len(filled.entries()) == 2


def test_stats(filled: DiskCache, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "stats").splitlines()
    assert lines[0] == f"folder   {filled.folder}"
    assert lines[1] == "entries  2 (2 kernel)"
    assert lines[3] == "saves    1.8 s of compilation"


def test_no_cache_is_an_error_of_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TILEIR_CACHE_DIR", "off")
    assert tileir_command.main(["cache", "ls"]) == 1
    assert capsys.readouterr().err.startswith("tileir: error: the cache is switched off\n")
