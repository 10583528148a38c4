"""Which algorithms do we take, and which of them does an ssh config leave?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text

_CERTIFIED = "-cert-v01@openssh.com"
HOST_KEYS = (
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "rsa-sha2-512", "rsa-sha2-256",
)  # fmt: skip
HOST_CERTIFICATES = tuple(f"{name}{_CERTIFIED}" for name in HOST_KEYS)
_HARDWARE = ("sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com")
_HARDWARE_CERTIFICATES = tuple(name.replace("@openssh.com", _CERTIFIED) for name in _HARDWARE)
# What an authority may sign with: ssh's own defaults. Plain ssh-rsa signs with SHA-1, which can be forged.
SIGNED_WITH = (*HOST_KEYS[:4], *_HARDWARE, *HOST_KEYS[4:])
# Hardware keys sign through an agent.
USER_KEYS = (*HOST_CERTIFICATES[:4], *_HARDWARE_CERTIFICATES, *HOST_CERTIFICATES[4:], *SIGNED_WITH)
METHODS = ("publickey", "keyboard-interactive", "password")

HOST_KEY, SIGNATURE, USER_KEY, METHOD = "hostkeyalgorithms", "casignaturealgorithms", "pubkeyacceptedalgorithms", "preferredauthentications"
CIPHER, EXCHANGE, DIGEST = "ciphers", "kexalgorithms", "macs"
# As the library has them, without md5, sha1, cbc and 3des.
CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes192-ctr", "aes256-ctr")
# Two names of one exchange: that of RFC 8731, and the older one that the library knows.
CURVE25519 = ("curve25519-sha256", "curve25519-sha256@libssh.org")
EXCHANGES = (
    "ecdh-sha2-nistp256", *CURVE25519, "mlkem768x25519-sha256", "ecdh-sha2-nistp384", "ecdh-sha2-nistp521",
    "diffie-hellman-group16-sha512", "diffie-hellman-group-exchange-sha256", "diffie-hellman-group14-sha256",
)  # fmt: skip
DIGESTS = ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512")
# What we are able to do of each list, in ssh's own order.
ABLE: Mapping[str, tuple[str, ...]] = {
    HOST_KEY: (*HOST_CERTIFICATES, *HOST_KEYS), SIGNATURE: SIGNED_WITH, USER_KEY: USER_KEYS, METHOD: METHODS,
    CIPHER: CIPHERS, EXCHANGE: EXCHANGES, DIGEST: DIGESTS,
}  # fmt: skip
# All that ssh knows, in the order in which a pattern finds them; "" = it has no certificates.
_KNOWN = (
    ("ssh-ed25519", HOST_CERTIFICATES[0]), (_HARDWARE[0], _HARDWARE_CERTIFICATES[0]),
    *zip(HOST_KEYS[1:4], HOST_CERTIFICATES[1:4], strict=True), (_HARDWARE[1], _HARDWARE_CERTIFICATES[1]),
    ("webauthn-sk-ecdsa-sha2-nistp256@openssh.com", ""), *((name, f"{name}{_CERTIFIED}") for name in ("ssh-dss", "ssh-rsa", "rsa-sha2-256", "rsa-sha2-512")),
)  # fmt: skip
_WIRE_KNOWN: Mapping[str, tuple[str, ...]] = {
    CIPHER: (
        "3des-cbc", *(f"aes{bits}-{mode}" for mode in ("cbc", "ctr") for bits in (128, 192, 256)), *CIPHERS[:2], "chacha20-poly1305@openssh.com",
    ),
    EXCHANGE: (
        *(f"diffie-hellman-group{name}" for name in ("1-sha1", "14-sha1", "14-sha256", "16-sha512", "18-sha512", "-exchange-sha1", "-exchange-sha256")),
        *(f"ecdh-sha2-nistp{bits}" for bits in (256, 384, 521)), "curve25519-sha256", "curve25519-sha256@libssh.org",
        "sntrup761x25519-sha512", "sntrup761x25519-sha512@openssh.com", "mlkem768x25519-sha256",
    ),
    DIGEST: tuple(f"{name}{end}" for end in ("", "-etm@openssh.com") for name in (
        "hmac-sha1", "hmac-sha1-96", "hmac-sha2-256", "hmac-sha2-512", "hmac-md5", "hmac-md5-96",
    )) + tuple(f"umac-{bits}{end}@openssh.com" for end in ("", "-etm") for bits in (64, 128)),
}  # fmt: skip
# As ssh has them where no config says otherwise.
USUAL: Mapping[str, tuple[str, ...]] = {
    HOST_KEY: USER_KEYS, SIGNATURE: SIGNED_WITH, USER_KEY: USER_KEYS,
    CIPHER: ("chacha20-poly1305@openssh.com", *CIPHERS[2:], *CIPHERS[:2]),
    EXCHANGE: (
        "sntrup761x25519-sha512", "sntrup761x25519-sha512@openssh.com", "curve25519-sha256", "curve25519-sha256@libssh.org",
        *(f"ecdh-sha2-nistp{bits}" for bits in (256, 384, 521)),
        *(f"diffie-hellman-group{name}" for name in ("-exchange-sha256", "16-sha512", "18-sha512", "14-sha256")),
    ),
    DIGEST: (
        "umac-64-etm@openssh.com", "umac-128-etm@openssh.com", *DIGESTS[:2], "hmac-sha1-etm@openssh.com", "umac-64@openssh.com",
        "umac-128@openssh.com", *DIGESTS[2:], "hmac-sha1",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WireLists:
    """What a connection may agree on besides the host key, in its order; () = all of ours."""

    ciphers: tuple[str, ...] = ()
    exchanges: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()


def narrowed(keyword: str, name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that we are able to do, in their order; () where that is all of them, as we have them ourselves.

    Raises UsageError, with the option's `name`, where nothing is left.
    """
    wanted = tuple(names)
    left = tuple(dict.fromkeys(name for name in wanted if name in ABLE[keyword]))
    if not left:
        what = f"{name} {','.join(wanted)}".strip()
        able = ", ".join(ABLE[keyword])
        raise UsageError(
            Text(f"{what} leaves nothing that can be used", f"{what} 没有留下任何可用的算法或方式"), Text(f"usable are {able}", f"可用的有：{able}"),
            Text("add one of them, or take the line out", "请加入其中一种，或去掉该行"),
        )  # fmt: skip
    return () if left == ABLE[keyword] else left


def taken_away(keyword: str, names: Iterable[str]) -> str:
    """`-` and those that we are able to do and that are not among `names`; "" = none is missing. Patterns would not tell more."""
    left = set(names)
    missing = ",".join(name for name in ABLE[keyword] if name not in left)
    return f"-{missing}" if missing else ""


def not_able(keyword: str, names: Iterable[str], usual: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that a config asks for beside ssh's own, and that we don't do."""
    known = {*ABLE[keyword], *usual}
    return tuple(one for one in names if one not in known)


def spelt_out(keyword: str, words: str) -> tuple[str, ...] | None:
    """The list that the words of a config stand for: `+`, `-` and `^` change ssh's own, `*` and `?` are patterns.

    None for words that ssh refuses. For where no ssh can be asked.
    """
    sign, patterns = (words[:1], words[1:]) if words[:1] in ("+", "-", "^") else ("", words)
    usual = USUAL[keyword]
    known = _WIRE_KNOWN.get(keyword) or [name for pair in _KNOWN for name in (pair[:1] if keyword == SIGNATURE else pair) if name]
    hits = {pattern: [name for name in known if _fits(pattern, name)] for pattern in patterns.split(",") if pattern}
    if (sign != "-" and not (hits and all(hits.values()))) or "!" in patterns:
        return None
    if keyword in _WIRE_KNOWN and sign != "-" and re.search("[*?]", patterns):  # only what is taken out may be a pattern
        return None
    named = tuple(dict.fromkeys(name for names in hits.values() for name in names))
    rest = tuple(name for name in usual if name not in named)
    return {"": named, "+": (*usual, *(name for name in named if name not in usual)), "-": rest, "^": (*named, *rest)}[sign]


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), name) is not None


def signs_with(kind: str, accepted: tuple[str, ...], *, certified: bool = False) -> tuple[str, ...]:
    """The algorithms of `accepted` (() = all of ours) that a key of that type signs with, without what marks a certificate.

    `certified`: when it is shown with its certificate; a `kind` that is one's own name says that itself.
    """
    certified = certified or _CERTIFIED in kind
    plain = kind.replace(_CERTIFIED, "@openssh.com" if kind.startswith("sk-") else "")
    names = HOST_KEYS[4:] if plain == "ssh-rsa" else (plain,)
    wanted = {_certificate(name) if certified else name: name for name in names}
    return tuple(wanted[name] for name in accepted or USER_KEYS if name in wanted)


def _certificate(name: str) -> str:
    return f"{name.removesuffix('@openssh.com')}{_CERTIFIED}"
