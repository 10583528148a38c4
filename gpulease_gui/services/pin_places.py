"""Was the address of a node edited since its host key was pinned? Then another key there accuses nobody."""

from __future__ import annotations

from datetime import timedelta

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.address import parse_jump
from gpulease_gui.remote.failures import HostKeyChanged, UnknownHostKey
from gpulease_gui.remote.proxy import parse_proxy
from gpulease_gui.services.pinned_keys import pinned_keys
from gpulease_gui.store import hostkeys
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.records import KeyState

SAME_KEY = "the same key at an edited address"
_LATELY = timedelta(days=30)


def place_of(node: Node) -> str:
    """Where a record leads, such as `10.0.0.5:22 via gate via socks5://127.0.0.1:1080`, whoever logs in; "" for one without an address."""
    if node.address is None:
        return ""
    proxy = parse_proxy(node.proxy)
    way = [*([f"{proxy.kind}://{proxy.host_port}"] if proxy is not None else []), *_hops(node.jump)]
    return " via ".join([node.address.host_port.lower(), *reversed(way)])


def _hops(jump: str) -> list[str]:
    try:
        return [f"{hop.host}:{hop.port}".lower() if hop.port else hop.host.lower() for hop in parse_jump(jump)]
    except UsageError:
        return [jump]


def moved(connection: Reader, node: Node, key: HostKey) -> tuple[str, str] | None:
    """Where a key that is pinned was met last and where the record leads now; None where that is one place, or it is not known."""
    was = next((pin.place for pin in pinned_keys(connection, node).decisions if pin.key == key), "")
    now = place_of(node)
    return (was, now) if was and was != now else None


def tell_moved(error: HostKeyChanged | UnknownHostKey, edited: tuple[str, str]) -> None:
    """Say that the user's own edit is why the pinned key is not shown."""
    known, shown = (error.old, error.new) if isinstance(error, HostKeyChanged) else (error.known[0], error.key)
    was, now = edited
    error.why_text = Text(
        f"the address was edited since the host key {known.kind} {known.fingerprint} was pinned: {was} → {now}, which shows "
        f"{shown.kind} {shown.fingerprint}",
        f"固定主机密钥 {known.kind} {known.fingerprint} 之后，地址被修改过：{was} → {now}，新地址出示 {shown.kind} {shown.fingerprint}",
    )
    error.why = error.why_text.en
    if isinstance(error, HostKeyChanged):
        compare = "correct the address, or compare the new key with the fingerprint that the supplier names for that machine"
        error.next_text = Text(
            f"{compare}; only then choose “Replace key” in its dialog",
            "请更正地址，或将新密钥与供应商为该机器提供的指纹核对，一致后才可在其对话框中选择“替换密钥”",
        )
        error.at_terminal = f"{compare}; replace the key only then, with verify --replace-host-key and the new fingerprint"


def replaced_lately(connection: Reader, node: Node) -> int:
    """How many keys of a node were replaced in the last 30 days where it was, and not because its address was edited."""
    since, met, count = utc_now() - _LATELY, dict[HostKey, str](), 0
    for decision in hostkeys.list_key_decisions(connection, node.id):
        if decision.state is KeyState.TRUSTED:
            met[decision.key] = decision.place
        elif decision.state is KeyState.REPLACED and decision.decided_at >= since:
            was = met.get(decision.key, "")
            count += not (was and decision.place and was != decision.place)
    return count
