#!/usr/bin/env python3
"""Who holds a task's processes together and its log within bounds, on a node that has Python 3.6 or newer?

    task_keeper.py run BELL MARK WORK GROUP HEAD TAIL WORD...   run a command in WORK, `exit CODE` goes to the fifo BELL
    task_keeper.py unpack FOLDER                                unpack a tar stream of plain files and folders from stdin

The keeper adopts whatever the command leaves behind (forks, daemons, new sessions), so that all of it can be found among
its children; MARK in their environment and the control group GROUP ("" = none) are marks for the shell. Of the log HEAD
bytes are passed on as they come, of the rest the last TAIL bytes at the end: a task that prints a gigabyte waits for
nobody and fills nothing. `MARK LOG left_out` goes to stderr then.
"""

import collections
import os
import signal
import sys
import threading

PIECE = 65536
ADOPT = 36  # PR_SET_CHILD_SUBREAPER


def adopt():
    """Become the parent of every orphan below us; where that is not possible the shell looks for them by other marks."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return


def write_all(target, data):
    """Whether all of it was taken."""
    view = memoryview(data)
    try:
        while len(view):
            view = view[os.write(target, view) :]
    except OSError:
        return False
    return True


class Log:
    """Passes the head of the output on and keeps its tail."""

    def __init__(self, source, target, head, tail):
        self.source, self.target, self.head, self.tail = source, target, head, tail
        self.all = self.kept = 0
        self.last = collections.deque()
        self.open = True

    def flow(self):
        while True:
            try:
                data = os.read(self.source, PIECE)
            except OSError:
                break
            if not data:
                break
            now = max(0, min(len(data), self.head - self.all))
            self.all += len(data)
            if now and self.open:
                self.open = write_all(self.target, data[:now])
            if now < len(data):
                self.keep(data[now:])

    def keep(self, data):
        self.last.append(data)
        self.kept += len(data)
        while self.kept - len(self.last[0]) >= self.tail:
            self.kept -= len(self.last.popleft())

    def end(self):
        """Send the tail; how many bytes were left out before it."""
        rest = b"".join(self.last)[-self.tail :] if self.tail else b""
        if rest and self.open:
            write_all(self.target, rest)
        return max(0, self.all - self.head) - len(rest)


def code_of(status):
    """As a shell counts: 128 and the number of a signal."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def join(group):
    """Enter the control group; where that is refused the other marks must do."""
    try:
        with open(group + "/cgroup.procs", "w") as place:
            place.write("0")
    except OSError:
        return


def start(mark, work, group, words, log_write):
    """The command as a process of a session of its own."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        if group:
            join(group)
        os.chdir(work)
        os.environ["GPULEASE_RUN"] = mark
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(log_write, 1)
        os.dup2(log_write, 2)
        os.execvp(words[0], words)
    except OSError as error:
        write_all(2, ("sh: %s: %s\n" % (words[0], error.strerror)).encode())
    os._exit(127)


def run(bell, mark, work, group, head, tail, words):
    adopt()
    log_read, log_write = os.pipe()
    main = start(mark, work, group, words, log_write)
    os.close(log_write)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    log = Log(log_read, 1, head, tail)
    flow = threading.Thread(target=log.flow)
    flow.daemon = True
    flow.start()
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            break
        if pid == main:
            with open(bell, "w") as told:
                told.write("exit %d\n" % code_of(status))
    # Nobody is left who could write; somebody beyond our reach who still holds the pipe is not waited for.
    flow.join(3)
    write_all(2, ("\n%s LOG %d\n" % (mark, log.end())).encode())
    return 0


def unpack(folder):
    """Write plain files and folders below `folder`; anything else, or a name that leads out of it, ends it."""
    import tarfile

    root = os.path.realpath(folder)
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|", encoding="utf-8") as archive:
        for entry in archive:
            place = os.path.normpath(os.path.join(root, entry.name))
            if os.path.isabs(entry.name) or not place.startswith(root + os.sep) or not (entry.isfile() or entry.isdir()):
                sys.stderr.write("refused: %r\n" % entry.name)
                return 1
            if entry.isdir():
                os.mkdir(place, 0o700)
                continue
            mode = 0o700 if entry.mode & 0o100 else 0o600
            target = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)
            source = archive.extractfile(entry)
            left = entry.size
            try:
                while left:
                    data = source.read(min(PIECE, left))
                    if not data or not write_all(target, data):
                        sys.stderr.write("not written: %r\n" % entry.name)
                        return 1
                    left -= len(data)
            finally:
                os.close(target)
    # What pads the stream is read to its end, so that its writer is never cut off.
    while sys.stdin.buffer.read(PIECE):
        continue
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "unpack":
        sys.exit(unpack(sys.argv[2]))
    sys.exit(run(*sys.argv[2:6], int(sys.argv[6]), int(sys.argv[7]), sys.argv[8:]))
