"""Which private key do the bytes of a file hold, and if none, what is it instead?"""

from __future__ import annotations

import base64
import codecs
import io
import re
from dataclasses import dataclass

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa

from gpulease_gui.domain.text import Text, visible

_MAGIC = b"openssh-key-v1\0"
_CIPHERS = (b"none", b"aes256-ctr", b"aes256-cbc", b"aes256-gcm@openssh.com")
# ssh-keygen makes 24; each costs some milliseconds, and the number stands in the file for whoever made it to choose.
_ROUNDS_MAX = 4096
_RSA1 = b"SSH PRIVATE KEY FILE FORMAT 1.1"
_PUBLIC = re.compile(rb"(?:ssh-|ecdsa-|sk-|---- BEGIN SSH2 PUBLIC KEY|-----BEGIN (?:RSA )?PUBLIC KEY)")
_SOURCES = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"}
_FORMS = Text("ed25519, RSA and ECDSA keys are supported; hardware keys through the agent", "支持 ed25519、RSA、ECDSA 密钥；硬件密钥请用 agent")


@dataclass(frozen=True, slots=True)
class NoKey:
    """What a file is instead of a key that can be used. `cause`: a stable word; `what` follows the file's name."""

    cause: str
    what: Text
    step: Text


class NotOpened(ValueError):
    """The passphrase is not the key's, or there is none and the key is encrypted (`asks`)."""

    def __init__(self, *, asks: bool) -> None:
        super().__init__("a passphrase is needed" if asks else "the passphrase is wrong")
        self.asks = asks


def plain(data: bytes) -> bytes:
    """The text of a key file as ssh-keygen writes it, however an editor has saved it: in UTF-16, with a mark in front, with CRLF."""
    for mark, source in _SOURCES.items():
        if data.startswith(mark):
            data = data.decode(source, "replace").encode("ascii", "replace")
    return data.replace(b"\r\n", b"\n").lstrip()


def is_public(data: bytes) -> bool:
    """Whether it is a public key or a certificate."""
    return _PUBLIC.match(data) is not None


def no_key_in(data: bytes) -> NoKey | None:
    """What `plain` bytes are that nobody can log in with here; None = they may be a key."""
    if not data.strip(b"\0 \t\n"):
        return NoKey("key_empty", Text("is empty", "是空文件"), Text("copy the key there again, or choose another file", "请重新复制密钥，或选择其他文件"))
    if data.startswith(b"PuTTY-User-Key-File"):
        return NoKey("key_foreign", Text("is a PuTTY key", "是 PuTTY 格式密钥"), Text("export it as an OpenSSH key with PuTTYgen", "用 PuTTYgen 导出为 OpenSSH 格式"))
    if is_public(data):
        return _public(data)
    if data.startswith(_RSA1):
        return NoKey("key_old", Text("is an RSA1 key of SSH version 1, which no server takes any more", "是 SSH 第 1 版的 RSA1 密钥，已无服务端接受"), _new_key())
    if data.startswith(b"-----BEGIN DSA PRIVATE KEY"):
        return _dsa()
    return _odd_openssh(data) if b"BEGIN OPENSSH PRIVATE KEY" in data[:200] else None


def key_in(data: bytes, passphrase: bytes | None) -> paramiko.PKey | NoKey:
    """The key of `plain` bytes that `no_key_in` let pass, without a certificate. Raises NotOpened."""
    is_openssh = b"BEGIN OPENSSH PRIVATE KEY" in data[:200]
    load = serialization.load_ssh_private_key if is_openssh else serialization.load_pem_private_key
    try:
        made = load(data, passphrase)
    except TypeError as error:  # it is encrypted, or it is not
        if passphrase is None:
            raise NotOpened(asks=True) from error
        return key_in(data, None)
    except UnsupportedAlgorithm:
        return _cipher(Text("in a way that is not known here", "所用的加密方式本程序不认识"))
    except ValueError as error:
        if passphrase is not None:
            raise NotOpened(asks=False) from error
        return _nothing(data)
    if isinstance(made, rsa.RSAPrivateKey):
        return paramiko.RSAKey(key=made)
    if isinstance(made, ec.EllipticCurvePrivateKey):
        return paramiko.ECDSAKey(vals=(made, made.public_key()))
    if isinstance(made, ed25519.Ed25519PrivateKey):
        form = serialization.PrivateFormat.OpenSSH
        text = made.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
        return paramiko.Ed25519Key(file_obj=io.StringIO(text))
    return _dsa() if isinstance(made, dsa.DSAPrivateKey) else _nothing(data)


def _public(data: bytes) -> NoKey:
    if b"-cert-v01@openssh.com" in data[:80]:
        return NoKey("key_public", Text("is a certificate", "是证书"), Text("name the private key beside it, and this file as its certificate", "请指定对应的私钥，并将此文件设为其证书"))
    return NoKey("key_public", Text("is a public key", "是公钥"), Text("name the private key beside it", "请指定对应的私钥"))


def _new_key() -> Text:
    return Text("make a new key: ssh-keygen -t ed25519", "请生成新密钥：ssh-keygen -t ed25519")


def _dsa() -> NoKey:
    return NoKey("key_old", Text("is a DSA key, which servers take no more", "是 DSA 密钥，服务端已不再接受"), _new_key())


def _cipher(how: Text) -> NoKey:
    return NoKey(
        "key_cipher", Text(f"is encrypted {how.en}", f"已加密，{how.zh}"),
        Text("write it anew with ssh-keygen -p -f KEY, or load it into ssh-agent", "请用 ssh-keygen -p -f KEY 重新加密，或将其载入 ssh-agent"),
    )  # fmt: skip


def _nothing(data: bytes) -> NoKey:
    if data.startswith(b"-----BEGIN "):
        return NoKey("key_foreign", Text("is not a private key that can be used: it is damaged, or of a kind that is not supported", "不是可用的私钥：已损坏，或类型不受支持"), _FORMS)
    return NoKey("key_foreign", Text("is not a private key", "不是私钥"), _FORMS)


def _odd_openssh(data: bytes) -> NoKey | None:
    """What the head of a key in OpenSSH's form says, which is never encrypted."""
    try:
        body = base64.b64decode(b"".join(data.split(b"-----")[2].split()))
    except (ValueError, IndexError):
        return _nothing(data)
    if not body.startswith(_MAGIC):
        return _nothing(data)
    cipher, rest = _string(body[len(_MAGIC) :])
    kdf, rest = _string(rest)
    ways, rest = _string(rest)
    public, _ = _string(rest[4:])
    kind = _string(public)[0]
    if kind.startswith(b"sk-"):
        return NoKey(
            "key_hardware", Text("belongs to a hardware key (FIDO), which signs through an agent only", "属于硬件密钥（FIDO），只能经 agent 签名"),
            Text("ssh-add it with the hardware key plugged in, and choose the agent as the way of logging in", "请插入硬件密钥后 ssh-add，并将登录方式选为 agent"),
        )  # fmt: skip
    if kind == b"ssh-dss":
        return _dsa()
    if cipher not in _CIPHERS or kdf not in (b"none", b"bcrypt"):
        names = " ".join(visible(name[:60].decode("ascii", "replace")) for name in (cipher, kdf))
        return _cipher(Text(f"by {names}, which is not supported", f"方式为 {names}，不受支持"))
    rounds = int.from_bytes(_string(ways)[1][:4], "big")
    if kdf == b"bcrypt" and rounds > _ROUNDS_MAX:
        return _cipher(Text(f"in {rounds} rounds, which would take minutes each time", f"迭代 {rounds} 轮，每次都要数分钟"))
    return None


def _string(blob: bytes) -> tuple[bytes, bytes]:
    end = 4 + int.from_bytes(blob[:4], "big")
    return blob[4:end], blob[end:]
