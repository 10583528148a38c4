"""How does the user prove who they are, on a connection whose host key is already trusted?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import paramiko

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, AuthMethod
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.agent_keys import keys_of_agent
from gpulease_gui.remote.algorithms import METHODS
from gpulease_gui.remote.answers import Answers
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.driving import go_alone
from gpulease_gui.remote.failures import ConnectFailed, Phase, key_trouble, login_refused, one_line, timed_out
from gpulease_gui.remote.handshake import Deadlines, cut, gone
from gpulease_gui.remote.key_shapes import not_accepted, shapes_of, sign_with
from gpulease_gui.remote.masking import masked
from gpulease_gui.remote.quick_auth import auth_if_welcome, auth_publickey
from gpulease_gui.remote.read_ahead import ReadAhead
from gpulease_gui.remote.rsa_length import is_too_short, rsa_bits, short_user_key
from gpulease_gui.remote.said_words import in_both
from gpulease_gui.remote.wire import Wire

# Of all ways together: more tries would lock out the user, or get this address banned.
TRIES_MAX = 3

_WHY: dict[str, Text] = {
    "key_refused": Text("the node refuses this key for this user", "节点拒绝该用户使用此密钥"),
    "password_refused": Text("the node refuses the password", "节点拒绝该密码"),
    "answer_refused": Text("the node refuses the answers to its questions", "节点不接受所填的验证信息"),
    "no_password_wanted": Text("the node takes neither a password nor answers", "节点不接受密码，也不提问"),
}


_STEPS = ("password", "keyboard-interactive")


def _barred(host_port: str, wanted: Sequence[str], methods: Sequence[str]) -> ConnectFailed:
    left, asked = ", ".join(methods), ", ".join(wanted)
    error = login_refused(host_port, "way_barred", Text(
        f"PreferredAuthentications of the SSH options leaves {left}, and {asked} would be needed",
        f"SSH 选项 PreferredAuthentications 只允许 {left}，而此处需要 {asked}",
    ), ())  # fmt: skip
    error.next_text = Text("add it to the option, or choose another way of logging in", "请在该选项中加入，或选择其他登录方式")
    return error


def _typed_too_late(host_port: str) -> ConnectFailed:
    return login_refused(host_port, "typed_too_late", Text(
        "the node ended the login while the password was typed; it waits only for so long (LoginGraceTime)",
        "输入密码期间节点结束了登录：它只等待有限的时间（LoginGraceTime）",
    ), ())  # fmt: skip


def _asks_without_end(host_port: str) -> ConnectFailed:
    error = login_refused(host_port, "asks_without_end", Text(
        "the node asks on and on while we log in, and neither lets us in nor refuses", "节点在登录时不停地提问，既不放行也不拒绝",
    ), ())  # fmt: skip
    error.next_text = Text("its SSH server is broken or hostile; ask the supplier", "该 SSH 服务有故障或有恶意，请询问供应商")
    return error


def _no_more_tries(before: ConnectFailed | None, error: ConnectFailed) -> ConnectFailed:
    """`error`, but where a node hangs up after it had refused what was typed `before`, that is the reason."""
    if before is None or error.cause != "hung_up":
        return error
    before.also(Text("then it ended the login: it takes no more tries (MaxAuthTries)", "随后结束了登录：它不再接受更多尝试（MaxAuthTries）"))
    return before


# A way of logging in with its private key, which one of the agent has none of.
KeyToTry = tuple[Credentials, paramiko.PKey | None]


def shown_name(credentials: Credentials) -> str:
    """The file that is shown: the named certificate, else the key."""
    return credentials.certificate_file or credentials.identity_file


def log_in_by_one_of(
    transport: paramiko.Transport, address: Address, keys: Sequence[KeyToTry], deadlines: Deadlines, cancel: CancelToken,
    before: Sequence[str] = (),
) -> None:  # fmt: skip
    """Log in with the first of the named keys that the node takes; raises as `log_in`, naming all that it refused.

    `before`: the files that it refused on an earlier connection.
    """
    for number, (credentials, key) in enumerate(keys, 1):
        try:
            return log_in(transport, address, credentials, key, deadlines, cancel, several=len(keys) + len(before) > 1)
        except ConnectFailed as error:
            if number < len(keys) and error.cause == "key_refused" and transport.is_active():
                continue
            tried = [*before, *(shown_name(credentials) for credentials, _ in keys[:number])]
            if number > 1 and (error.phase, error.cause) == (Phase.AUTH, "hung_up"):
                left = [shown_name(credentials) for credentials, _ in keys[number:]]
                raise too_many_tries(address.host_port, tried[:-1], [tried[-1], *left]) from error
            if error.cause == "hung_up" and isinstance(transport, Wire) and transport.no_more_tries:
                left = [shown_name(credentials) for credentials, _ in keys[number:]]
                raise (too_many_tries(address.host_port, tried, left) if left else no_try_left(address.host_port, tried)) from error
            if len(tried) == 1:
                raise
            raise _all_refused(address, tried, error) from error


def _all_refused(address: Address, tried: Sequence[str], last: ConnectFailed) -> ConnectFailed:
    files = ", ".join(tried)
    why = Text(f"{last.why_text.en} (tried in turn: {files})", f"{last.why_text.zh}（依次尝试：{files}）")
    error = login_refused(address.host_port, last.cause, why, ())
    error.next_text, error.at_terminal = last.next_text, last.at_terminal
    return error


def too_many_tries(host_port: str, refused: Sequence[str], left: Sequence[str]) -> ConnectFailed:
    """The node ended the login among the named keys, as one does that takes few tries (MaxAuthTries)."""
    tried, open_ = ", ".join(dict.fromkeys(refused)), ", ".join(dict.fromkeys(left))
    error = login_refused(host_port, "too_many_failures", Text(
        f"the node ended the login after it had refused {tried}; it takes no more tries (MaxAuthTries), so not judged: {open_}",
        f"节点拒绝 {tried} 后结束了登录：它不再接受更多尝试（MaxAuthTries），以下密钥未经判断：{open_}",
    ), ())  # fmt: skip
    error.next_text = Text("name the key that belongs to this node alone, or first", "请只指定属于该节点的密钥，或将其放在最前")
    return error


def no_try_left(host_port: str, refused: Sequence[str]) -> ConnectFailed:
    """The node takes one try, and ended the login as the key was shown."""
    tried = ", ".join(dict.fromkeys(refused))
    error = login_refused(host_port, "too_many_failures", Text(
        f"the node refuses {tried} and ends the login: it takes no more tries (MaxAuthTries)",
        f"节点拒绝 {tried} 并结束了登录：它不再接受更多尝试（MaxAuthTries）",
    ), ())  # fmt: skip
    error.next_text = Text(
        "name a key that is known there, or let a password be tried first (PreferredAuthentications password)",
        "请指定对方认识的密钥，或先用密码登录（PreferredAuthentications password）",
    )  # fmt: skip
    return error


def log_in(
    transport: paramiko.Transport,
    address: Address,
    credentials: Credentials,
    key: paramiko.PKey | None,
    deadlines: Deadlines,
    cancel: CancelToken,
    *,
    several: bool = False,
) -> None:
    """Log in by the one chosen way, then by what the node asks for on top. Raises ConnectFailed (auth), Cancelled.

    `several`: this key is one of some that are shown in turn.
    """
    login = _Login(transport, address, credentials, deadlines, several)
    take_back = cancel.on_cancel(partial(cut, transport))
    try:
        rest = login.first(key)
        if rest:
            login.second(tuple(rest))
    except ConnectFailed:
        cancel.check()
        raise
    finally:
        take_back()


@dataclass(slots=True)
class _Login:
    """One login on one connection. Every step answers with the ways that the node wants next, none = we are in."""

    transport: paramiko.Transport
    address: Address
    credentials: Credentials
    deadlines: Deadlines
    several: bool = False

    def first(self, key: paramiko.PKey | None) -> list[str]:
        if self.credentials.method is not AuthMethod.PASSWORD and not self._may("publickey"):
            raise _barred(self.address.host_port, ("publickey",), self.credentials.methods)
        if self.credentials.method is AuthMethod.AGENT:
            return self._by_agent()
        if self.credentials.method is AuthMethod.PASSWORD:
            return self._by_password()
        assert key is not None
        return self._by_key(key)

    def second(self, rest: tuple[str, ...]) -> None:
        """What the node wants on top: a password, or answers to its own questions."""
        knows = self.credentials.password is not None or self.credentials.ask_password is not None
        # A password that was accepted a moment ago is no answer to the question that comes after it.
        gave_one = self.credentials.method is AuthMethod.PASSWORD
        for _ in _STEPS:
            allowed = tuple(filter(self._may, rest))
            if "password" in allowed and knows and not gave_one:
                rest, gave_one = self._password_on_top(rest), True
            elif "keyboard-interactive" in allowed and (self.credentials.ask_prompt is not None or knows):
                rest = tuple(self._by_answers(known=not gave_one))
                break
            else:
                break
        if rest and not any(self._may(way) for way in rest):
            raise _barred(self.address.host_port, rest, self.credentials.methods)
        if rest:
            why = Text("the node asks for a second factor", "节点要求第二种认证")
            raise login_refused(self.address.host_port, "second_factor", why, rest)

    def _password_on_top(self, rest: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(self._by("password"))
        except ConnectFailed as error:
            if error.cause == "no_password":  # nobody was there to type one
                return rest
            raise

    def _by_key(self, key: paramiko.PKey) -> list[str]:
        only = bool(self.credentials.certificate_file)
        *first, last = shapes_of(key, self.credentials.key_algorithms, certificate_only=only)
        for shape in first:
            try:
                return self._publickey(shape)
            except ConnectFailed as error:
                if error.cause != "key_refused":
                    raise
        return self._publickey(last)

    def _publickey(self, key: paramiko.PKey, *, ask_first: bool = False) -> list[str]:
        sign_with(self.transport, key, self.credentials.key_algorithms)
        show = auth_if_welcome if ask_first else auth_publickey
        return self._attempt("key_refused", lambda: show(self.transport, self.address.user, key))

    def _may(self, way: str) -> bool:
        return way in (self.credentials.methods or METHODS)

    def _by_password(self) -> list[str]:
        """As a password, or as the answer to the host's question for it: only by a way that it takes, as each other one is a try.

        One that we know goes as a password first. Where it is asked for, the host's own questions come before, as in ssh.
        """
        host_port, only = self.address.host_port, self.credentials.methods
        asked = self.credentials.password is None and self.credentials.else_password
        left = [way for way in only or (METHODS if asked else METHODS[::-1]) if way in _STEPS]
        if not left:
            raise _barred(host_port, ("password",), only)
        go_alone(self.transport)
        try:
            return self._attempt("no_password_wanted", lambda: self.transport.auth_none(self.address.user))
        except ConnectFailed as error:
            if not isinstance(error.__cause__, paramiko.BadAuthenticationType):
                raise
            taken = tuple(error.__cause__.allowed_types)
        ways = [way for way in left if way in taken]
        for way in ways:
            try:
                return self._by(way)
            except ConnectFailed as error:
                if error.cause != "nothing_asked" or way == ways[-1]:
                    raise
        barred = tuple(way for way in _STEPS if way in taken)
        if barred and not asked:
            raise _barred(host_port, barred, only)
        raise login_refused(host_port, "no_password_wanted", _WHY["no_password_wanted"], taken)

    def _by(self, way: str) -> list[str]:
        return self._by_answers() if way == "keyboard-interactive" else self._by_secret()

    def _by_secret(self) -> list[str]:
        """Up to three tries while the user types new ones; one that is known is the first."""
        secret, ask, refused = self.credentials.password, self.credentials.ask_password, None
        go_alone(self.transport)
        for number in range(1, TRIES_MAX + 1):
            if ask is not None and (secret is None or number > 1):
                secret = ask(number, secret)
            if secret is None:
                break
            if not self.transport.is_active() and ask is not None:
                raise _typed_too_late(self.address.host_port)
            try:
                return self._attempt("password_refused", partial(self._send, secret))
            except ConnectFailed as error:
                refused = _no_more_tries(refused, error)
                if ask is None or error.cause != "password_refused" or isinstance(error.__cause__, paramiko.BadAuthenticationType):
                    break
        raise refused or key_trouble(
            self.address.host_port, "no_password", Text("no password was given", "未提供密码"),
            Text("enter it when asked, or use a key", "请在询问时输入，或改用密钥"),
            "it is asked for in a terminal, where Ctrl+D gives up; or use a key",
        )  # fmt: skip

    def _send(self, password: Secret) -> list[str]:
        return self.transport.auth_password(self.address.user, password.reveal(), fallback=False)

    def _by_answers(self, *, known: bool = True) -> list[str]:
        """Up to three tries while the user types new answers; what was given beforehand (if `known`) is tried once."""
        wrong, refused = None, None
        for number in range(1, TRIES_MAX + 1):
            answers = Answers(self.credentials, number, known=known, wrong=wrong)
            go_alone(self.transport)
            left = False

            def answer(*asked: Any) -> list[str]:
                nonlocal left
                found = answers.handle(*asked)  # noqa: B023 - it is called in this round only
                left = answers.password_typed and self._has_left()  # noqa: B023
                return found

            step = partial(self.transport.auth_interactive, self.address.user, answer)
            try:
                return self._attempt("answer_refused", step, self.deadlines.ask_s)
            except ConnectFailed as error:
                if answers.endless:
                    raise _asks_without_end(self.address.host_port) from error
                if answers.gave_up:
                    words = masked(answers.gave_up)
                    why = Text(f"no answer to {words!r}", f"未回答 {words!r}")
                    raise login_refused(self.address.host_port, "no_answer", why, ()) from error
                if error.cause == "timeout" and answers.waits_for:
                    words, limit_s = masked(answers.waits_for), self.deadlines.ask_s
                    why = Text(f"no answer to {words!r} within {limit_s:g} s", f"{limit_s:g} 秒内未回答 {words!r}")
                    raise login_refused(self.address.host_port, "no_answer", why, ()) from error
                if error.cause == "hung_up" and left:
                    raise _typed_too_late(self.address.host_port) from error
                if error.cause == "answer_refused" and not answers.heard and not isinstance(error.__cause__, paramiko.BadAuthenticationType):
                    error.cause = "nothing_asked"
                refused = _no_more_tries(refused, error)
                if error.cause != "answer_refused" or not answers.can_differ or number == TRIES_MAX:
                    raise refused from error.__cause__
                wrong = answers.password
        raise AssertionError("unreachable")

    def _has_left(self) -> bool:
        """Whether something, or the end, came of a node that has asked and waits for the answer."""
        sock: Any = self.transport.sock
        if isinstance(sock, ReadAhead):
            return sock.has_come()
        return isinstance(sock, paramiko.Channel) and bool(sock.closed or sock.eof_received or sock.recv_ready())

    def _by_agent(self) -> list[str]:
        """The chosen key only; without a choice the agent's first ones, fewer than sshd takes."""
        chosen, certificates = self.credentials.identity_file, tuple(filter(None, self.credentials.certificate_file.split("\n")))
        with keys_of_agent(self.address.host_port, chosen, self.credentials.agent, certificates) as held:
            failure: ConnectFailed | None = None
            keys = [key for key in self._long_enough(held.keys) if shapes_of(key, self.credentials.key_algorithms)]
            if not keys:
                raise not_accepted(self.address.host_port, chosen)
            for number, key in enumerate(keys[:TRIES_MAX]):
                try:
                    # With several, nobody has to touch or confirm one that the node refuses.
                    return self._publickey(key, ask_first=self.several or len(keys) > 1)
                except ConnectFailed as error:
                    if error.cause == "hung_up" and number:
                        raise held.too_many(self.address.host_port) from error
                    if error.cause != "key_refused":
                        raise
                    failure = error
            assert failure is not None
            raise held.too_many(self.address.host_port) if len(keys) > TRIES_MAX else failure

    def _long_enough(self, keys: Sequence[paramiko.AgentKey]) -> list[paramiko.AgentKey]:
        """Those that are not too short for the config. Raises ConnectFailed where none is left."""
        least = self.credentials.rsa_bits_least
        left = [key for key in keys if not is_too_short(key.blob, least)]
        if not left:
            raise short_user_key(self.address.host_port, self.credentials.identity_file, rsa_bits(keys[0].blob), least)
        return left

    def _attempt(self, cause: str, step: Callable[[], list[str]], seconds: float | None = None) -> list[str]:
        """Run one step of authentication; the answer names what is still wanted. Raises ConnectFailed."""
        seconds = seconds or self.deadlines.auth_s
        self.transport.auth_timeout = seconds
        host_port, started = self.address.host_port, time.monotonic()
        try:
            return step()
        except paramiko.BadAuthenticationType as error:
            raise login_refused(host_port, cause, _WHY[cause], tuple(error.allowed_types)) from error
        except paramiko.AuthenticationException as error:
            if not self.transport.is_active():
                raise gone(self.transport, Phase.AUTH, host_port) from error
            if time.monotonic() - started >= seconds:
                raise timed_out(Phase.AUTH, host_port, seconds) from error
            raise login_refused(host_port, cause, _WHY[cause], ()) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            if not self.transport.is_active():
                raise gone(self.transport, Phase.AUTH, host_port) from error
            raise login_refused(host_port, cause, in_both(one_line(str(error))), ()) from error
