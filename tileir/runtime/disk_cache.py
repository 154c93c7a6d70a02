"""A folder of cache entries that many processes share.

    cache = disk_cache()                              # None if it is switched off
    entry = cache.get("kernel", key)                  # None if it is not there
    cache.put(Entry("kernel", key, facts, {"cubin": cubin}))

`TILEIR_CACHE_DIR` names the folder (default: `tileir` in $XDG_CACHE_HOME or ~/.cache); empty, `0`,
`off` or `none` switch the cache off. `TILEIR_CACHE_SIZE` limits it (`500M`, `2G`; default 2G); what
was not used for longest goes first.

Entries appear under their names complete or not at all: they are written under another name and
renamed. Whatever a process that is killed leaves behind is a file that nobody reads, and a lock
that the kernel has opened again. A file is used only if its checksum is right and the folder is the
user's own, so that nobody else can have written it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import re
import secrets
import stat
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import trace
from ..errors import CacheError
from .cache_file import HEAD_BYTES, Damaged, Entry, pack, read_header, unpack

_VARIABLES = ("TILEIR_CACHE_DIR", "TILEIR_CACHE_SIZE", "XDG_CACHE_HOME", "HOME")
_OFF = ("", "0", "off", "none")
_DEFAULT_SIZE = 2 << 30
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_NAME = re.compile(r"([a-z]+)-([0-9a-f]{64})")
_TEMPORARY = ".new-"
#: Seconds after which a file that is not finished has been left behind.
_ABANDONED = 3600
#: Part of the limit that is left when entries have been removed.
_KEPT = 0.9
_LOCKS = 64
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
#: Seconds between looks at a lock.
_PAUSE = 0.01


@dataclass(frozen=True)
class Stored:
    """A file of the cache: its entry without sections, its size and when it was last used."""

    entry: Entry
    size: int
    used: float


class DiskCache:
    """A folder of entries, at most `limit` bytes.

    `get` and `put` raise CacheError if the folder belongs to somebody else, can be written by
    others, or cannot be made.
    """

    def __init__(self, folder: Path, limit: int = _DEFAULT_SIZE):
        self.folder = folder
        self.limit = limit

    def get(self, kind: str, key: str) -> Entry | None:
        """The entry, None if there is none that is whole. `key` is a SHA-256 in hexadecimal."""
        name = _name(kind, key)
        with self._opened() as folder:
            try:
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            except OSError:
                return None
            try:
                entry = unpack(_read(file), kind, key)
            except Damaged:
                _remove(name, folder)
                return None
            else:
                with contextlib.suppress(OSError):
                    os.utime(file)
                return entry
            finally:
                os.close(file)

    def put(self, entry: Entry) -> None:
        """Keeps an entry, and removes old ones where it becomes too much."""
        data = pack(entry)
        if len(data) > self.limit:
            return
        temporary = f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(8)}"
        with self._opened() as folder:
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                with open(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
                    file.write(data)
                name = _name(entry.kind, entry.key)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                _remove(temporary, folder)
                raise CacheError(
                    f"cannot write to the cache {self.folder}: {error.strerror}",
                    remedy="TILEIR_CACHE_DIR names another folder, TILEIR_CACHE_DIR=off does "
                    "without",
                ) from None
            self._shrink(folder)

    @contextlib.contextmanager
    def locked(self, key: str, patience: float = 60.0) -> Iterator[None]:
        """Has one process at a time do what makes the entry of `key`; the others wait.

        After `patience` seconds they go on: doing the same twice is only slow.
        """
        name = f".lock-{int(key[:8], 16) % _LOCKS:02}"
        with self._opened() as folder:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            file = os.open(name, flags, 0o600, dir_fd=folder)
        try:
            end = time.monotonic() + patience
            while not _try_lock(file) and time.monotonic() < end:
                time.sleep(_PAUSE)
            yield
        finally:
            os.close(file)

    def entries(self) -> list[Stored]:
        """All entries, those used last first. Their facts have not been verified."""
        found = []
        with self._opened() as folder:
            for name, status in _files(folder):
                with contextlib.suppress(OSError, Damaged):
                    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
                    with open(file, "rb") as stream:
                        head = stream.read(HEAD_BYTES)
                    found.append(Stored(read_header(head)[0], status.st_size, status.st_mtime))
        return sorted(found, key=lambda one: -one.used)

    def remove(self, entry: Entry) -> None:
        """Removes an entry, if it is still there."""
        with self._opened() as folder:
            _remove(_name(entry.kind, entry.key), folder)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """A descriptor of the folder, which is what is checked and what is used."""
        try:
            try:
                folder = os.open(self.folder, _FOLDER)
            except FileNotFoundError:
                self.folder.parent.mkdir(parents=True, exist_ok=True)
                with contextlib.suppress(FileExistsError):
                    os.mkdir(self.folder, 0o700)
                folder = os.open(self.folder, _FOLDER)
        except OSError as error:
            raise CacheError(
                f"the cache {self.folder} cannot be used: {error.strerror}",
                remedy="TILEIR_CACHE_DIR names another folder, TILEIR_CACHE_DIR=off does without",
            ) from None
        try:
            self._check(os.fstat(folder))
            yield folder
        finally:
            os.close(folder)

    def _check(self, status: os.stat_result) -> None:
        if status.st_uid != os.geteuid():
            reason, remedy = "belongs to another user", "name a folder of your own"
        elif _is_shared(status):
            reason, remedy = (
                "can be written by others",
                f"chmod go-w {self.folder}, or name another",
            )
        else:
            return
        raise CacheError(
            f"the cache {self.folder} is not used: it {reason}, who could put code into it",
            remedy=f"{remedy} with TILEIR_CACHE_DIR",
        )

    def _shrink(self, folder: int) -> None:
        """Removes what was used longest ago until the rest fits, and what was left behind."""
        files = list(_files(folder))
        total = sum(status.st_size for _, status in files)
        if total > self.limit:
            for name, status in sorted(files, key=lambda one: one[1].st_mtime):
                if total <= self.limit * _KEPT:
                    break
                _remove(name, folder)
                total -= status.st_size
        old = time.time() - _ABANDONED
        with os.scandir(folder) as listing:
            for item in listing:
                with contextlib.suppress(OSError):
                    if item.name.startswith(_TEMPORARY) and item.stat().st_mtime < old:
                        _remove(item.name, folder)


def _name(kind: str, key: str) -> str:
    name = f"{kind}-{key}"
    if not _NAME.fullmatch(name):
        raise ValueError(f"a key is a SHA-256 in hexadecimal, not {name!r}")
    return name


def _files(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    """Names and facts of the files that are entries."""
    with os.scandir(folder) as listing:
        for item in listing:
            with contextlib.suppress(OSError):
                if _NAME.fullmatch(item.name):
                    yield item.name, item.stat(follow_symlinks=False)


def _read(file: int) -> bytes:
    """All of an open file. Raises Damaged if somebody else can have written it."""
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or _is_shared(status):
        raise Damaged
    # One call where the file system gives all that is asked for, as local ones do.
    data = os.read(file, status.st_size)
    while len(data) < status.st_size and (more := os.read(file, status.st_size - len(data))):
        data += more
    return data


def _is_shared(status: os.stat_result) -> bool:
    """Whether others than the owner can write."""
    return bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _remove(name: str, folder: int) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=folder)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # File systems without locks: everybody has the lock.
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


# ---- which one ---------------------------------------------------------------------------------


def disk_cache() -> DiskCache | None:
    """The cache that the environment names, None if it is switched off."""
    folder, size, base, home = map(os.environ.get, _VARIABLES)
    return _disk_cache(folder, size or "", base or "", home)


@functools.cache
def _disk_cache(folder: str | None, size: str, base: str, home: str | None) -> DiskCache | None:
    """The cache that these variables name; `home` is what `~` stands for."""
    limit = _limit(size)
    if limit == 0 or (folder is not None and folder.strip().lower() in _OFF):
        return None
    if folder is not None:
        return DiskCache(Path(folder).expanduser(), limit)
    # What platformdirs says on Linux; the runtime needs no package for it.
    if not os.path.isabs(base):
        base = os.path.expanduser("~/.cache")
    return DiskCache(Path(base, "tileir"), limit)


def _limit(text: str) -> int:
    if not text.strip():
        return _DEFAULT_SIZE
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        warn_once(f"TILEIR_CACHE_SIZE is a size such as 500M or 2G, not '{text}'")
        return _DEFAULT_SIZE
    return int(float(match[1]) * _UNITS[match[2].lower()])


_warned: set[str] = set()


def warn_once(text: str) -> None:
    """A warning that a process gives once, however often it is the case."""
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, RuntimeWarning, stacklevel=3)


def look_up(kind: str, key: str) -> Entry | None:
    """The entry in the cache of the environment; without a usable one, None and a warning."""
    cache = disk_cache()
    if cache is None:
        return None
    with trace.slice("cache lookup", "cache", kind=kind) as slice:
        try:
            entry = cache.get(kind, key)
        except CacheError as error:
            warn_once(str(error))
            return None
        slice.note(hit=entry is not None)
        return entry


def keep(entry: Entry) -> None:
    """Puts an entry into the cache of the environment, if there is a usable one."""
    cache = disk_cache()
    if cache is None:
        return
    with trace.slice("cache store", "cache", kind=entry.kind):
        try:
            cache.put(entry)
        except CacheError as error:
            warn_once(str(error))


@contextlib.contextmanager
def one_at_a_time(key: str) -> Iterator[None]:
    """`DiskCache.locked` of the cache of the environment, if there is a usable one."""
    cache = disk_cache()
    with contextlib.ExitStack() as stack:
        if cache is not None:
            # Without a lock, several processes do the same.
            with contextlib.suppress(CacheError, OSError):
                stack.enter_context(cache.locked(key))
        yield
