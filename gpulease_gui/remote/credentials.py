"""With what do we log in?"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm

from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.failures import ConnectFailed, key_trouble

AskPassphrase = Callable[[str], Secret | None]


@dataclass(frozen=True, slots=True)
class Credentials:
    """The one way of logging in that is tried, or a key first and then a password if the node asks for both.

    `ask_passphrase` is called (in the connecting thread, with the key's path) only when the key is encrypted and
    `passphrase` is None; its answer None gives up.
    """

    method: AuthMethod = AuthMethod.KEY
    identity_file: str = ""
    passphrase: Secret | None = None
    password: Secret | None = None
    ask_passphrase: AskPassphrase | None = None


class KeyRing:
    """Private keys, each loaded once per process (an RSA key takes 0.2 s); owned by the composition."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: dict[tuple[str, int, int], paramiko.PKey] = {}

    def load(self, host_port: str, credentials: Credentials) -> paramiko.PKey:
        """The key of `credentials`. Raises ConnectFailed (phase auth) that says what is wrong with the file."""
        if not credentials.identity_file:
            raise key_trouble(
                host_port, "no_key", Text("no key file was named", "未指定密钥文件"),
                Text("name one (--identity), or choose agent or password", "指定密钥文件（--identity），或改用 agent 或密码"),
            )  # fmt: skip
        path = Path(credentials.identity_file).expanduser()
        with self._lock:  # so that one passphrase is asked once, however many nodes wait for it
            try:
                info = path.stat()
                mark = (str(path.resolve()), info.st_mtime_ns, info.st_size)
                if mark not in self._keys:
                    self._keys[mark] = _read(host_port, path, credentials)
                return self._keys[mark]
            except OSError as error:
                raise key_trouble(
                    host_port, "key_unreadable",
                    Text(f"the key file {path} can't be read: {error.strerror}", f"无法读取密钥文件 {path}：{error.strerror}"),
                    Text("check its path and permissions", "检查路径和权限"),
                ) from error  # fmt: skip


def _read(host_port: str, path: Path, credentials: Credentials) -> paramiko.PKey:
    if path.suffix == ".pub":
        raise _public(host_port, path)
    try:
        return paramiko.PKey.from_path(str(path))
    except (paramiko.PasswordRequiredException, TypeError):
        return _unlock(host_port, path, _passphrase(host_port, path, credentials))
    except (ValueError, paramiko.SSHException, UnsupportedAlgorithm) as error:
        raise _not_a_key(host_port, path, error) from error


def _passphrase(host_port: str, path: Path, credentials: Credentials) -> Secret:
    secret = credentials.passphrase
    if secret is None and credentials.ask_passphrase is not None:
        secret = credentials.ask_passphrase(str(path))
    if secret is None:
        raise key_trouble(
            host_port, "key_encrypted", Text(f"the key {path} is encrypted", f"密钥 {path} 已加密"),
            Text("give its passphrase", "请提供口令"),
        )  # fmt: skip
    return secret


def _unlock(host_port: str, path: Path, secret: Secret) -> paramiko.PKey:
    try:
        # The stubs say str, the library passes it on as bytes.
        return paramiko.PKey.from_path(str(path), secret.reveal().encode())  # type: ignore[arg-type]
    except (ValueError, TypeError, paramiko.SSHException, UnsupportedAlgorithm) as error:
        why = Text(f"the passphrase does not open {path}", f"口令无法解开 {path}")
        raise key_trouble(host_port, "wrong_passphrase", why) from error


def _not_a_key(host_port: str, path: Path, error: Exception) -> ConnectFailed:
    if path.read_bytes()[:4] in (b"ssh-", b"ecds", b"sk-s", b"sk-e"):
        return _public(host_port, path)
    if path.read_bytes().startswith(b"PuTTY-User-Key-File"):
        return key_trouble(
            host_port, "key_foreign", Text(f"{path} is a PuTTY key", f"{path} 是 PuTTY 格式密钥"),
            Text("export it as an OpenSSH key with PuTTYgen", "用 PuTTYgen 导出为 OpenSSH 格式"),
        )  # fmt: skip
    return key_trouble(
        host_port, "key_foreign",
        Text(f"{path} is not a private key that can be used ({type(error).__name__})", f"{path} 不是可用的私钥"),
        Text("ed25519, RSA and ECDSA keys are supported; hardware keys through the agent", "支持 ed25519、RSA、ECDSA 密钥；硬件密钥请用 agent"),
    )  # fmt: skip


def _public(host_port: str, path: Path) -> ConnectFailed:
    return key_trouble(
        host_port, "key_public", Text(f"{path} is a public key", f"{path} 是公钥"),
        Text("name the private key beside it", "请指定对应的私钥"),
    )  # fmt: skip


def agent_present() -> bool:
    """Whether an agent can be expected to answer."""
    return bool(os.environ.get("SSH_AUTH_SOCK")) or os.name == "nt"
