"""With what do we log in?"""

from __future__ import annotations

import base64
import copy
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import paramiko
from paramiko.pkey import PublicBlob

from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.failures import ConnectFailed, key_trouble
from gpulease_gui.remote.key_certificates import blob_in, is_about, kind_in
from gpulease_gui.remote.key_files import NoKey, NotOpened, key_in, no_key_in, plain
from gpulease_gui.remote.named_files import KEY_BYTES_MAX, place_of, read_file, why_unread
from gpulease_gui.remote.ssh_options import NO_AGENT

PASSPHRASES_MAX = 3
# Times that named keys are shown: sshd hangs up with the sixth by default (MaxAuthTries), and counts all of them.
KEYS_MAX = 5

# The key's path and which try of it this is, from 1.
AskPassphrase = Callable[[str, int], Secret | None]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question that a node asks while logging in: plain foreign text, cut and made visible.

    `echo`: the answer may be seen while it is typed. `said`: what the node said above it.
    """

    words: str
    echo: bool = False
    said: str = ""


AskPrompt = Callable[[Prompt], Secret | None]
# Which try of the password it is, from 1, and the one that was refused a moment ago.
AskPassword = Callable[[int, Secret | None], Secret | None]


@dataclass(frozen=True, slots=True)
class Credentials:
    """The one way of logging in that is tried, or a key first and then what the node asks for on top.

    `identity_file` may name several keys, one a line, which are shown in turn, and `certificate_file` several certificates,
    each of which is shown with its key before all bare keys. `ask_passphrase` is called (in the
    connecting thread) only for a key that is encrypted and when `passphrase` is None; its answer None gives that key
    up, one that does not open it goes to `wrong_passphrase` with the path, and the next try is asked for. `ask_prompt`
    answers the node's questions, None gives up, too. With an agent, `identity_file` picks its key: a public key file
    (or the private one beside it) or `SHA256:...`; `agent` is where it listens ("" = as the environment says, "none" =
    no agent is used). `key_algorithms` that a key may sign with, and the `methods` of ssh that may be used, in their
    order: () = all of ours. RSA keys of fewer bits than `rsa_bits_least` are not shown. `ask_password` is called once the
    host wants a password that is not known, or refused the one that was; None gives up. `else_password`: where no key is
    taken, a password or the host's own questions are the next way, as nobody chose one.
    """

    method: AuthMethod = AuthMethod.KEY
    identity_file: str = ""
    passphrase: Secret | None = None
    password: Secret | None = None
    ask_passphrase: AskPassphrase | None = None
    certificate_file: str = ""
    ask_prompt: AskPrompt | None = None
    wrong_passphrase: Callable[[str], None] | None = None
    agent: str = ""
    key_algorithms: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    rsa_bits_least: int = 0
    ask_password: AskPassword | None = None
    else_password: bool = False


_PUBLIC_NAME = NoKey("key_public", Text("is a public key", "是公钥"), Text("name the private key beside it", "请指定对应的私钥"))


@dataclass(slots=True)
class _Place:
    """Where one private key is kept; whoever loads it holds the lock, so that it is asked for once."""

    lock: threading.Lock
    key: paramiko.PKey | None = None
    given_up: int = 0


class KeyRing:
    """Private keys, each loaded once per process (an RSA key takes 0.2 s); owned by the composition."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[tuple[str, int, int], _Place] = {}

    def load(self, host_port: str, credentials: Credentials) -> paramiko.PKey:
        """The one key of `credentials`. Raises ConnectFailed (phase auth) that says what is wrong with the file.

        While a passphrase is asked for only those wait who need the same key; if the user gives up, they give up.
        """
        if not credentials.identity_file:
            raise key_trouble(
                host_port, "no_key", Text("no key file was named, or none that was named is there", "未指定密钥文件，或指定的文件不存在"),
                Text("name one in the node's form, or load the key into ssh-agent", "请在节点表单中指定密钥文件，或将密钥载入 ssh-agent"),
                "name one with --identity FILE, or load the key into ssh-agent",
            )  # fmt: skip
        path = place_of(credentials.identity_file)
        try:
            return _certified(host_port, self._plain(host_port, path, credentials), credentials)
        except OSError as error:
            words = why_unread(error, path)
            raise key_trouble(
                host_port, "key_unreadable",
                Text(f"the key file {path} can't be read: {words.en}", f"无法读取密钥文件 {path}：{words.zh}"),
                Text("check its path and permissions", "检查路径和权限"),
            ) from error  # fmt: skip
        except ValueError as error:  # a NUL byte
            raise key_trouble(host_port, "key_unreadable", Text("the key's path is no path of a file", "密钥的路径无效")) from error

    def would_ask(self, credentials: Credentials) -> bool:
        """Whether loading it would ask the user; never raises."""
        if credentials.passphrase is not None or not is_encrypted(credentials.identity_file):
            return False
        try:
            return self._place(place_of(credentials.identity_file)).key is None
        except (OSError, ValueError):
            return False

    def _place(self, path: Path) -> _Place:
        info = path.stat()
        with self._lock:
            return self._places.setdefault((str(path), info.st_mtime_ns, info.st_size), _Place(threading.Lock()))

    def _plain(self, host_port: str, path: Path, credentials: Credentials) -> paramiko.PKey:
        place = self._place(path)
        given_up = place.given_up
        with place.lock:
            if place.key is not None:
                return place.key
            if place.given_up != given_up:
                raise _encrypted(host_port, path)
            try:
                place.key = _read(host_port, path, credentials)
            except ConnectFailed as error:
                place.given_up += error.cause in ("key_encrypted", "wrong_passphrase")
                raise
            return place.key


def _read(host_port: str, path: Path, credentials: Credentials) -> paramiko.PKey:
    data = plain(read_file(path, KEY_BYTES_MAX))
    instead = no_key_in(data) or (_PUBLIC_NAME if path.suffix == ".pub" else None)
    if instead is not None:
        raise _not_a_key(host_port, path, instead)
    _refuse_open(host_port, path)
    try:
        return _with_certificate_beside(_opened(host_port, path, data, None), path)
    except NotOpened:
        return _with_certificate_beside(_unlocked(host_port, path, data, credentials), path)


def _opened(host_port: str, path: Path, data: bytes, passphrase: Secret | None) -> paramiko.PKey:
    """The key in a file's bytes. Raises NotOpened, ConnectFailed."""
    found = key_in(data, passphrase.reveal().encode() if passphrase is not None else None)
    if isinstance(found, NoKey):
        raise _not_a_key(host_port, path, found)
    return found


def _with_certificate_beside(key: paramiko.PKey, path: Path) -> paramiko.PKey:
    """With `KEY-cert.pub` beside it, if that is there and about this key."""
    certificate = blob_in(f"{path}-cert.pub")
    if certificate is not None and is_about(certificate, key.asbytes()):
        key.public_blob = PublicBlob(kind_in(certificate), certificate)
    return key


def _refuse_open(host_port: str, path: Path) -> None:
    """A key of the user that others may read is nobody's secret: ssh does not use it either. Raises ConnectFailed, OSError."""
    if not _open_to_others(path):
        return
    raise key_trouble(
        host_port, "key_open_to_others",
        Text(f"other users of this computer can read the key {path}, so ssh does not use it", f"本机其他用户可以读取密钥 {path}，ssh 也不会使用它"),
        Text(f"chmod 600 {path}; if others may have read it, make a new key", f"请执行 chmod 600 {path}；若可能已被他人读取，请更换密钥"),
    )  # fmt: skip


def _open_to_others(path: Path) -> bool:
    info = path.stat()
    mine = sys.platform != "win32" and info.st_uid == os.getuid() and info.st_mode & 0o077
    return bool(mine) and plain(read_file(path, KEY_BYTES_MAX)).startswith(b"-----BEGIN ")


def _certified(host_port: str, key: paramiko.PKey, credentials: Credentials) -> paramiko.PKey:
    """The key with its certificate: the named one, else the one beside it, which it came with."""
    if not credentials.certificate_file:
        return key
    path = place_of(credentials.certificate_file)
    certificate = blob_in(str(path))
    if certificate is None or "-cert-" not in kind_in(certificate) or not is_about(certificate, key.asbytes()):
        raise _no_certificate(host_port, path)
    certified = copy.copy(key)
    certified.public_blob = PublicBlob(kind_in(certificate), certificate)
    return certified


def _no_certificate(host_port: str, path: Path) -> ConnectFailed:
    return key_trouble(
        host_port, "bad_certificate", Text(f"{path} is no certificate of this key", f"{path} 不是该密钥的证书"),
        Text("name the file that the CA signed (KEY-cert.pub)", "请指定 CA 签发的文件（KEY-cert.pub）"),
    )  # fmt: skip


def _unlocked(host_port: str, path: Path, data: bytes, credentials: Credentials) -> paramiko.PKey:
    """By the given passphrase, else by what the user types: three tries."""
    if credentials.passphrase is not None:
        return _unlock(host_port, path, data, credentials.passphrase)
    for number in range(1, PASSPHRASES_MAX + 1):
        secret = credentials.ask_passphrase(str(path), number) if credentials.ask_passphrase is not None else None
        if secret is None:
            raise _encrypted(host_port, path)
        try:
            return _unlock(host_port, path, data, secret)
        except ConnectFailed as error:
            if error.cause != "wrong_passphrase":
                raise
            if credentials.wrong_passphrase is not None:
                credentials.wrong_passphrase(str(path))
            if number == PASSPHRASES_MAX:
                raise
    raise AssertionError("unreachable")


def _encrypted(host_port: str, path: Path) -> ConnectFailed:
    return key_trouble(
        host_port, "key_encrypted", Text(f"the key {path} is encrypted", f"密钥 {path} 已加密"),
        Text("enter its passphrase when asked, or load the key into ssh-agent", "请在询问时输入口令，或将密钥载入 ssh-agent"),
        "its passphrase is asked for in a terminal, where Enter alone or Ctrl+D gives up; or load the key into ssh-agent",
    )  # fmt: skip


def _unlock(host_port: str, path: Path, data: bytes, secret: Secret) -> paramiko.PKey:
    try:
        return _opened(host_port, path, data, secret)
    except NotOpened as error:
        why = Text(f"the passphrase does not open {path}", f"口令无法解开 {path}")
        step = Text(
            "try again; if it stays wrong, check with ssh-keygen -y -f KEY that it belongs to this key",
            "请重试；若仍不对，请用 ssh-keygen -y -f KEY 确认口令属于该密钥",
        )
        raise key_trouble(host_port, "wrong_passphrase", why, step) from error


def _not_a_key(host_port: str, path: Path, instead: NoKey) -> ConnectFailed:
    what = instead.what
    return key_trouble(host_port, instead.cause, Text(f"{path} {what.en}", f"{path} {what.zh}"), instead.step)


def agent_present(agent: str = "") -> bool:
    """Whether the agent (as in Credentials) can be expected to answer."""
    return agent != NO_AGENT if agent else bool(os.environ.get("SSH_AUTH_SOCK")) or os.name == "nt"


def is_of_no_use(path: str) -> bool:
    """Whether a private key file can't be used as it is: it is locked, of hardware, none, not there, others can read it, or we can't."""
    try:
        return is_encrypted(path) or _open_to_others(place_of(path)) or no_key_in(plain(read_file(place_of(path), KEY_BYTES_MAX))) is not None
    except (PermissionError, FileNotFoundError):
        return True
    except (OSError, ValueError):
        return False


def is_encrypted(path: str) -> bool:
    """Whether a private key file asks for a passphrase; False when it can't be read or is none."""
    try:
        text = plain(read_file(place_of(path), KEY_BYTES_MAX)).decode("ascii", "replace")
        if "BEGIN OPENSSH PRIVATE KEY" in text:
            body = "".join(text.split("-----")[2].split())
            return b"\0\0\0\4none" not in base64.b64decode(body[:64])[:24]
    except (OSError, ValueError, IndexError):
        return False
    return "ENCRYPTED" in text
