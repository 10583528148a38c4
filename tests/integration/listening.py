"""Ports of this computer on which something else than a real sshd answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import paramiko

from gpulease_gui.domain.node import Address


@contextmanager
def listening(
    answer: Callable[[socket.socket], Address | None] = lambda caller: None, user: str = "root", passes: Callable[[], bool] = lambda: True
) -> Iterator[Address]:
    """Where `answer` talks with each caller, one after the other, and says where its bytes go from then on, as long as `passes()`;
    None = nowhere. It hangs up on nobody before the end.
    """
    server, ends = socket.create_server(("127.0.0.1", 0)), list[socket.socket]()

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if passes():
                    sink.sendall(data)
            if passes():
                sink.shutdown(socket.SHUT_WR)

    def lead(caller: socket.socket) -> None:
        place = answer(caller)
        if place is not None:
            ends.append(socket.create_connection((place.host, place.port)))
            for pair in ((caller, ends[-1]), (ends[-1], caller)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    def serve() -> None:
        while True:
            try:
                caller, _ = server.accept()
            except OSError:
                return
            ends.append(caller)
            with suppress(OSError, EOFError):
                lead(caller)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Address("127.0.0.1", server.getsockname()[1], user)
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def serving(
    rules: paramiko.ServerInterface, key: paramiko.PKey, make: Callable[[socket.socket], paramiko.Transport] = paramiko.Transport, user: str = "root"
) -> Iterator[tuple[Address, list[paramiko.Transport]]]:
    """A server of the library's own that does as `rules` say; and its side of each connection."""
    transports: list[paramiko.Transport] = []

    def serve(caller: socket.socket) -> None:
        transport = make(caller)
        transports.append(transport)
        transport.add_server_key(key)
        transport.start_server(event=threading.Event(), server=rules)

    try:
        with listening(serve, user) as address:
            yield address, transports
    finally:
        for transport in transports:
            transport.close()
            transport.join(60)
            transport.packetizer.complete_handshake()
