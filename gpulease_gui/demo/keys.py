"""Which keys do the simulated nodes show and accept?"""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import paramiko
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gpulease_gui.domain.node import HostKey


def host_key_of(name: str) -> paramiko.Ed25519Key:
    """The key of a node: the same at every start, so that its pin keeps its worth. It guards nothing: loopback only."""
    seed = hashlib.sha256(f"simulated node {name}".encode()).digest()
    return _as_paramiko(Ed25519PrivateKey.from_private_bytes(seed))


def pin_of(key: paramiko.PKey) -> HostKey:
    """The key as a pin is written."""
    return HostKey(key.get_name(), key.fingerprint)


def new_client_key(path: Path) -> paramiko.Ed25519Key:
    """A fresh key; its private half is written to `path` in OpenSSH's form, readable by us alone. Raises OSError."""
    private = Ed25519PrivateKey.generate()
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(_openssh(private))
    return _as_paramiko(private)


def _openssh(private: Ed25519PrivateKey) -> bytes:
    return private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())


def _as_paramiko(private: Ed25519PrivateKey) -> paramiko.Ed25519Key:
    return paramiko.Ed25519Key(file_obj=io.StringIO(_openssh(private).decode("ascii")))
