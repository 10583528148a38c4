"""Does a certificate of a host come from an authority that the user's known_hosts trusts for it?"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

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
from gpulease_gui.remote.algorithms import SIGNED_WITH


def certificate_of(key: paramiko.PKey) -> bytes:
    """The certificate that came with a host's key; b"" for a bare key."""
    blob = getattr(key, "public_blob", None)
    return bytes(blob.key_blob) if blob is not None else b""


def certificate_key(certificate: bytes) -> HostKey:
    """A whole certificate as a file of keys names it: its own type, and the digest of all of it."""
    kind = certificate[4 : 4 + int.from_bytes(certificate[:4], "big")].decode("ascii", "replace")
    return HostKey(kind, "SHA256:" + base64.b64encode(hashlib.sha256(certificate).digest()).decode().rstrip("="))


def why_not(
    certificate: bytes, name: str, authorities: Sequence[HostKey], revoked: Sequence[HostKey], algorithms: Sequence[str] = ()
) -> str:
    """Why a certificate does not vouch for the host `name` now; "" = it does.

    It has to be one for hosts, name the host (letter by letter, no pattern; an empty list of names does not, as in
    OpenSSH since 10.3), be valid today, hold no critical option, and be signed, not with SHA-1 and with one of
    `algorithms` (() = all of ours), by one of `authorities` that is not among `revoked`. As OpenSSH's PROTOCOL.certkeys.
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
    signed_with = fields_of(certificate).signed_with
    if signed_with not in SIGNED_WITH:
        return "its authority signed it with an algorithm that is not accepted (SHA-1)"
    if algorithms and signed_with not in algorithms:
        return f"its authority signed it with {signed_with}, which CASignatureAlgorithms leaves out"
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


@dataclass(frozen=True, slots=True)
class CertificateFields:
    """What a certificate says of itself, believed or not. `authority`: its key as ssh sends it."""

    serial: int
    name: bytes
    authority: bytes
    signed_with: str


def fields_of(certificate: bytes) -> CertificateFields:
    """Serial number, name, authority and algorithm of a certificate, by its fields' places; what is cut off is empty."""
    at = 0

    def string() -> bytes:
        nonlocal at
        end = at + 4 + int.from_bytes(certificate[at : at + 4], "big")
        found, at = certificate[at + 4 : end], end
        return found

    kind = string()
    for _ in range(2 if kind.startswith(b"ssh-ed25519") else 3):  # a random number, then the key: one field or two
        string()
    serial = int.from_bytes(certificate[at : at + 8], "big")
    at += 12  # serial and kind
    name = string()
    string()  # for whom
    at += 16  # from, until
    string(), string(), string()  # conditions, extensions, nothing
    authority, signature = string(), string()
    return CertificateFields(serial, name, authority, signature[4 : 4 + int.from_bytes(signature[:4], "big")].decode("ascii", "replace"))


def _about(read: SSHCertificate, name: str) -> str:
    """What in the certificate itself speaks against it."""
    if read.type is not SSHCertificateType.HOST:
        return "it is one for users"
    if not read.valid_after <= time.time() < read.valid_before:
        return "it is not valid today"
    if read.critical_options:
        return "it holds a condition that is not known"
    if not read.valid_principals:
        return "it names no host (OpenSSH before 10.3 took it for any)"
    return "" if name.lower().encode() in read.valid_principals else "it is for another host"


def _key(line: bytes) -> HostKey:
    kind, blob = line.split()[:2]
    digest = hashlib.sha256(base64.b64decode(blob)).digest()
    return HostKey(kind.decode(), "SHA256:" + base64.b64encode(digest).decode().rstrip("="))
