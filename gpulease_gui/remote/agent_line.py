"""What does the agent answer, within bounds of size and time, and what is wrong when it does not?"""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
from contextlib import suppress
from typing import Any

import paramiko
from paramiko.agent import AgentKey, AgentSSH, get_agent_connection

from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.ssh_options import NO_AGENT

LIST_S = 10.0
# A signature may wait for the user's finger; sshd itself waits 120 s for a login.
SIGN_S = 110.0
# As OpenSSH's own agent has them.
_BYTES_MAX, _KEYS_MAX = 256 * 1024, 2048
_LIST, _LISTED, _SIGN, _SIGNED = 11, 12, 13, 14
_NONSENSE = Text("what answers there is no agent", "应答的不是 agent")
_HUNG_UP = Text("the agent hung up", "agent 断开了连接")


class AgentLine(AgentSSH):
    """The agent at `place` ("" = as the environment says, "none" = nowhere); one that does not answer holds no keys.

    `trouble`: why it gave no keys, or no signature, in both languages; None = it did, or there is none. `is_late`: it was asked
    for a signature and did not answer in time.
    """

    def __init__(self, place: str = "") -> None:
        super().__init__()
        self.trouble: Text | None = None
        self.is_late = False
        self._end = 0.0
        self._line: Any = None
        try:
            self._line = _reached(place)
            if self._line is not None:
                self._list()
        except (OSError, paramiko.SSHException, ValueError, struct.error) as error:
            self.trouble = self.trouble or _words(error, place)
            self.close()

    def close(self) -> None:
        """Hang up; who waits for a signature waits no more."""
        line, self._line = self._line, None
        if isinstance(line, socket.socket):
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        if line is not None:
            line.close()

    def _list(self) -> None:
        kind, message = self._send_message(bytes([_LIST]))
        count = message.get_int()
        if kind != _LISTED or count > _KEYS_MAX:
            raise paramiko.SSHException("no list of keys")
        found = []
        for _ in range(count):
            blob, comment = message.get_binary(), message.get_binary()
            if len(blob) < 5:
                raise paramiko.SSHException("a key without bytes")
            found.append(AgentKey(agent=self, blob=blob, comment=comment.decode("utf-8", "replace")))
        self._keys = tuple(found)

    def _send_message(self, msg: bytes | paramiko.Message) -> tuple[int, paramiko.Message]:
        """One request and its answer. Raises SSHException; then `trouble` says why."""
        request = msg if isinstance(msg, bytes) else msg.asbytes()
        is_signature = request[0] == _SIGN
        self._end = time.monotonic() + (SIGN_S if is_signature else LIST_S)
        try:
            self._within()
            self._line.send(struct.pack(">I", len(request)) + request)
            (length,) = struct.unpack(">I", self._bytes(4))
            if not 1 <= length <= _BYTES_MAX:
                raise paramiko.SSHException("an answer of no length that an agent has")
            answer = paramiko.Message(self._bytes(length))
        except TimeoutError as error:
            self.is_late = is_signature
            self.trouble = Text(f"the agent did not sign within {SIGN_S:g} s", f"agent 在 {SIGN_S:g} 秒内没有签名") if is_signature else _words(error, "")
            raise paramiko.SSHException("the agent does not answer") from error
        except (OSError, AttributeError) as error:  # closed meanwhile
            self.trouble = self.trouble or _words(error if isinstance(error, OSError) else _HungUp(), "")
            raise paramiko.SSHException("the agent does not answer") from error
        except paramiko.SSHException as error:
            self.trouble = self.trouble or _words(error, "")
            raise
        kind = answer.get_byte()[0]
        if is_signature and kind != _SIGNED:
            self.trouble = Text("the agent refuses to sign with the key: it was denied, the agent is locked, or the hardware key is not there", "agent 拒绝用该密钥签名：被拒绝确认、agent 已锁定，或硬件密钥未插入")
        return kind, answer

    def _bytes(self, count: int) -> bytes:
        got = b""
        while len(got) < count:
            self._within()
            more = self._line.recv(count - len(got))
            if not more:
                raise _HungUp
            got += more
        return got

    def _within(self) -> None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if isinstance(self._line, socket.socket):
            self._line.settimeout(left)


class _HungUp(OSError):
    """The agent hung up."""


def _reached(place: str) -> Any:
    """A line to the agent, None = there is none. Raises OSError."""
    if place == NO_AGENT:
        return None
    if sys.platform == "win32" and not place:
        return get_agent_connection()
    where = place or os.environ.get("SSH_AUTH_SOCK", "")
    if not where or not hasattr(socket, "AF_UNIX"):
        return None
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.settimeout(LIST_S)
    try:
        line.connect(where)
    except BaseException:
        line.close()
        raise
    return line


def _words(error: Exception, place: str) -> Text:
    where = place or os.environ.get("SSH_AUTH_SOCK", "")
    if isinstance(error, TimeoutError):
        return Text(f"the agent does not answer within {LIST_S:g} s", f"agent 在 {LIST_S:g} 秒内没有应答")
    if isinstance(error, _HungUp | ConnectionResetError | BrokenPipeError):
        return _HUNG_UP
    if isinstance(error, OSError):
        why = os_reason(error)
        return Text(f"no agent listens at {where} ({why.en})", f"{where} 没有 agent（{why.zh}）")
    return _NONSENSE
