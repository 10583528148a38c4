"""What do we make of each keyword of an ssh config: follow it, say that we don't, or has it nothing to do with us?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpulease_gui.domain.text import Text


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """A keyword that would change what we do, and does not. `quiet`: values, as `ssh -G` prints them, that change nothing.

    `instead`: what we do. `of_systems`: distributions set it for everybody, so it is said only where the user's own files do.
    """

    name: str
    quiet: tuple[str, ...]
    instead: Text
    of_systems: bool = False


_NO = ("no", "none")
_PROGRAM = Text("no program of a config is run", "不运行配置文件中的程序")
_FORWARD = Text("nothing is forwarded", "不做任何转发")
_ENVIRONMENT = Text("the node's own environment counts", "使用节点自身的环境变量")
_GSSAPI = Text("it is no way of logging in here", "本程序没有这种登录方式")
_OWN_LINE = Text("each connection is one of our own", "每个连接均由本程序自行建立")
_ASKS = Text("you are asked where something is needed, three times at most", "需要时会向您询问，最多三次")

SAID: Mapping[str, Unfollowed] = {
    "knownhostscommand": Unfollowed("KnownHostsCommand", _NO, _PROGRAM),
    "localcommand": Unfollowed("LocalCommand", _NO, _PROGRAM),
    "pkcs11provider": Unfollowed("PKCS11Provider", _NO, Text("keys on cards sign through an agent", "智能卡中的密钥须通过 agent 使用")),
    "securitykeyprovider": Unfollowed("SecurityKeyProvider", ("internal", *_NO), Text("hardware keys sign through an agent", "硬件密钥须通过 agent 使用")),
    "hostbasedauthentication": Unfollowed("HostbasedAuthentication", _NO, _GSSAPI),
    "gssapiauthentication": Unfollowed("GSSAPIAuthentication", _NO, _GSSAPI, of_systems=True),
    "gssapikeyexchange": Unfollowed("GSSAPIKeyExchange", _NO, _GSSAPI, of_systems=True),
    "nohostauthenticationforlocalhost": Unfollowed(
        "NoHostAuthenticationForLocalhost", _NO, Text("a host key is judged there, too", "同样核对主机密钥")),
    "stricthostkeychecking": Unfollowed(
        "StrictHostKeyChecking", ("ask", "yes"), Text("no host key is accepted without you", "未经您确认不接受任何主机密钥")),
    "checkhostip": Unfollowed("CheckHostIP", _NO, Text("known_hosts is asked by name", "仅按名称查询 known_hosts")),
    "verifyhostkeydns": Unfollowed("VerifyHostKeyDNS", _NO, Text("no key is taken from the DNS", "不从 DNS 获取主机密钥")),
    "rekeylimit": Unfollowed("RekeyLimit", ("0 0", "default none", "default"), Text("keys are renewed at limits of our own", "按本程序自己的限度更新会话密钥")),
    "connecttimeout": Unfollowed("ConnectTimeout", _NO, Text("each step has a limit of our own", "每个步骤使用本程序自己的时限")),
    "connectionattempts": Unfollowed(
        "ConnectionAttempts", ("1",), Text("a server that hangs up before it speaks is called four times", "对于未应答即断开的服务，最多连接四次")),
    "numberofpasswordprompts": Unfollowed("NumberOfPasswordPrompts", ("3",), _ASKS),
    "batchmode": Unfollowed("BatchMode", _NO, _ASKS),
    "compression": Unfollowed("Compression", _NO, Text("nothing is compressed", "不压缩")),
    "remotecommand": Unfollowed("RemoteCommand", _NO, Text("only commands of this program run", "只运行本程序的命令")),
    "requesttty": Unfollowed("RequestTTY", ("auto", "no"), Text("no terminal is asked for", "不请求终端")),
    "sessiontype": Unfollowed("SessionType", ("default",), Text("commands are run", "仍会运行命令")),
    "setenv": Unfollowed("SetEnv", _NO, _ENVIRONMENT),
    "sendenv": Unfollowed("SendEnv", _NO, _ENVIRONMENT, of_systems=True),
    "localforward": Unfollowed("LocalForward", _NO, _FORWARD),
    "remoteforward": Unfollowed("RemoteForward", _NO, _FORWARD),
    "dynamicforward": Unfollowed("DynamicForward", _NO, _FORWARD),
    "forwardagent": Unfollowed("ForwardAgent", _NO, _FORWARD),
    "forwardx11": Unfollowed("ForwardX11", _NO, _FORWARD, of_systems=True),
    "tunnel": Unfollowed("Tunnel", _NO, _FORWARD),
    "controlmaster": Unfollowed("ControlMaster", _NO, _OWN_LINE),
    "controlpath": Unfollowed("ControlPath", _NO, _OWN_LINE),
}  # fmt: skip

# What stands behind these may hold a password or a token: their line is named, and not repeated.
MAY_HOLD_SECRETS = frozenset({"knownhostscommand", "localcommand", "remotecommand", "setenv"})

# Followed as far as docs/ssh.md says; the lists of algorithms as far as we are able to do them.
FOLLOWED = frozenset({
    "host", "match", "include", "ignoreunknown", "tag", "hostname", "user", "port", "hostkeyalias", "canonicaldomains", "canonicalizefallbacklocal",
    "canonicalizehostname", "canonicalizemaxdots", "canonicalizepermittedcnames", "proxyjump", "proxycommand", "refuseconnection",
    "addressfamily", "bindaddress", "bindinterface", "identityfile", "certificatefile", "identitiesonly", "identityagent",
    "pubkeyauthentication", "passwordauthentication", "kbdinteractiveauthentication", "preferredauthentications",
    "userknownhostsfile", "globalknownhostsfile", "revokedhostkeys", "hostkeyalgorithms", "casignaturealgorithms",
    "pubkeyacceptedalgorithms", "ciphers", "kexalgorithms", "macs", "requiredrsasize",
})  # fmt: skip

# What can't change anything here, and why.
_SHOWN, _TYPED, _NO_FORWARD, _NO_HOSTBASED = "how ssh shows things", "for what is typed into ssh", "nothing is forwarded", "not a way of logging in here"
_FILES, _LIVING = "no file of ssh is written, nothing is put into an agent", "liveness has rules of our own: a dead peer is noticed within three intervals"
WITHOUT_MEANING: Mapping[str, str] = {
    **dict.fromkeys(("fingerprinthash", "visualhostkey", "loglevel", "logverbose", "syslogfacility", "warnweakcrypto"), _SHOWN),
    **dict.fromkeys(("escapechar", "enableescapecommandline", "stdinnull", "forkafterauthentication", "obscurekeystroketiming"), _TYPED),
    **dict.fromkeys((
        "clearallforwardings", "exitonforwardfailure", "forwardx11timeout", "forwardx11trusted", "gatewayports", "permitremoteopen",
        "streamlocalbindmask", "streamlocalbindunlink", "tunneldevice", "xauthlocation",
    ), _NO_FORWARD),
    **dict.fromkeys(("enablesshkeysign", "hostbasedacceptedalgorithms"), _NO_HOSTBASED),
    **dict.fromkeys((
        "gssapiclientidentity", "gssapidelegatecredentials", "gssapikexalgorithms", "gssapirenewalforcesrekey", "gssapiserveridentity", "gssapitrustdns",
    ), _NO_HOSTBASED),
    **dict.fromkeys(("addkeystoagent", "hashknownhosts", "updatehostkeys", "usekeychain"), _FILES),
    **dict.fromkeys(("serveralivecountmax", "serveraliveinterval", "tcpkeepalive", "channeltimeout"), _LIVING),
    "controlpersist": "each connection is one of our own", "permitlocalcommand": "no program of a config is run",
    "proxyusefdpass": "no program of a config is run", "ipqos": "a hint for routers only", "versionaddendum": "our version line is our own",
    "protocol": "there is only version 2",
}  # fmt: skip


def is_classified(keyword: str) -> bool:
    """Whether it is known what we make of a keyword (lower case)."""
    return keyword in SAID or keyword in FOLLOWED or keyword in WITHOUT_MEANING


# What ssh of today takes no notice of any more, and does not refuse.
GIVEN_UP = frozenset({
    "cipher", "fallbacktorsh", "globalknownhostsfile2", "rhostsauthentication", "rhostsrsaauthentication", "rsaauthentication", "compressionlevel",
    "useprivilegedport", "userknownhostsfile2", "useroaming", "usersh", "useblacklistedkeys", "smartcarddevice", "afstokenpassing",
    "kerberosauthentication", "kerberostgtpassing", "keepalive", "protocolkeepalives", "setuptimeout",
})  # fmt: skip

UNKNOWN = Text("this program does not know it", "本程序不认识该选项")
