"""How may a key be shown to a host: with its certificate, bare, or not at all?"""

from __future__ import annotations

import copy
from typing import Any, cast

import paramiko

from gpulease_gui.domain.text import Text
from gpulease_gui.remote.algorithms import signs_with
from gpulease_gui.remote.failures import ConnectFailed, key_trouble


def shapes_of(key: paramiko.PKey, accepted: tuple[str, ...], *, certificate_only: bool = False) -> tuple[paramiko.PKey, ...]:
    """With its certificate if it has one, then bare, as ssh does: those that sign with one of `accepted` (() = all).

    `certificate_only`: its bare shape has a turn of its own.
    """
    shapes = (key,) if isinstance(key, paramiko.AgentKey) or not _certified(key) or certificate_only else (key, bare(key))
    return tuple(shape for shape in shapes if not accepted or _signatures(shape, accepted))


def sign_with(transport: paramiko.Transport, key: paramiko.PKey, accepted: tuple[str, ...]) -> None:
    """Let the library sign for this key with `accepted` algorithms only; () = as it does."""
    if accepted:
        cast("Any", transport)._preferred_pubkeys = _signatures(key, accepted)  # the stubs lack it


def not_accepted(host_port: str, file: str) -> ConnectFailed:
    """The config leaves no way to sign with the named key; "" = with any of the agent's."""
    what = Text(file, file) if file else Text("any key of the agent", "agent 中的密钥")
    return key_trouble(
        host_port, "key_not_accepted",
        Text(f"PubkeyAcceptedAlgorithms of the SSH options leaves nothing to sign with for {what.en}", f"SSH 选项 PubkeyAcceptedAlgorithms 不允许 {what.zh} 的任何签名算法"),
        Text("name another key, or add its algorithm to the option", "请指定其他密钥，或在该选项中加入其算法"),
    )  # fmt: skip


def _certified(key: paramiko.PKey) -> bool:
    return getattr(key, "public_blob", None) is not None


def _signatures(key: paramiko.PKey, accepted: tuple[str, ...]) -> tuple[str, ...]:
    return signs_with(key.get_name(), accepted, certified=_certified(key))


def bare(key: paramiko.PKey) -> paramiko.PKey:
    """The key without its certificate."""
    found = copy.copy(key)
    found.public_blob = None
    return found


def certificate_in(key: paramiko.PKey | None) -> bytes:
    """The certificate that a key is shown with; b"" = it is bare."""
    blob = getattr(key, "public_blob", None)
    return bytes(blob.key_blob) if blob is not None and not isinstance(key, paramiko.AgentKey) else b""
