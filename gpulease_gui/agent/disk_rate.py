#!/usr/bin/env python3
"""How fast does the disk under the current folder read or write in a row, on a node without fio?

Python 3.6 or newer, standard library only. It comes through stdin. A few processes share one file, each its own part of it,
in large pieces past the page cache where the file system lets them; writing ends with a flush that counts. The file has no
name any more when the work begins, so it goes with the last process, however that ends; every process has an alarm.

The last line that is printed is one JSON object. Appended by the sender of this program: `main({...})`.
"""

import json
import mmap
import os
import signal
import sys
import time

PIECE_BYTES = 4 << 20
WORKERS = 4
MOST_S = 300.0
NAME = "gpulease-own.bin"


def opened(size_bytes):
    """(file number, whether the page cache is passed by) of a new file without a name."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    for direct in (getattr(os, "O_DIRECT", 0), 0):
        try:
            number = os.open(NAME, flags | direct, 0o600)
        except OSError:
            remove()
            if not direct:
                raise
            continue
        remove()
        try:
            os.pwrite(number, piece(os.urandom(4096)), 0)
        except OSError:
            os.close(number)
            if not direct:
                raise
            continue
        os.ftruncate(number, size_bytes)
        return number, bool(direct)
    raise OSError("no file can be opened")


def remove():
    try:
        os.unlink(NAME)
    except OSError:
        return


def piece(seed):
    """Memory that direct I/O takes: whole pages, of bytes that no disk can press together."""
    memory = mmap.mmap(-1, PIECE_BYTES)
    memory.write(seed * (PIECE_BYTES // len(seed)))
    return memory


def fill(number, begin, end, memory):
    for at in range(begin, end, PIECE_BYTES):
        os.pwrite(number, memory, at)


def taken(number, memory, at):
    """Bytes read at a place, into whole pages: what direct I/O asks for."""
    if hasattr(os, "preadv"):  # Python 3.7
        return os.preadv(number, [memory], at)
    os.lseek(number, at, os.SEEK_SET)
    return os.readv(number, [memory])


def move(number, part_bytes, worker, reads, until_s, memory):
    """Bytes moved in this worker's part until the time is over."""
    moved, begin = 0, worker * part_bytes
    while True:
        for at in range(begin, begin + part_bytes, PIECE_BYTES):
            if time.monotonic() >= until_s:
                return moved
            moved += taken(number, memory, at) if reads else os.pwrite(number, memory, at)


def work(number, part_bytes, worker, wish, start_s):
    """All begin and end at one time: one that had to wait for a processor has moved less, not in less time."""
    memory = piece(os.urandom(1 << 16))
    moved = move(number, part_bytes, worker, wish["reads"], start_s + wish["seconds"], memory)
    if not wish["reads"]:
        os.fsync(number)
    return {"bytes": moved, "seconds": time.monotonic() - start_s}


def workers(number, part_bytes, wish):
    """What every worker tells; each is a child that is bounded by an alarm."""
    pipes, start_s = [], time.monotonic()
    for worker in range(WORKERS):
        out, into = os.pipe()
        if os.fork() == 0:
            try:
                signal.alarm(int(wish["seconds"] * 2 + 60))
                os.write(into, json.dumps(work(number, part_bytes, worker, wish, start_s)).encode())
            except OSError as error:
                os.write(into, json.dumps({"error": str(error)}).encode())
            finally:
                os._exit(0)
        os.close(into)
        pipes.append(out)
    told = []
    for out in pipes:
        with os.fdopen(out, "rb") as line:
            told.append(json.loads((line.read() or b'{"error": "a worker ended"}').decode()))
    return told


def main(wish):
    """`wish`: reads (bool), size_mib, seconds. Prints what was moved."""
    wish["seconds"] = max(0.5, min(MOST_S, float(wish["seconds"])))
    signal.alarm(int(wish["seconds"] * 2 + 110))
    part_bytes = max(1, int(wish["size_mib"]) * (1 << 20) // WORKERS // PIECE_BYTES) * PIECE_BYTES
    try:
        number, direct = opened(part_bytes * WORKERS)
        if wish["reads"]:
            fill(number, 0, part_bytes * WORKERS, piece(os.urandom(1 << 16)))
            os.fsync(number)
            os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
        told = workers(number, part_bytes, wish)
    except OSError as error:
        print("{}".format(error), file=sys.stderr, flush=True)
        sys.exit(3)
    print(json.dumps({"gpulease_disk": 1, "reads": wish["reads"], "direct": direct, "workers": told}), flush=True)
