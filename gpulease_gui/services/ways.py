"""By which way is a node reached, and whom do we trust on it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, AuthMethod, HostKey, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.algorithms import METHODS
from gpulease_gui.remote.credentials import Credentials, Prompt, agent_present
from gpulease_gui.remote.hostkeys import HostTrust
from gpulease_gui.remote.known_hosts import known_of, revoked_in
from gpulease_gui.remote.masking import Mask
from gpulease_gui.remote.password_questions import asks_for_password
from gpulease_gui.remote.proxy import Proxy, parse_proxy
from gpulease_gui.remote.route import Hop, Route
from gpulease_gui.remote.ssh_config import resolve_jumps, user_known_hosts
from gpulease_gui.remote.ssh_options import SshOptions, parse_options
from gpulease_gui.services.kept_secrets import JUMP, PASSPHRASE, PASSWORD, PROXY, KeptSecrets
from gpulease_gui.services.pinned_keys import pinned_keys, place_of_hop
from gpulease_gui.services.system_keyring import SystemKeyring
from gpulease_gui.services.typed_passwords import Owner, TypedPasswords
from gpulease_gui.store import hop_keys
from gpulease_gui.store.workspace import Workspace


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class SecretAsked:
    """What is asked for: "passphrase of PATH", "password", "password of the jump host USER@HOST:PORT", "password of the proxy
    USER@HOST:PORT", or the words of who asks.

    `hop`: host:port of the jump host that it is for, "" = the node. `number`: which try of this secret it is. `withdrawn`: whether the work that
    asks was cancelled or its login is over, so that nobody waits for an answer any more. `shared`: whose secret it is, where others wait for
    the same one and go on with the question of who no longer does; () = nobody does.
    """

    what: str
    hop: str = ""
    number: int = 1
    withdrawn: Callable[[], bool] = field(default=_never, compare=False, repr=False)
    shared: Owner = field(default=(), compare=False, repr=False)


AskSecret = Callable[[Node, SecretAsked], Secret | None]

NO_FILE = "none"


@dataclass(frozen=True, slots=True)
class WayThere:
    """All that a connect to a node needs."""

    address: Address
    credentials: Credentials
    trust: HostTrust
    route: Route

    def telling(self, mask: Mask) -> WayThere:
        """The same way, whose secrets `mask` learns as they are given."""
        hops = tuple(replace(hop, credentials=_telling(hop.credentials, hop.address, mask)) for hop in self.route.hops)
        if self.route.proxy is not None:
            mask.add(self.route.proxy.password, self.route.proxy.user)
        return replace(self, credentials=_telling(self.credentials, self.address, mask), route=replace(self.route, hops=hops))

    def trusting(self, once: Mapping[str, HostKey]) -> WayThere:
        """The same way with a key more that is trusted: by host:port of a jump host, "" = the node."""
        hops = tuple(replace(hop, trust=_and(hop.trust, once.get(hop.address.host_port))) for hop in self.route.hops)
        return replace(self, trust=_and(self.trust, once.get("")), route=replace(self.route, hops=hops))


def _telling(credentials: Credentials, address: Address, mask: Mask) -> Credentials:
    ask_password, ask_prompt = credentials.ask_password, credentials.ask_prompt
    mask.add(credentials.password, address.user)

    def password(number: int, refused: Secret | None) -> Secret | None:
        typed = ask_password(number, refused) if ask_password is not None else None
        mask.add(typed, address.user)
        return typed

    def answer(prompt: Prompt) -> Secret | None:
        asked = replace(prompt, words=mask.shown(prompt.words), said=mask.shown(prompt.said))
        typed = ask_prompt(asked) if ask_prompt is not None else None
        if not prompt.echo:
            mask.add(typed, address.user, in_outputs=asks_for_password(prompt.words))
        return typed

    return replace(
        credentials, ask_password=password if ask_password is not None else None, ask_prompt=answer if ask_prompt is not None else None
    )


def _and(trust: HostTrust, key: HostKey | None) -> HostTrust:
    return trust if key is None else replace(trust, pins=(*trust.pins, key))


def _by_key(credentials: Credentials) -> Credentials:
    """No password and no answer, as far as the config leaves the way by key."""
    left = tuple(way for way in credentials.methods or METHODS if way == "publickey")
    return replace(credentials, password=None, ask_password=None, ask_prompt=None, methods=left or ("none",))


class Ways:
    """Finds the way to a node. Passwords are asked for once a session; where the user wants it, the keyring has them.

    That of a jump host is asked for once for all nodes that are reached over it by the same way, that of a proxy's user once
    for all nodes behind it.
    """

    def __init__(self, workspace: Workspace, ask_secret: AskSecret | None, fingerprints: tuple[str, ...]) -> None:
        self._workspace = workspace
        self._fingerprints = fingerprints
        self._typed = TypedPasswords()
        self.ask_secret = ask_secret
        self.ask_open: AskSecret | None = None
        self.kept = KeptSecrets(workspace, SystemKeyring())

    def way_to(
        self, node: Node, address: Address, fingerprints: tuple[str, ...], cancel: CancelToken | None = None, *, keys_only: bool = False
    ) -> WayThere:
        """The way to a node. Reads the user's ssh config and known_hosts; raises UserFacing when they can't be used.

        `keys_only`: no node and no jump host on the way gets a password or an answer. `cancel` withdraws what is asked, now and
        while the way is gone; then asking for a passphrase raises Cancelled.
        """
        cancel = cancel or CancelToken()
        given = self._fingerprints + fingerprints
        with self._workspace.read() as connection:
            pinned = pinned_keys(connection, node)
        files = tuple(node.known_hosts.split("\n")) if node.known_hosts else ()
        trust = trust_of(address, tuple(one.key for one in pinned.own), given, node.host_key_alias, files, parse_options(node.ssh_options))
        if not (trust.expected or trust.authorities):
            trust = replace(trust, pins=pinned.keys)
        places = resolve_jumps(node.jump)
        hops = tuple(self._hop(node, places[:number], given, cancel) for number in range(1, len(places) + 1))
        # Only the first stop is called from this computer.
        way_out = parse_options(places[0].ssh_options if places else node.ssh_options).way_out
        credentials = self._credentials(node, cancel, keys_only=keys_only)
        if keys_only:
            credentials, hops = _by_key(credentials), tuple(replace(hop, credentials=_by_key(hop.credentials)) for hop in hops)
        return WayThere(address, credentials, trust, Route(hops, self._proxy(node, cancel), way_out))

    def other_proxy_password(self, node: Node, proxy: Proxy, number: int, cancel: CancelToken) -> Proxy | None:
        """The proxy, after it refused its password, with another one, which is the `number`th; None = there is none."""
        self.kept.drop(node, f"{PROXY}{proxy.user_at}")
        password = self._proxy_password(node, proxy, cancel, number)
        return replace(proxy, password=password) if password is not None else None

    def forget(self, node: Node, hop: str = "") -> None:
        """Ask for this node's passwords again, and for that of a jump host (host:port): one of them may have been wrong."""
        self._typed.forget(lambda owner: owner[0] == node.id or (bool(hop) and owner[:2] == ("", hop)))

    def know(self, node: Node, password: Secret) -> None:
        """The password of a node, until the program ends or the node refuses it; it is not asked for."""
        self._typed.know(_own(node), password)

    def close(self) -> None:
        """Forget all passwords."""
        self._typed.forget(lambda owner: True)
        self.kept.close()

    def _hop(self, node: Node, places: Sequence[Target], given: tuple[str, ...], cancel: CancelToken) -> Hop:
        place = places[-1]
        with self._workspace.read() as connection:
            pins = hop_keys.list_trusted_hop_keys(connection, place_of_hop(node, places))
        trust = trust_of(place.address, pins, given, place.host_key_alias, place.known_hosts, parse_options(place.ssh_options))
        return Hop(place.address, self._hop_credentials(node, place, _owner(node, places), cancel), trust)

    def _hop_credentials(self, node: Node, place: Target, owner: Owner, cancel: CancelToken) -> Credentials:
        """The key that ssh's config names for the hop, else one of the agent, else the node's own: as far as it allows.

        Nobody chooses a way for a jump host, so that as in ssh a password is the next.
        """
        options = parse_options(place.ssh_options)
        asking = self._asking(node, place.address, place.address.host_port, f"{JUMP}{place.address}", owner, cancel)
        base = replace(
            asking, certificate_file=place.certificate_file, else_password=True,
            identity_file=place.identity_file, agent=options.agent, key_algorithms=options.key_algorithms, methods=options.methods,
            rsa_bits_least=options.rsa_bits_least,
        )  # fmt: skip
        if options.no_key:
            return replace(base, method=AuthMethod.PASSWORD, identity_file="")
        if place.identity_file:
            return replace(base, method=method_for(place.identity_file))
        if options.only_named:
            return replace(base, method=AuthMethod.KEY)
        if agent_present(base.agent):
            return replace(base, method=AuthMethod.AGENT)
        return replace(base, method=AuthMethod.KEY, identity_file="" if place.no_key_file else node.identity_file)

    def _credentials(self, node: Node, cancel: CancelToken, *, keys_only: bool) -> Credentials:
        assert node.address is not None
        options = parse_options(node.ssh_options)
        # The ssh config may say so of a node that has had a key for long.
        method, identity_file = (AuthMethod.PASSWORD, "") if options.no_key else (node.auth, node.identity_file)
        password = self._password(node, PASSWORD, cancel) if method is AuthMethod.PASSWORD and not keys_only else None
        asking = self._asking(node, node.address, "", PASSWORD, _own(node), cancel)
        if method is AuthMethod.PASSWORD and password is None:  # given up a moment ago
            asking = replace(asking, ask_password=None)
        return replace(
            asking, method=method, identity_file=identity_file, password=password,
            certificate_file=node.certificate_file, agent=options.agent, key_algorithms=options.key_algorithms, methods=options.methods,
            rsa_bits_least=options.rsa_bits_least,
        )  # fmt: skip

    def _asking(self, node: Node, address: Address, hop: str, password: str, owner: Owner, cancel: CancelToken) -> Credentials:
        """Who asks for what on the way: `password` is the name of the one that the host may want."""
        ask, withdrawn = self.ask_secret, _withdrawn(cancel)

        def passphrase(path: str, number: int) -> Secret | None:
            given = self._kept_or_asked(node, SecretAsked(f"{PASSPHRASE}{path}", hop, number, withdrawn, ("file", path)))
            if given is None:
                cancel.check()  # then nobody gave up, and the next who needs the key asks
            return given

        def wrong(path: str) -> None:
            self.kept.drop(node, f"{PASSPHRASE}{path}")

        def type_password(number: int, refused: Secret | None) -> Secret | None:
            if refused is not None:
                self.kept.drop(node, password)
            asked = SecretAsked(password, hop, number, withdrawn, owner)
            return self._typed.get(owner, lambda: self._kept_or_asked(node, asked, refused), refused, withdrawn)

        if ask is None:
            return Credentials(ask_passphrase=passphrase, wrong_passphrase=wrong)

        def answer(prompt: Prompt) -> Secret | None:
            way = self.ask_open if prompt.echo and self.ask_open is not None else ask
            said = f" ({prompt.said})" if prompt.said else ""
            return way(node, SecretAsked(f"{address.host_port} asks: {prompt.words}{said}", hop, withdrawn=withdrawn))

        return Credentials(ask_passphrase=passphrase, wrong_passphrase=wrong, ask_prompt=answer, ask_password=type_password)

    def _kept_or_asked(self, node: Node, asked: SecretAsked, wrong: Secret | None = None) -> Secret | None:
        known = self.kept.find(node, asked.what)
        if known is not None and known == wrong:  # it was kept for several nodes, and another one had tried it
            self.kept.drop(node, asked.what)
            known = None
        return known if known is not None or self.ask_secret is None else self.ask_secret(node, asked)

    def _proxy(self, node: Node, cancel: CancelToken) -> Proxy | None:
        proxy = parse_proxy(node.proxy)
        if proxy is None or not proxy.user:
            return proxy
        return replace(proxy, password=self._proxy_password(node, proxy, cancel))

    def _proxy_password(self, node: Node, proxy: Proxy, cancel: CancelToken, number: int = 1) -> Secret | None:
        withdrawn = _withdrawn(cancel)
        owner, wrong = ("proxy", proxy.kind, proxy.user_at), proxy.password
        asked = SecretAsked(f"{PROXY}{proxy.user_at}", "", number, withdrawn, owner)
        return self._typed.get(owner, lambda: self._kept_or_asked(node, asked, wrong), wrong, withdrawn)

    def _password(self, node: Node, what: str, cancel: CancelToken) -> Secret | None:
        withdrawn = _withdrawn(cancel)
        asked = SecretAsked(what, withdrawn=withdrawn, shared=_own(node))
        return self._typed.get(_own(node), lambda: self._kept_or_asked(node, asked), cancelled=withdrawn)


def _withdrawn(cancel: CancelToken) -> Callable[[], bool]:
    return lambda: cancel.cancelled


def _own(node: Node) -> Owner:
    """Whose a node's own password is: once its address, its login or the way there is changed it may be another machine's."""
    return node.id, PASSWORD, str(node.address), node.jump, node.proxy


def _owner(node: Node, places: Sequence[Target]) -> Owner:
    """Whose password that of the last of the jump hosts is: behind another way the same address may be another machine."""
    return "", places[-1].address.host_port, node.proxy, *(str(place.address) for place in places)


def method_for(identity_file: str) -> AuthMethod:
    """A public key file stands for a key of the agent."""
    return AuthMethod.AGENT if identity_file.endswith(".pub") else AuthMethod.KEY


def usual_login(node: Node) -> AuthMethod:
    """How a node without a named key is logged in to: by the agent where there is one and the ssh config lets it."""
    options = parse_options(node.ssh_options)
    if options.no_key:
        return AuthMethod.PASSWORD
    return AuthMethod.AGENT if not options.only_named and agent_present(options.agent) else AuthMethod.KEY


def trust_of(
    address: Address, pins: tuple[HostKey, ...], fingerprints: tuple[str, ...], alias: str, files: tuple[str, ...],
    options: SshOptions,
) -> HostTrust:  # fmt: skip
    """Our pins and given fingerprints, and what the user's own ssh knows of the host. Files are read, never written.

    Raises UsageError for a file of revoked keys that can't be read: ssh connects to nobody then.
    """
    paths = (*(files or user_known_hosts()), *options.system_files)
    here = known_of(address, alias, [path for path in paths if path != NO_FILE])
    keys, lists = revoked_in(options.revoked_file) if options.revoked_file else ((), ())
    return HostTrust(
        pins, fingerprints, here.listed, (*here.revoked, *keys), here.skipped, here.authorities, alias or address.host, lists,
        options.host_algorithms, options.ca_algorithms, options.wire, options.keeps_order, options.rsa_bits_least,
    )  # fmt: skip
