"""What does the ssh config say today of a node whose name is an alias of it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.ssh_aliases import may_speak_of
from gpulease_gui.remote.ssh_config import notes_of, resolve_alias


@dataclass(frozen=True, slots=True)
class AsOfNow:
    """A record with what the config says today; what of that is not followed, and in what both differ by now."""

    node: Node
    not_followed: tuple[Text, ...] = ()
    differs: tuple[Text, ...] = ()


def as_of_now(node: Node, target: str) -> AsOfNow:
    """A record whose name is one of the ssh config: what that says today of host keys and of our side counts, as in ssh.

    A line that it has no more counts no more. Where it leads elsewhere by now, the record counts (it may have been changed by
    hand), and that is said. Asks ssh. Raises UserFacing where the config speaks of the name and can't be followed.
    """
    try:
        place = resolve_alias(target)
    except UserFacing as error:
        if may_speak_of(target):
            raise
        words = Text(f"the ssh config can't be asked for {target}, its record counts: {error}", f"无法向 ssh 配置查询 {target}，以记录为准：{error.whole_text.zh}")
        return AsOfNow(node, differs=(words,))
    if node.address is None or target == place.address.host != node.address.host:  # the config has no such host
        return AsOfNow(node)
    now = replace(
        node, host_key_alias=place.host_key_alias, known_hosts="\n".join(place.known_hosts), ssh_options=place.ssh_options
    )  # fmt: skip
    return AsOfNow(now, notes_of(place), (*_elsewhere(node, place), *_only_there(node, now)))


def named_as_of_now(node: Node) -> AsOfNow:
    """The same for any record: ssh is asked only for a name that the config may speak of."""
    return as_of_now(node, node.name) if may_speak_of(node.name) else AsOfNow(node)


def _elsewhere(node: Node, place: Target) -> Iterator[Text]:
    """In what the ssh config and a record differ by now."""
    login = ("none" if place.no_key_file else place.identity_file, node.identity_file)
    for what, said, kept in (
        (Text("address", "地址"), str(place.address), str(node.address)), (Text("jump hosts", "跳板机"), place.jump, node.jump),
        (Text("key", "密钥"), *(login if all(login) else ("", ""))),
    ):  # fmt: skip
        if said != kept:
            yield Text(
                f"the {what.en} of {node.name} is {kept or 'none'} in its record and {said or 'none'} in the ssh config: the record "
                "counts; to follow the config, change it under Nodes, or give that node another name: then the alias is a node anew",
                f"{node.name} 的{what.zh}：记录中为 {kept or '无'}，ssh 配置中为 {said or '无'}；以记录为准。"
                "要以配置为准，请在“节点”中修改，或给该节点改名，之后该别名会记为新节点",
            )


def _only_there(node: Node, now: Node) -> Iterator[Text]:
    """What a record asks for of our side that the config does not, or asks for otherwise."""
    for what, kept, said in (
        (Text("SSH options", "SSH 选项"), node.ssh_options, now.ssh_options),
        (Text("host key alias", "主机密钥别名"), node.host_key_alias, now.host_key_alias),
        (Text("known_hosts files", "known_hosts 文件"), node.known_hosts, now.known_hosts),
    ):
        kept, said = (words.replace("\n", "; ") for words in (kept, said))
        if kept and kept != said:
            yield Text(
                f"the {what.en} of {node.name}: {kept} in its record, {said or 'none'} in the ssh config, which counts as long as it speaks "
                f"of {node.name}; to follow the record, give the node another name",
                f"{node.name} 的{what.zh}：记录中为 {kept}，ssh 配置中为 {said or '无'}；只要 ssh 配置提到 {node.name}，就以配置为准，"
                "要以记录为准请给节点改名",
            )
