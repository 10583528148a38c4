"""Which key of the agent logs in?"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

import paramiko
from paramiko.pkey import PublicBlob

from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.agent_line import AgentLine
from gpulease_gui.remote.failures import ConnectFailed, key_trouble, login_refused
from gpulease_gui.remote.key_certificates import blob_in, is_about, kind_in, public_of


@dataclass(frozen=True, slots=True)
class Held:
    """The keys of the agent that may be tried, of `count` that it holds."""

    keys: tuple[paramiko.AgentKey, ...]
    count: int

    def too_many(self, host_port: str) -> ConnectFailed:
        """The refusal when the agent holds more keys than may be tried."""
        why = Text(
            f"the agent holds {self.count} keys and the first ones were refused", f"agent 中有 {self.count} 个密钥，前几个均被拒绝"
        )
        error = login_refused(host_port, "too_many_failures", why, ())
        error.next_text = Text(
            "choose one: name its public key file as the node's key", "请选定一个密钥：将其公钥文件设为该节点的密钥",
        )
        error.at_terminal = f"{error.next_text.en} (--identity KEY.pub)"
        return error


@contextmanager
def keys_of_agent(host_port: str, chosen: str, place: str = "", certificates: Sequence[str] = ()) -> Iterator[Held]:
    """The agent's keys, or the chosen one only: a public key file, the private one beside it, or `SHA256:...`.

    `place` is where it listens ("" = as the environment says, "none" = nowhere). Each of the `certificates` (files) comes with
    the key that it is about, before the bare keys; a chosen file comes with them only. Raises ConnectFailed (auth): no agent,
    an empty one, or one without the chosen key.
    """
    with closing(AgentLine(place)) as agent:
        keys = agent.get_keys()
        if not keys:
            raise _no_key(host_port, place, agent.trouble)
        mine = _chosen(host_port, keys, chosen) if chosen else keys
        certified = tuple(_certified(mine, certificates))
        try:
            yield Held(certified if certified and is_file_name(chosen) else (*certified, *mine), len(keys))
        except ConnectFailed as error:
            raise _told_of_agent(host_port, agent, error) from error


def is_file_name(chosen: str) -> bool:
    """Whether a key of the agent is chosen by a file."""
    return bool(chosen) and not chosen.startswith("SHA256:")


def _certified(keys: Sequence[paramiko.AgentKey], files: Sequence[str]) -> Iterator[paramiko.AgentKey]:
    """The keys that the certificates are about, with them, in their order: the agent signs with the bare key."""
    for certificate in filter(None, map(blob_in, files)):
        for key in keys:
            if is_about(certificate, key.blob):
                shown = paramiko.AgentKey(key.agent, key.blob, key.comment)
                shown.public_blob = PublicBlob(kind_in(certificate), certificate)  # type: ignore[assignment]  # the stubs say None
                yield shown


def _no_key(host_port: str, place: str, trouble: Text | None) -> ConnectFailed:
    where = Text(f" (IdentityAgent {place})", f"（IdentityAgent {place}）") if place else NO_TEXT
    why = trouble or Text(f"no agent answers, or it holds no key{where.en}", f"agent 未运行或没有密钥{where.zh}")
    step = Text("start the agent and ssh-add the key, or name a key file", "启动 agent 并 ssh-add 密钥，或指定密钥文件")
    return key_trouble(host_port, "no_agent_key", why, step)


def _told_of_agent(host_port: str, agent: AgentLine, error: ConnectFailed) -> ConnectFailed:
    """The failure of a login, as the agent's where it is that."""
    if agent.is_late and agent.trouble is not None:
        return key_trouble(host_port, "agent_silent", agent.trouble, Text(
            "it may wait for you: confirm its question, or touch the hardware key, and try again", "它可能在等待您：请确认其询问或触摸硬件密钥，然后重试",
        ))  # fmt: skip
    if agent.trouble is not None:
        return key_trouble(host_port, "agent_refused", agent.trouble, Text(
            "confirm it, unlock the agent (ssh-add -X), plug the hardware key in, or choose another key", "请确认签名、解锁 agent（ssh-add -X）、插入硬件密钥，或选择其他密钥",
        ))  # fmt: skip
    return error


def agent_holds(key_file: str, place: str = "") -> bool:
    """Whether the agent can sign with the key of this file, a private or a public one."""
    blob = public_of(key_file)
    if blob is None:
        return False
    with closing(AgentLine(place)) as agent:
        return any(key.asbytes() == blob for key in agent.get_keys())


def _chosen(host_port: str, keys: tuple[paramiko.AgentKey, ...], chosen: str) -> tuple[paramiko.AgentKey, ...]:
    blob = public_of(chosen) if is_file_name(chosen) else None
    if blob is not None:
        match = tuple(key for key in keys if key.asbytes() == blob)
    else:
        match = tuple(key for key in keys if _fingerprint(key) == chosen.rstrip("="))
    if not match:
        raise key_trouble(
            host_port, "not_in_agent",
            Text(f"the agent does not hold the chosen key {chosen}", f"agent 中没有选定的密钥 {chosen}"),
            Text("ssh-add it, or choose another key", "请先 ssh-add 该密钥，或选择其他密钥"),
        )  # fmt: skip
    return match


def _fingerprint(key: paramiko.PKey) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
