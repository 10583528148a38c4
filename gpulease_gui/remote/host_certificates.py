"""Does a certificate of a host come from an authority that the user's known_hosts trusts for it?"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Sequence

import paramiko
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    SSHCertificate,
    SSHCertificateType,
    load_ssh_public_identity,
)

from gpulease_gui.domain.node import HostKey

CERTIFICATE_TYPES = tuple(
    f"{kind}-cert-v01@openssh.com"
    for kind in ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "rsa-sha2-512", "rsa-sha2-256")
)
# What an authority may sign with: ssh's own defaults. Plain ssh-rsa signs with SHA-1, which can be forged.
_SIGNED_WITH = frozenset({
    b"ssh-ed25519", b"ecdsa-sha2-nistp256", b"ecdsa-sha2-nistp384", b"ecdsa-sha2-nistp521", b"sk-ssh-ed25519@openssh.com",
    b"sk-ecdsa-sha2-nistp256@openssh.com", b"rsa-sha2-256", b"rsa-sha2-512",
})  # fmt: skip


def certificate_of(key: paramiko.PKey) -> bytes:
    """The certificate that came with a host's key; b"" for a bare key."""
    blob = getattr(key, "public_blob", None)
    return bytes(blob.key_blob) if blob is not None else b""


def why_not(certificate: bytes, name: str, authorities: Sequence[HostKey], revoked: Sequence[HostKey]) -> str:
    """Why a certificate does not vouch for the host `name` now; "" = it does.

    It has to be one for hosts, name the host (letter by letter, no pattern; an empty list of names does not), be valid
    today, hold no critical option, and be signed, not with SHA-1, by one of `authorities` that is not among `revoked`.
    As OpenSSH's PROTOCOL.certkeys.
    """
    try:
        read = _read(certificate)
        if read is None:
            return "it is no certificate"
        read.verify_cert_signature()
        signer = _signer(read)
    except _UNREADABLE:
        return "its signature can't be verified"
    if signer not in authorities or signer in revoked:
        return "its authority is not one of known_hosts, or is revoked there"
    if _signed_with(certificate) not in _SIGNED_WITH:
        return "its authority signed it with an algorithm that is not accepted (SHA-1)"
    return _about(read, name)


def signer_of(certificate: bytes) -> HostKey | None:
    """The authority that a certificate names, whether it signed it or not; None = it can't be read."""
    try:
        read = _read(certificate)
        return _signer(read) if read is not None else None
    except _UNREADABLE:
        return None


_UNREADABLE = (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm)


def _read(certificate: bytes) -> SSHCertificate | None:
    kind = certificate[4 : 4 + int.from_bytes(certificate[:4], "big")]
    read = load_ssh_public_identity(kind + b" " + base64.b64encode(certificate))
    return read if isinstance(read, SSHCertificate) else None


def _signer(read: SSHCertificate) -> HostKey:
    return _key(read.signature_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH))


def _signed_with(certificate: bytes) -> bytes:
    """The algorithm in the last field of a certificate that was read: the signature."""
    at = 0

    def string() -> bytes:
        nonlocal at
        end = at + 4 + int.from_bytes(certificate[at : at + 4], "big")
        found, at = certificate[at + 4 : end], end
        return found

    kind = string()
    for _ in range(2 if kind.startswith(b"ssh-ed25519") else 3):  # a random number, then the key: one field or two
        string()
    at += 12  # serial and kind
    string(), string()  # its name, for whom
    at += 16  # from, until
    string(), string(), string(), string()  # conditions, extensions, nothing, the authority's key
    signature = string()
    return signature[4 : 4 + int.from_bytes(signature[:4], "big")]


def _about(read: SSHCertificate, name: str) -> str:
    """What in the certificate itself speaks against it."""
    if read.type is not SSHCertificateType.HOST:
        return "it is one for users"
    if not read.valid_after <= time.time() < read.valid_before:
        return "it is not valid today"
    if read.critical_options:
        return "it holds a condition that is not known"
    return "" if name.lower().encode() in read.valid_principals else "it is for another host"


def _key(line: bytes) -> HostKey:
    kind, blob = line.split()[:2]
    digest = hashlib.sha256(base64.b64decode(blob)).digest()
    return HostKey(kind.decode(), "SHA256:" + base64.b64encode(digest).decode().rstrip("="))
