"""Is an RSA key as long as the SSH options ask for (RequiredRSASize)?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.remote.failures import ConnectFailed, Phase, key_trouble
from gpulease_gui.remote.key_certificates import field_of, kind_in

# ssh takes no shorter one, whatever its config says.
RSA_BITS_LEAST = 1024


def rsa_bits(blob: bytes) -> int | None:
    """The length of an RSA key, or of the one in a certificate, as ssh sends it; None for keys of other types."""
    modulus = {"ssh-rsa": 2, "ssh-rsa-cert-v01@openssh.com": 3}.get(kind_in(blob))
    return int.from_bytes(field_of(blob, modulus), "big").bit_length() if modulus is not None else None


def is_too_short(blob: bytes, least: int) -> bool:
    """Whether it is an RSA key of fewer than `least` bits."""
    bits = rsa_bits(blob)
    return bits is not None and bits < max(least, RSA_BITS_LEAST)


def short_host_key(host_port: str, blob: bytes, least: int) -> ConnectFailed:
    """The host shows a key that is too short; ssh ends the connection, too."""
    bits = rsa_bits(blob)
    return ConnectFailed(
        Phase.HOST_KEY, host_port, "host_key_too_short",
        Text(f"its RSA host key has {bits} bits, RequiredRSASize of the SSH options asks for {least}", f"其 RSA 主机密钥为 {bits} 位，SSH 选项 RequiredRSASize 要求 {least} 位"),
        Text("ask the supplier for a host key of another type (ed25519) or a longer one, or lower the option", "请供应商提供其他类型（ed25519）或更长的主机密钥，或调低该选项"),
    )  # fmt: skip


def short_user_key(host_port: str, file: str, bits: int | None, least: int) -> ConnectFailed:
    """A key of the user that is too short to be shown, as in ssh. `file` "" = of the agent, none of whose keys is longer."""
    what = Text(f"the RSA key {file}", f"RSA 密钥 {file}") if file else Text("each key of the agent", "agent 中的密钥")
    return key_trouble(
        host_port, "key_too_short",
        Text(f"{what.en} has {bits} bits, RequiredRSASize of the SSH options asks for {least}", f"{what.zh} 为 {bits} 位，SSH 选项 RequiredRSASize 要求 {least} 位"),
        Text("name a longer key or one of another type (ed25519), or lower the option", "请指定更长或其他类型（ed25519）的密钥，或调低该选项"),
    )  # fmt: skip
