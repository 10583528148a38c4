#!/usr/bin/env python3
"""How much does TCP carry between two nodes of which one has no iperf3? One of them listens, the other connects.

Python 3.6 or newer, standard library only. It comes through stdin, writes no file, listens on the one address that was
asked for until its streams are there, takes no stream without the token, and ends by itself: every process of it has an
alarm. Each stream has a process of its own at both ends. What arrived is counted by the receiving end, over one stretch of
its steady clock, the first second left out; processor time and time spent waiting for a processor are told beside it.

The last line that is printed is one JSON object. Appended by the sender of this program: `main({...})`.
"""

import array
import fcntl
import hmac
import json
import os
import signal
import socket
import sys
import termios
import time

CHUNK_BYTES = 1 << 20
WARM_S = 1.0
JOIN_S = 20.0
CONNECT_S = 6.0
MOST_STREAMS, MOST_S = 16, 120.0
MOST_BYTES_S = 125e9 / 8  # a terabit in a second over eight streams: nothing that exists is cut by this
GO = b"!"


class Trouble(Exception):
    """Why there is no rate, in one line."""


def place_of(address, port):
    """(family, socket address). Raises Trouble."""
    try:
        family, _, _, _, place = socket.getaddrinfo(address, port, 0, socket.SOCK_STREAM)[0]
    except OSError as error:
        raise Trouble("{} is no address here: {}".format(address, error)) from error
    return family, place


def exactly(sock, count):
    """So many bytes; fewer where the other end goes away."""
    got = b""
    while len(got) < count:
        more = sock.recv(count - len(got))
        if not more:
            return got
        got += more
    return got


def joined(wish):
    """The streams, in order, once all of them have shown the token. Raises Trouble."""
    family, place = place_of(wish["address"], wish["port"])
    found, end_s = {}, time.monotonic() + JOIN_S
    with socket.socket(family, socket.SOCK_STREAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind(place)
            server.listen(MOST_STREAMS)
        except OSError as error:
            raise Trouble("can't listen on {} port {}: {}".format(wish["address"], wish["port"], error)) from error
        print("listening", flush=True)
        while len(found) < wish["streams"]:
            server.settimeout(max(0.01, end_s - time.monotonic()))
            try:
                sock = server.accept()[0]
            except socket.timeout:
                raise Trouble("{} of {} streams came".format(len(found), wish["streams"])) from None
            number = greeting(sock, wish)
            if number is None or number in found:
                sock.close()
            else:
                found[number] = sock
    for sock in found.values():
        sock.sendall(GO)
    return [found[number] for number in sorted(found)]


def greeting(sock, wish):
    """The number of a stream that knows the token; None for anybody else."""
    sock.settimeout(2.0)
    try:
        said = exactly(sock, len(wish["token"]) + 2)
    except OSError:
        return None
    token, number = said[:-2], said[-2:]
    if not hmac.compare_digest(token, wish["token"].encode()) or not number.isdigit():
        return None
    return int(number) if int(number) < wish["streams"] else None


def connected(wish):
    """The streams to the end that listens. Raises Trouble."""
    family, place = place_of(wish["address"], wish["port"])
    socks = []
    try:
        for number in range(wish["streams"]):
            sock = socket.socket(family, socket.SOCK_STREAM)
            socks.append(sock)
            sock.settimeout(CONNECT_S)
            sock.connect(place)
            sock.sendall("{}{:02d}".format(wish["token"], number).encode())
        for sock in socks:
            if exactly(sock, 1) != GO:
                raise Trouble("the other end took no stream")
    except OSError as error:
        raise Trouble("unable to connect to {} port {}: {}".format(wish["address"], wish["port"], error)) from error
    return socks


def load():
    """(processor seconds, seconds spent waiting for a processor or None) of this process."""
    try:
        with open("/proc/self/schedstat") as told:
            waited_s = int(told.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        waited_s = None
    return time.process_time(), waited_s


def queued(sock):
    """Bytes that came already and were not taken yet."""
    count = array.array("i", [0])
    try:
        fcntl.ioctl(sock.fileno(), termios.FIONREAD, count)
    except OSError:
        return 0
    return max(0, count[0])


class Watch(object):
    """The measured stretch, the same for all streams: what was moved in it, and what that took.

    One that had to wait for a processor has moved less, not in less time; what had come before the stretch does not count.
    """

    def __init__(self, sock, begin_s, seconds):
        self._sock = sock
        self.start_s, self.end_s = begin_s + WARM_S, begin_s + WARM_S + seconds
        self.moved, self._early, self._in_all = 0, 0, 0
        self._before = None

    def add(self, count):
        """Count what was just moved; False once the time is over."""
        self._in_all += count
        now = time.monotonic()
        if now < self.start_s:
            return True
        if self._before is None:
            self._before, self._early = load(), count + queued(self._sock)
        if now >= self.end_s:
            return False
        self.moved += count
        return True

    def line(self):
        """What is told of it."""
        after, before = load(), self._before or load()
        seconds = max(1e-9, self.end_s - self.start_s)
        waited = None if after[1] is None or before[1] is None else 100.0 * (after[1] - before[1]) / seconds
        moved, used = max(0, self.moved - self._early), 100.0 * (after[0] - before[0]) / seconds
        return {"bytes": moved, "all_bytes": self._in_all, "seconds": seconds, "cpu_percent": used, "wait_percent": waited}


def receive(sock, watch):
    """Count what comes; whether it came until the end."""
    buffer = bytearray(CHUNK_BYTES)
    while True:
        try:
            count = sock.recv_into(buffer)
        except socket.timeout:
            count = -1
        except OSError:
            return False
        if not watch.add(max(0, count)):
            return True
        if count == 0:
            return time.monotonic() >= watch.end_s


def send(sock, watch, most_bytes):
    """Send until the other end has enough; whether that was after the time."""
    data, sent = memoryview(os.urandom(CHUNK_BYTES)), 0  # what a tunnel can't press together
    stop_s = watch.end_s + 2.0
    while time.monotonic() < stop_s and sent < most_bytes:
        try:
            count = sock.send(data)
        except socket.timeout:
            count = 0
        except OSError:
            break
        sent += count
        watch.add(count)
    return time.monotonic() >= watch.end_s - 0.5


def flow(sock, wish, begin_s):
    """One stream, in a process of its own."""
    watch = Watch(sock, begin_s, wish["seconds"])
    sock.settimeout(0.5)
    whole = send(sock, watch, wish["seconds"] * MOST_BYTES_S) if wish["sends"] else receive(sock, watch)
    return dict(watch.line(), whole=whole)


def forked(socks, wish):
    """What every stream tells; each runs in a child that is bounded by an alarm."""
    begin_s, pipes = time.monotonic(), []
    for number, sock in enumerate(socks):
        out, into = os.pipe()
        if os.fork() == 0:
            try:
                signal.alarm(int(wish["seconds"] + WARM_S + 10))
                for other in socks[:number] + socks[number + 1 :]:
                    other.close()
                os.write(into, json.dumps(flow(sock, wish, begin_s)).encode())
            finally:
                os._exit(0)
        os.close(into)
        pipes.append(out)
    for sock in socks:
        sock.close()
    lines = []
    for out in pipes:
        with os.fdopen(out, "rb") as told:
            lines.append(told.read())
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    return [json.loads(line.decode()) for line in lines if line]


def main(wish):
    """`wish`: listens, sends (bools), address, port, token, streams, seconds. Prints what this end saw."""
    wish["streams"] = max(1, min(MOST_STREAMS, int(wish["streams"])))
    wish["seconds"] = max(0.5, min(MOST_S, float(wish["seconds"])))
    signal.alarm(int(wish["seconds"] + WARM_S + JOIN_S + 15))
    try:
        socks = joined(wish) if wish["listens"] else connected(wish)
        told = forked(socks, wish)
    except Trouble as trouble:
        print(trouble, file=sys.stderr, flush=True)
        sys.exit(3)
    print(json.dumps({"gpulease_tcp": wish["token"], "sends": wish["sends"], "streams": told}), flush=True)
