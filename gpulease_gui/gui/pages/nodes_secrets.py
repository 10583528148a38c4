"""How are secrets of a node taken out of the system's keyring, and what is said when it does not take one?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpulease_gui.domain.text import Text
from gpulease_gui.services.events import RecordsChanged, SecretNotKept
from gpulease_gui.services.system_keyring import KeyringTrouble

if TYPE_CHECKING:
    from gpulease_gui.domain.node import Node
    from gpulease_gui.gui.pages.page import Frame


def forget_secrets(frame: Frame, node: Node) -> None:
    """Take out of the system's keyring what it keeps for the node, in a worker; say how that ended."""
    services = frame.services

    def work() -> int | Text:
        try:
            return services.links.kept.forget(node)
        except KeyringTrouble as trouble:
            return trouble.words

    def done(ended: int | Text) -> None:
        if isinstance(ended, Text):
            frame.trouble(Text(f"{node.name}: the system keyring still has its secrets", f"{node.name}：系统密钥环中仍保存着密钥"), ended)
            return
        services.bus.publish(RecordsChanged(frozenset(["node"])))
        frame.note(Text(f"{node.name}: {ended} taken out of the system keyring", f"{node.name}：已从系统密钥环移除 {ended} 项"))

    frame.bridge.when_done(services.jobs.local(work), done)


def tell_not_kept(frame: Frame, event: SecretNotKept) -> None:
    """The login went well, the keeping did not."""
    why = Text(f"The login went well. Of the keyring: {event.words.en}. You will be asked again next time.",
               f"登录成功。密钥环：{event.words.zh}。下次登录会再次询问。")  # fmt: skip
    frame.trouble(Text("The system keyring did not take it", "未能保存到系统密钥环"), why)
