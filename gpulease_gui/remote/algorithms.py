"""Which algorithms do we take, and which of them does an ssh config leave?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gpulease_gui.domain.errors import UsageError

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
# What we are able to do of each list, in ssh's own order.
ABLE: Mapping[str, tuple[str, ...]] = {
    HOST_KEY: (*HOST_CERTIFICATES, *HOST_KEYS), SIGNATURE: SIGNED_WITH, USER_KEY: USER_KEYS, METHOD: METHODS,
}  # fmt: skip
# All that ssh knows, in the order in which a pattern finds them; "" = it has no certificates.
_KNOWN = (
    ("ssh-ed25519", HOST_CERTIFICATES[0]), (_HARDWARE[0], _HARDWARE_CERTIFICATES[0]),
    *zip(HOST_KEYS[1:4], HOST_CERTIFICATES[1:4], strict=True), (_HARDWARE[1], _HARDWARE_CERTIFICATES[1]),
    ("webauthn-sk-ecdsa-sha2-nistp256@openssh.com", ""), *((name, f"{name}{_CERTIFIED}") for name in ("ssh-dss", "ssh-rsa", "rsa-sha2-256", "rsa-sha2-512")),
)  # fmt: skip
# As ssh has them where no config says otherwise.
USUAL: Mapping[str, tuple[str, ...]] = {HOST_KEY: USER_KEYS, SIGNATURE: SIGNED_WITH, USER_KEY: USER_KEYS}


def narrowed(keyword: str, name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that we are able to do, in their order; () where that is all of them, as we have them ourselves.

    Raises UsageError, with the option's `name`, where nothing is left.
    """
    wanted = tuple(names)
    left = tuple(dict.fromkeys(one for one in wanted if one in ABLE[keyword]))
    if not left:
        what = f"{name} {','.join(wanted)}".strip()
        raise UsageError(f"{what} leaves nothing that can be used", f"usable are {', '.join(ABLE[keyword])}", "add one of them, or take the line out")
    return () if left == ABLE[keyword] else left


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
    known = [name for pair in _KNOWN for name in (pair[:1] if keyword == SIGNATURE else pair) if name]
    hits = {pattern: [name for name in known if _fits(pattern, name)] for pattern in patterns.split(",") if pattern}
    if (sign != "-" and not (hits and all(hits.values()))) or "!" in patterns:
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
