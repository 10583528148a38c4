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
from gpulease_gui.remote.known_hosts import pattern_matches

CERTIFICATE_TYPES = tuple(
    f"{kind}-cert-v01@openssh.com"
    for kind in ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "rsa-sha2-512", "rsa-sha2-256")
)


def certificate_of(key: paramiko.PKey) -> bytes:
    """The certificate that came with a host's key; b"" for a bare key."""
    blob = getattr(key, "public_blob", None)
    return bytes(blob.key_blob) if blob is not None else b""


def why_not(certificate: bytes, name: str, authorities: Sequence[HostKey], revoked: Sequence[HostKey]) -> str:
    """Why a certificate does not vouch for the host `name` now; "" = it does.

    It has to be one for hosts, name the host (patterns count, an empty list of names does not), be valid today, hold no
    critical option, and be signed by one of `authorities` that is not among `revoked`. As OpenSSH's PROTOCOL.certkeys.
    """
    kind = certificate[4 : 4 + int.from_bytes(certificate[:4], "big")]
    try:
        read = load_ssh_public_identity(kind + b" " + base64.b64encode(certificate))
        if not isinstance(read, SSHCertificate):
            return "it is no certificate"
        read.verify_cert_signature()
        signer = read.signature_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return "its signature can't be verified"
    if _key(signer) not in authorities or _key(signer) in revoked:
        return "its authority is not one of known_hosts, or is revoked there"
    return _about(read, name)


def _about(read: SSHCertificate, name: str) -> str:
    """What in the certificate itself speaks against it."""
    if read.type is not SSHCertificateType.HOST:
        return "it is one for users"
    if not read.valid_after <= time.time() < read.valid_before:
        return "it is not valid today"
    if read.critical_options:
        return "it holds a condition that is not known"
    names = [principal.decode("utf-8", "replace").lower() for principal in read.valid_principals]
    return "" if any(pattern_matches(pattern, name.lower()) for pattern in names) else "it is for another host"


def _key(line: bytes) -> HostKey:
    kind, blob = line.split()[:2]
    digest = hashlib.sha256(base64.b64decode(blob)).digest()
    return HostKey(kind.decode(), "SHA256:" + base64.b64encode(digest).decode().rstrip("="))
