"""How does the user prove who they are, on a connection whose host key is already trusted?"""

from __future__ import annotations

import time
from collections.abc import Callable

import paramiko

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, AuthMethod
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed, Phase, hung_up, key_trouble, login_refused, timed_out

# sshd hangs up after 6 by default; one is left for the user's next try by hand.
_AGENT_KEYS_MAX = 5


def log_in(
    transport: paramiko.Transport,
    address: Address,
    credentials: Credentials,
    key: paramiko.PKey | None,
    seconds: float,
    cancel: CancelToken,
) -> None:
    """Log in by the one chosen way. Raises ConnectFailed (auth), Cancelled."""
    transport.auth_timeout = seconds
    take_back = cancel.on_cancel(transport.close)
    try:
        rest = _first_step(transport, address, credentials, key, seconds)
        if rest:
            _second_step(transport, address, credentials, tuple(rest), seconds)
    except ConnectFailed:
        cancel.check()
        raise
    finally:
        take_back()


def _first_step(
    transport: paramiko.Transport, address: Address, credentials: Credentials, key: paramiko.PKey | None, seconds: float
) -> list[str]:
    if credentials.method is AuthMethod.AGENT:
        return _by_agent(transport, address, seconds)
    if credentials.method is AuthMethod.PASSWORD:
        return _by_password(transport, address, credentials, seconds)
    assert key is not None
    user = address.user
    return _attempt(transport, address.host_port, "key_refused", lambda: transport.auth_publickey(user, key), seconds)


def _second_step(
    transport: paramiko.Transport, address: Address, credentials: Credentials, rest: tuple[str, ...], seconds: float
) -> None:
    asks_password = bool({"password", "keyboard-interactive"} & set(rest))
    if credentials.method is not AuthMethod.PASSWORD and credentials.password is not None and asks_password:
        rest = tuple(_by_password(transport, address, credentials, seconds))
    if rest:
        why = Text("the node asks for a second factor", "节点要求第二种认证")
        raise login_refused(address.host_port, "second_factor", why, rest)


def _by_password(
    transport: paramiko.Transport, address: Address, credentials: Credentials, seconds: float
) -> list[str]:
    secret = credentials.password
    if secret is None:
        raise key_trouble(address.host_port, "no_password", Text("no password was given", "未提供密码"))
    user = address.user
    return _attempt(
        transport, address.host_port, "password_refused", lambda: transport.auth_password(user, secret.reveal()), seconds
    )


def _by_agent(transport: paramiko.Transport, address: Address, seconds: float) -> list[str]:
    agent = paramiko.Agent()
    try:
        keys = agent.get_keys()
        if not keys:
            raise key_trouble(
                address.host_port, "no_agent_key", Text("no agent answers, or it holds no key", "agent 未运行或没有密钥"),
                Text("start the agent and ssh-add the key, or name a key file", "启动 agent 并 ssh-add 密钥，或指定密钥文件"),
            )  # fmt: skip
        return _try_keys(transport, address, keys[:_AGENT_KEYS_MAX], seconds)
    finally:
        agent.close()


def _try_keys(
    transport: paramiko.Transport, address: Address, keys: tuple[paramiko.AgentKey, ...], seconds: float
) -> list[str]:
    failure: ConnectFailed | None = None
    for number, key in enumerate(keys):
        try:
            return _attempt(
                transport, address.host_port, "key_refused",
                lambda key=key: transport.auth_publickey(address.user, key), seconds,  # type: ignore[misc]
            )  # fmt: skip
        except ConnectFailed as error:
            if error.cause == "hung_up" and number:
                why = Text("too many keys of the agent were refused", "agent 中被拒绝的密钥过多")
                raise login_refused(address.host_port, "too_many_failures", why, ()) from error
            if error.cause != "key_refused":
                raise
            failure = error
    assert failure is not None
    raise failure


_WHY: dict[str, Text] = {
    "key_refused": Text("the node refuses this key for this user", "节点拒绝该用户使用此密钥"),
    "password_refused": Text("the node refuses the password", "节点拒绝该密码"),
}


def _attempt(
    transport: paramiko.Transport, host_port: str, cause: str, step: Callable[[], list[str]], seconds: float
) -> list[str]:
    """Run one step of authentication; the answer names what is still wanted. Raises ConnectFailed."""
    started = time.monotonic()
    try:
        return step()
    except paramiko.BadAuthenticationType as error:
        raise login_refused(host_port, cause, _WHY[cause], tuple(error.allowed_types)) from error
    except paramiko.AuthenticationException as error:
        if not transport.is_active():
            raise hung_up(Phase.AUTH, host_port) from error
        if time.monotonic() - started >= seconds:
            raise timed_out(Phase.AUTH, host_port, seconds) from error
        raise login_refused(host_port, cause, _WHY[cause], ()) from error
    except (paramiko.SSHException, EOFError, OSError) as error:
        if not transport.is_active():
            raise hung_up(Phase.AUTH, host_port) from error
        raise login_refused(host_port, cause, Text(str(error), str(error)), ()) from error
