"""Which of the named certificates is about which of the user's keys?"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import product

from gpulease_gui.remote.named_files import KEY_BYTES_MAX, place_of, read_file

_MAGIC = b"openssh-key-v1\0"


def fits(certificate_file: str, key_file: str) -> bool | None:
    """Whether a certificate is about a key; None where the key's public half can't be seen without its passphrase."""
    public, certificate = public_of(key_file), blob_in(certificate_file)
    if certificate is None:
        return False
    return is_about(certificate, public) if public is not None else None


def is_about(certificate: bytes, public: bytes) -> bool:
    """Whether a certificate, as ssh sends it, speaks for a public key: it is its type, a nonce, then the fields of the key."""
    kind, fields = _string(public), _after(public, 1)
    return _string(certificate).startswith(kind.removesuffix(b"@openssh.com")) and _after(certificate, 2)[: len(fields)] == fields


def pairs(certificate_files: Sequence[str], key_files: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(certificate, key) of all that may belong together, in the order of the certificates."""
    return tuple((one, key) for one, key in product(certificate_files, key_files) if fits(one, key) is not False)


def public_of(key_file: str) -> bytes | None:
    """The public key of a file as ssh sends it: what is in it, or in the public file beside it, else the head of the private
    one, which is not encrypted in OpenSSH's form. None where it can't be seen.
    """
    beside = blob_in(key_file if key_file.endswith(".pub") else f"{key_file}.pub")
    if beside is not None:
        return beside
    try:
        text = read_file(place_of(key_file), KEY_BYTES_MAX).decode("ascii", "replace")
        body = base64.b64decode("".join(text.split("-----")[2].split())) if "BEGIN OPENSSH PRIVATE KEY" in text else b""
    except (OSError, ValueError, IndexError):
        return None
    if not body.startswith(_MAGIC):
        return None
    return _string(_after(body[len(_MAGIC) :], 3)[4:]) or None


def blob_in(file: str) -> bytes | None:
    """The key or certificate of a public file; None when there is none."""
    try:
        return base64.b64decode(read_file(place_of(file), KEY_BYTES_MAX).decode("utf-8-sig", "replace").split()[1], validate=True)
    except (OSError, ValueError, IndexError):
        return None


def kind_in(blob: bytes) -> str:
    """The type that a key or a certificate, as ssh sends it, names; foreign."""
    return _string(blob).decode("ascii", "replace")


def field_of(blob: bytes, number: int) -> bytes:
    """One of the strings of an SSH blob, from 0."""
    return _string(_after(blob, number))


def _string(blob: bytes) -> bytes:
    return blob[4 : 4 + int.from_bytes(blob[:4], "big")]


def _after(blob: bytes, count: int) -> bytes:
    """What follows the first `count` strings of an SSH blob."""
    for _ in range(count):
        blob = blob[4 + int.from_bytes(blob[:4], "big") :]
    return blob
