"""What do the failures of a connection say, and what can the user do?"""

from __future__ import annotations

from enum import StrEnum

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import HostKey
from gpulease_gui.domain.text import NO_TEXT, Text, visible
from gpulease_gui.remote.hop_words import of_jump_host
from gpulease_gui.remote.masking import masked
from gpulease_gui.remote.said_words import in_both

_FOREIGN_MAX = 200
_SHOWN_CHARACTERS, _SHOWN_BYTES = 80, 16


def one_line(said: str) -> str:
    """A node's words for a sentence of ours: cut, visible, and never a line of their own in a log."""
    return visible(masked(said).replace("\n", "␊").replace("\t", "␉"))[:_FOREIGN_MAX]


class Phase(StrEnum):
    """Where on the way a connection failed; each has a deadline of its own."""

    PROXY = "proxy"
    DNS = "dns"
    TCP = "tcp"
    BANNER = "banner"
    KEX = "kex"
    HOST_KEY = "host_key"
    AUTH = "auth"
    CHANNEL = "channel"


PHASE_WORDS: dict[Phase, Text] = {
    Phase.PROXY: Text("the way through the proxy", "经代理连接"),
    Phase.DNS: Text("looking up the name", "域名解析"),
    Phase.TCP: Text("TCP connect", "TCP 连接"),
    Phase.BANNER: Text("SSH banner", "SSH 版本标识"),
    Phase.KEX: Text("key exchange", "密钥交换"),
    Phase.HOST_KEY: Text("host key", "主机密钥"),
    Phase.AUTH: Text("login", "登录认证"),
    Phase.CHANNEL: Text("opening a channel", "打开通道"),
}


class ConnectFailed(UserFacing):
    """No connection. `cause` is a stable word; the sentences exist in both languages."""

    def __init__(self, phase: Phase, host_port: str, cause: str, why: Text, next_step: Text = NO_TEXT, at_terminal: str = "") -> None:
        words = PHASE_WORDS[phase]
        super().__init__(Text(f"{host_port}: {words.en} failed", f"{host_port}：{words.zh}失败"), why, next_step, at_terminal)
        self.phase = phase
        self.host_port = host_port
        self.cause = cause
        self.hop, self.place = "", (0, 0)

    def also(self, words: Text) -> None:
        """Say one reason more."""
        self.why_text = Text(f"{self.why_text.en}; {words.en}", f"{self.why_text.zh}；{words.zh}")
        self.why = self.why_text.en

    def at_hop(self, number: int, count: int) -> None:
        """Say, in the reason too, that a jump host failed and not the node; `hop` is then its host:port."""
        self.hop, self.place, was, why = self.host_port, (number, count), self.what_text, of_jump_host(self.why_text)
        self.what_text = Text(f"jump host {was.en}", f"跳板机 {was.zh}")
        self.why_text = Text(
            f"at jump host {self.hop} ({number} of {count}): {why.en}", f"在跳板机 {self.hop}（第 {number} 个，共 {count} 个）：{why.zh}"
        )
        self.next_text = of_jump_host(self.next_text, self.hop)
        self.at_terminal = of_jump_host(Text(self.at_terminal, ""), self.hop).en
        self.what, self.why = self.what_text.en, self.why_text.en


class HungUp(ConnectFailed):
    """The far side closed the connection. `silent`: it said nothing before, so that it can be anybody on the way."""

    silent = False


class UnknownHostKey(ConnectFailed):
    """A host key that nobody has vouched for. `others`: the host's keys of other types; `known`: pins of other types.

    `given`: fingerprints that the user named, none of which is one of the host's. `notes`: lines of known_hosts that
    could not be used.
    """

    def __init__(
        self,
        host_port: str,
        key: HostKey,
        others: tuple[HostKey, ...] = (),
        known: tuple[HostKey, ...] = (),
        given: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        shown = f"{key.kind} {key.fingerprint}"
        if given:
            cause = "fingerprint_differs"
            why = Text(
                f"the host key is {shown}; none of its keys has the fingerprint {', '.join(given)}",
                f"主机密钥为 {shown}，其各类密钥均与所给指纹 {', '.join(given)} 不符",
            )
        elif known:
            cause = "new_type"
            why = Text(
                f"the host is known by {known[0].kind}, now it shows a key of another type: {shown}",
                f"该主机已登记 {known[0].kind} 密钥，现出示另一类型的密钥：{shown}",
            )
        else:
            cause = "unknown"
            why = Text(f"the host key is not known yet: {shown}", f"主机密钥尚未登记：{shown}")
        if notes:
            told = "；".join(in_both(note).zh for note in notes[:3])
            why = Text(f"{why.en}; not used: {'; '.join(notes[:3])}", f"{why.zh}；未采用：{told}")
        step = Text("compare it with the supplier's, then choose “Trust this key” in its dialog", "与供应商提供的指纹核对后，在其对话框中选择“信任此密钥”")
        at_terminal = f"compare it with the supplier's, then accept it with --fingerprint {key.fingerprint}"
        super().__init__(Phase.HOST_KEY, host_port, cause, why, step, at_terminal)
        self.key = key
        self.others = others
        self.known = known
        self.given = given


class HostKeyChanged(ConnectFailed):
    """The host shows another key of a type that is known. `place`: the line of known_hosts that knows it, "" = a pin."""

    def __init__(self, host_port: str, old: HostKey, new: HostKey, place: str = "") -> None:
        where, where_zh = (f" (known from {place})", f"（登记于 {place}）") if place else ("", "")
        why = Text(
            f"the {new.kind} host key has changed from {old.fingerprint}{where} to {new.fingerprint}",
            f"{new.kind} 主机密钥已由 {old.fingerprint}{where_zh} 变为 {new.fingerprint}",
        )
        ask = "ask the supplier whether the machine was rebuilt or its address reused"
        step = Text(f"{ask}; only then choose “Replace key” in its dialog", "向供应商确认机器是否重装或地址被重新分配，确认后才可在其对话框中选择“替换密钥”")
        at_terminal = f"{ask}; replace the key only then, with verify --replace-host-key and the new fingerprint"
        super().__init__(Phase.HOST_KEY, host_port, "changed", why, step, at_terminal)
        self.old = old
        self.new = new


class HostKeyRevoked(ConnectFailed):
    """The host shows a key that the user's known_hosts declares stolen or withdrawn; nothing overrules that."""

    def __init__(self, host_port: str, key: HostKey, place: str) -> None:
        shown = f"{key.kind} {key.fingerprint}"
        why = Text(f"the host key {shown} is marked @revoked in {place}", f"主机密钥 {shown} 已在 {place} 标记为 @revoked")
        step = Text("do not connect; ask the supplier for a machine with a new key", "请勿连接；要求供应商更换主机密钥")
        super().__init__(Phase.HOST_KEY, host_port, "revoked", why, step)
        self.key = key


def no_such_name(host_port: str, said: str) -> ConnectFailed:
    """The name does not resolve."""
    words = in_both(one_line(said))
    why = Text(f"the name can't be resolved ({words.en})", f"无法解析主机名（{words.zh}）")
    return ConnectFailed(Phase.DNS, host_port, "no_such_name", why, Text("check the spelling and the network", "检查拼写和网络"))


def refused(host_port: str) -> ConnectFailed:
    """Nobody listens on the port."""
    return ConnectFailed(
        Phase.TCP, host_port, "refused", Text("the connection was refused", "连接被拒绝"),
        Text("check the port; the machine may still be starting", "检查端口；机器可能仍在启动"),
    )  # fmt: skip


def unreachable(host_port: str, said: str) -> ConnectFailed:
    """No way to the host."""
    words = in_both(one_line(said))
    return ConnectFailed(
        Phase.TCP, host_port, "unreachable", Text(f"the host can't be reached ({words.en})", f"主机不可达（{words.zh}）"),
        Text("check the address, VPN and firewall", "检查地址、VPN 和防火墙"),
    )  # fmt: skip


def no_way_out(host_port: str, said: str) -> ConnectFailed:
    """This computer can't start where the options say. `said`: the option and the system's reason."""
    words = in_both(one_line(said))
    return ConnectFailed(
        Phase.TCP, host_port, "no_way_out",
        Text(f"this computer can't connect from where it should ({words.en})", f"无法按指定的本机地址发起连接（{words.zh}）"),
        Text("correct the node's SSH options, or take that one out", "修改该节点的 SSH 选项，或去掉该项"),
    )  # fmt: skip


def tunnel_refused(host_port: str, by: str, said: str) -> ConnectFailed:
    """A jump host does not lead on. `by`: its host:port; `said`: foreign text."""
    words = in_both(one_line(said))
    return ConnectFailed(
        Phase.TCP, host_port, "tunnel_refused",
        Text(f"the jump host {by} does not lead there ({words.en})", f"跳板机 {by} 无法连到该地址（{words.zh}）"),
        Text("check the address as seen from the jump host, and its AllowTcpForwarding", "检查跳板机能否访问该地址及其 AllowTcpForwarding 设置"),
    )  # fmt: skip


def proxy_failed(host_port: str, by: str, cause: str, why: Text) -> ConnectFailed:
    """The proxy does not lead on. `by`: its host:port."""
    whole = Text(f"proxy {by}: {why.en}", f"代理 {by}：{why.zh}")
    step = Text("check the proxy's address, user and rules", "检查代理的地址、用户名和规则")
    return ConnectFailed(Phase.PROXY, host_port, cause, whole, step)


_SLOW: dict[Phase, Text] = {
    Phase.TCP: Text("check address, port and firewall", "检查地址、端口和防火墙"),
    Phase.BANNER: Text("the port is open, but is it SSH? check the port number", "端口已打开但可能不是 SSH，检查端口号"),
    Phase.KEX: Text("try again; a firewall may cut large packets", "重试；可能有防火墙丢弃大包"),
    Phase.AUTH: Text("try again; the node may be overloaded", "重试；节点可能过载"),
    Phase.CHANNEL: Text("try again; the node may be overloaded", "重试；节点可能过载"),
}


def timed_out(phase: Phase, host_port: str, seconds: float) -> ConnectFailed:
    """Nothing came within the phase's deadline."""
    why = Text(f"no answer within {seconds:g} s", f"{seconds:g} 秒内无应答")
    return ConnectFailed(phase, host_port, "timeout", why, _SLOW.get(phase, NO_TEXT))


def hung_up(phase: Phase, host_port: str, said: bytes = b"") -> HungUp:
    """The far side closed the connection, after it had `said` something or without a word."""
    step = Text(
        "the SSH server may be starting, full (MaxStartups) or refusing this address; try again",
        "SSH 服务可能正在启动、连接数已满（MaxStartups）或拒绝本机地址；请重试",
    )
    heard = _heard(said) if said else NO_TEXT
    why = Text(f"the far side hung up{'; ' if said else ''}{heard.en}", f"对方断开了连接{'；' if said else ''}{heard.zh}")
    error = HungUp(phase, host_port, "hung_up", why, step)
    error.silent = not said
    return error


def renegotiates(phase: Phase, host_port: str) -> ConnectFailed:
    """The server asks for new keys again and again, and answers nothing."""
    return ConnectFailed(
        phase, host_port, "renegotiates",
        Text("the server asks for new keys again and again, without a pause", "服务端不停地要求更换会话密钥"),
        Text("the SSH server, or what stands between, is broken or hostile; ask the supplier", "SSH 服务或途中的设备有故障或有恶意，请询问供应商"),
    )  # fmt: skip


def proxy_hung_up(host_port: str, by: str) -> ConnectFailed:
    """The proxy said that it leads there, then the connection ended without a word of an SSH server. `by`: its host:port."""
    why = Text(
        "it said that it is connected, then the connection ended before an SSH server said a word",
        "代理称已连通，但在 SSH 服务应答之前连接就断开了",
    )
    error = proxy_failed(host_port, by, "hung_up", why)
    error.next_text = Text(
        "check whether the proxy allows this address and port; if it does, the SSH server behind it may be full or refuse the proxy's address",
        "检查代理是否允许该地址和端口；若允许，则可能是其后的 SSH 服务连接数已满，或拒绝代理的地址",
    )
    return error


def greets_too_long(host_port: str, said: bytes) -> ConnectFailed:
    """What came in place of a version line is longer than any SSH server's. `said`: its start."""
    heard = _heard(said)
    return ConnectFailed(
        Phase.BANNER, host_port, "not_ssh",
        Text(f"its greeting is longer than that of any SSH server; {heard.en}", f"对方的问候长于任何 SSH 服务；{heard.zh}"),
        Text("check the port number; ask the supplier what answers there", "检查端口号；向供应商询问该端口上是什么服务"),
    )  # fmt: skip


def _heard(said: bytes) -> Text:
    """The first line that a server sent, where it is text."""
    line = (said.splitlines() or [b""])[0]
    words = line.decode("utf-8", "ignore")  # the last character may be cut
    if len(line) - len(words.encode()) > 3 or any(sign < " " and sign not in "\t\x1b" for sign in words):
        shown = said[:_SHOWN_BYTES].hex(" ")
        return Text(f"it sent bytes that are no text ({shown})", f"对方发来的不是文本（{shown}）")
    shown = one_line(words)[:_SHOWN_CHARACTERS]
    return Text(f"it said: {shown}", f"对方发来：{shown}")


def not_ssh(host_port: str, said: bytes) -> ConnectFailed:
    """Something other than SSH answers. `said`: the first bytes that came."""
    heard = _heard(said)
    return ConnectFailed(
        Phase.BANNER, host_port, "not_ssh",
        Text(f"this is not an SSH server; {heard.en}", f"对方不是 SSH 服务；{heard.zh}"), Text("check the port number", "检查端口号"),
    )  # fmt: skip


def no_banner(host_port: str, seconds: float, said: bytes) -> ConnectFailed:
    """The server said something, but not its version, within the phase's deadline."""
    heard = _heard(said)
    why = Text(f"no SSH banner within {seconds:g} s; {heard.en}", f"{seconds:g} 秒内未收到 SSH 版本标识；{heard.zh}")
    return ConnectFailed(Phase.BANNER, host_port, "timeout", why, _SLOW[Phase.BANNER])


def no_common_algorithm(host_port: str, said: str) -> ConnectFailed:
    """Both sides share no algorithm."""
    words = in_both(one_line(said))
    return ConnectFailed(
        Phase.KEX, host_port, "no_common_algorithm",
        Text(f"no common algorithm: {words.en}", f"双方没有共同支持的算法：{words.zh}"),
        Text("the SSH server is too old; ask the supplier to update it", "SSH 服务端版本过旧，请供应商升级"),
    )  # fmt: skip


_ODD_PACKETS = ("Invalid packet blocking", "a packet of ")


def kex_broken(host_port: str, said: str) -> ConnectFailed:
    """The handshake broke for a reason of the protocol. `said`: what the library says, which may quote the server."""
    words = in_both(one_line(said))
    why = Text(f"what came breaks the rules of SSH ({words.en})", f"收到的数据不符合 SSH 协议（{words.zh}）")
    if said.startswith(_ODD_PACKETS):
        why = Text("a packet came whose length SSH does not allow", "收到的数据包长度不符合 SSH 协议")
    step = Text(
        "try again; if it stays so, check the port number and ask the supplier what stands between you and the SSH server",
        "请重试；仍然如此时，检查端口号，并向供应商询问与 SSH 服务之间经过了什么设备",
    )
    return ConnectFailed(Phase.KEX, host_port, "protocol", why, step)


def open_to_truncation(host_port: str) -> ConnectFailed:
    """Neither strict key exchange nor an authenticated cipher: bytes could be cut out on the way."""
    return ConnectFailed(
        Phase.KEX, host_port, "weak_transport",
        Text("the server has neither strict key exchange nor AES-GCM", "服务端既无严格密钥交换也不支持 AES-GCM"),
        Text("ask the supplier to update the SSH server (CVE-2023-48795)", "请供应商升级 SSH 服务（CVE-2023-48795）"),
    )  # fmt: skip


def key_trouble(host_port: str, cause: str, why: Text, step: Text = NO_TEXT, at_terminal: str = "") -> ConnectFailed:
    """The private key can't be used."""
    return ConnectFailed(Phase.AUTH, host_port, cause, why, step, at_terminal)


def login_refused(host_port: str, cause: str, why: Text, allowed: tuple[str, ...]) -> ConnectFailed:
    """The node does not let us in. `allowed`: the ways that it takes."""
    ways = one_line(", ".join(allowed))
    step = Text(
        f"check user, key or password; the node takes: {ways}" if ways else "check user, key or password",
        f"检查用户名、密钥或密码；节点接受：{ways}" if ways else "检查用户名、密钥或密码",
    )
    return ConnectFailed(Phase.AUTH, host_port, cause, why, step)


def no_password_yet(error: ConnectFailed, *, once: bool) -> ConnectFailed:
    """A login failed for want of a password, which no host gets whose key was replaced just now, or is trusted for `once`."""
    why, step = (
        Text("its host key is trusted for this connection only, so no password is sent or asked for", "主机密钥仅在此次连接中被信任，因此不发送也不询问密码"),
        Text("compare the fingerprint with the supplier's and trust the key, then connect again", "与供应商提供的指纹核对并信任该密钥，然后再次连接"),
    ) if once else (
        Text("its host key was replaced a moment ago: on the first connection after that no password is sent or asked for",
             "主机密钥刚被更换：更换后的首次连接不发送也不询问密码"),
        Text("the new key was shown again; connect again to log in with a password", "新密钥已再次出示；请再次连接，以密码登录"),
    )  # fmt: skip
    told = ConnectFailed(Phase.AUTH, error.host_port, "no_password_yet", why, step)
    if error.hop:
        told.at_hop(*error.place)
    return told


_NO_SESSIONS = Text(
    "ask the supplier whether this user may run commands: a rule of the server forbids sessions, such as for a user that may only forward",
    "请向供应商确认该用户是否可以执行命令：服务端规则禁止打开会话，例如仅允许端口转发的用户",
)


def no_channel(host_port: str, said: str) -> ConnectFailed:
    """The node opens no further session. `said`: foreign text."""
    words = in_both(one_line(said))
    return ConnectFailed(
        Phase.CHANNEL, host_port, "no_channel",
        Text(f"the node opens no further session ({words.en})", f"节点不再接受新会话（{words.zh}）"),
        _NO_SESSIONS if said.lower() == "administratively prohibited" else
        Text("close other sessions of this user (MaxSessions) or try again", "关闭该用户的其他会话（MaxSessions）或重试"),
    )  # fmt: skip


def channels_full(host_port: str, count: int, *, by_node: bool = False) -> ConnectFailed:
    """We hold as many sessions of the node as we open at once, or `by_node` as it gives."""
    ours = Text(f"{count} sessions of this connection are open already", f"此连接已打开 {count} 个会话")
    theirs = Text(
        f"the node gives this connection {count} session{'s'[: count - 1]} at once (MaxSessions), and nobody gave one back",
        f"节点只允许此连接同时打开 {count} 个会话（MaxSessions），且均在使用中",
    )
    return ConnectFailed(
        Phase.CHANNEL, host_port, "no_channel",
        theirs if by_node else ours,
        Text("wait until one of them has ended, or try again", "等其中一个结束后再试"),
    )  # fmt: skip


def exec_refused(host_port: str) -> ConnectFailed:
    """The node runs no command without a terminal."""
    return ConnectFailed(
        Phase.CHANNEL, host_port, "exec_refused",
        Text("the node refuses to run a command", "节点拒绝执行命令"),
        Text(
            "a gateway that only offers a terminal can't be checked; ask for a direct SSH port",
            "仅提供终端的网关无法检测，请供应商提供直连 SSH 端口",
        ),
    )  # fmt: skip
