"""Who we say that we are: certificates, the agent's keys, questions of the node."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import paramiko
import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled
from gpulease_gui.domain.node import Address, AuthMethod
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.credentials import Credentials, Prompt, is_encrypted
from gpulease_gui.remote.failures import ConnectFailed, Phase
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust, host_key_of
from gpulease_gui.remote.session import Connector
from tests.integration.listening import serving

pytestmark = pytest.mark.sshd


def log_in(server, credentials: Credentials) -> None:
    Connector().connect(server.address, credentials, server.trust, Deadlines(), CancelToken()).close()


def failure(server, credentials: Credentials, **deadlines: float) -> ConnectFailed:
    with pytest.raises(ConnectFailed) as caught:
        Connector().connect(server.address, credentials, server.trust, Deadlines(**deadlines), CancelToken())
    return caught.value


# -- certificates ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Authority:
    folder: Path

    def certify(self, key: str, user: str, serial: int = 1) -> Path:
        words = ["-q", "-s", "ca", "-I", "someone", "-n", user, "-z", str(serial), f"{key}.pub"]
        subprocess.run(["ssh-keygen", *words], cwd=self.folder, check=True, capture_output=True)
        return (self.folder / f"{key}-cert.pub").rename(self.folder / f"{key}.{serial}.signed")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    for name, kind in (("ca", "ed25519"), ("mine", "ed25519"), ("rsa", "rsa"), ("other", "ed25519")):
        subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", tmp_path / name], check=True)
    return Authority(tmp_path)


@pytest.mark.parametrize("key", ["mine", "rsa"])
def test_that_a_certificate_of_a_trusted_authority_logs_in(make_sshd, authority, key):
    server = make_sshd(f"TrustedUserCAKeys {authority.folder}/ca.pub\n")
    bare = Credentials(identity_file=str(authority.folder / key))
    assert failure(server, bare).cause == "key_refused"
    signed = authority.certify(key, server.address.user)
    log_in(server, Credentials(identity_file=bare.identity_file, certificate_file=str(signed)))


def test_that_a_certificate_beside_the_key_is_found(make_sshd, authority):
    server = make_sshd(f"TrustedUserCAKeys {authority.folder}/ca.pub\n")
    authority.certify("mine", server.address.user).rename(authority.folder / "mine-cert.pub")
    log_in(server, Credentials(identity_file=str(authority.folder / "mine")))


def test_that_the_bare_key_is_tried_after_a_certificate_that_counts_for_nothing(sshd, authority, tmp_path):
    key = tmp_path / "key"
    key.write_bytes(sshd.keys.user("id_ed25519").read_bytes())
    key.chmod(0o600)
    (tmp_path / "key.pub").write_bytes(sshd.keys.user("id_ed25519.pub").read_bytes())
    log_in(sshd, Credentials(identity_file=str(key), certificate_file=str(authority.certify("key", "nobody"))))


def test_that_a_certificate_of_another_key_is_told_by_name(sshd, authority):
    signed = authority.certify("other", sshd.address.user)
    for file in (signed, authority.folder / "mine.pub", authority.folder / "nowhere"):
        error = failure(sshd, Credentials(identity_file=str(authority.folder / "mine"), certificate_file=str(file)))
        assert (error.phase, error.cause) == (Phase.AUTH, "bad_certificate")
        assert str(file) in error.why


# -- the agent ------------------------------------------------------------------------------------------------------


@pytest.fixture
def full_agent(sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Callable[..., bool]) -> Iterator[Path]:
    """An agent with eight keys; the last is the one that the node knows."""
    place = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(place))
    assert until(place.exists)
    for number in range(7):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / f"k{number}"], check=True)
        subprocess.run(["ssh-add", "-q", tmp_path / f"k{number}"], check=True, capture_output=True)
    subprocess.run(["ssh-add", "-q", sshd.keys.user("id_ed25519")], check=True, capture_output=True)
    yield tmp_path
    process.terminate()
    process.wait(60)


def test_that_ux_12_the_chosen_one_of_eight_keys_is_the_only_one_tried(make_sshd, full_agent):
    server = make_sshd("MaxAuthTries 1\n")
    fingerprint = server.keys._fingerprint(server.keys.user("id_ed25519.pub"))
    for choice in (server.keys.user("id_ed25519.pub"), server.keys.user("id_ed25519"), fingerprint):
        log_in(server, Credentials(AuthMethod.AGENT, str(choice)))


def test_that_ux_12_eight_keys_without_a_choice_stop_after_three_and_say_what_to_do(make_sshd, full_agent):
    server = make_sshd("LogLevel VERBOSE\n")
    error = failure(server, Credentials(AuthMethod.AGENT))
    assert (error.phase, error.cause) == (Phase.AUTH, "too_many_failures")
    assert "8 keys" in error.why and ".pub" in error.next_step
    log = (server.folder / "log").read_text()
    assert "Too many" not in log and log.count("Failed publickey for ") == 3


def test_that_a_chosen_key_that_the_agent_lacks_is_told_by_name(sshd, full_agent):
    error = failure(sshd, Credentials(AuthMethod.AGENT, str(sshd.keys.user("stranger.pub"))))
    assert error.cause == "not_in_agent"


def test_that_an_encrypted_key_that_the_agent_holds_asks_for_no_passphrase(sshd, full_agent):
    encrypted = sshd.keys.user("encrypted")
    subprocess.run(["cp", encrypted, full_agent / "key"], check=True)
    subprocess.run(["cp", f"{encrypted}.pub", full_agent / "key.pub"], check=True)
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "correct horse", "-N", "", "-f", full_agent / "key"], check=True)
    subprocess.run(["ssh-add", "-q", full_agent / "key"], check=True, capture_output=True)
    assert is_encrypted(str(encrypted)) and not is_encrypted(str(full_agent / "key"))
    log_in(sshd, Credentials(identity_file=str(encrypted)))


# -- questions ------------------------------------------------------------------------------------------------------


@dataclass
class Doorman(paramiko.ServerInterface):
    """Wants a key, then answers to rounds of questions; writes down what it hears."""

    rounds: tuple[tuple[tuple[str, bool], ...], ...]
    right: tuple[str, ...] = ("otp",)
    wants_key: bool = True
    heard: list[list[str]] = field(default_factory=list)
    tries: int = 0
    round: int = 0
    key_seen: bool = False

    def get_allowed_auths(self, username: str) -> str:
        return "keyboard-interactive" if self.key_seen or not self.wants_key else "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        self.key_seen = True
        return paramiko.AUTH_PARTIALLY_SUCCESSFUL

    def check_auth_interactive(self, username: str, submethods: str) -> paramiko.InteractiveQuery:
        self.tries, self.round = self.tries + 1, 0
        return self._query()

    def _query(self) -> paramiko.InteractiveQuery:
        return paramiko.InteractiveQuery("Gate\x1b[2J", "second step", *self.rounds[self.round])

    def check_auth_interactive_response(self, responses: list[str]) -> int | paramiko.InteractiveQuery:
        self.heard.append([word.decode() if isinstance(word, bytes) else word for word in responses])
        self.round += 1
        if self.round < len(self.rounds):
            return self._query()
        right = [word for round_ in self.heard[-len(self.rounds) :] for word in round_] == list(self.right)
        return paramiko.AUTH_SUCCESSFUL if right else paramiko.AUTH_FAILED


@dataclass
class Gate:
    """A node that a Doorman keeps."""

    address: Address
    trust: HostTrust


@contextmanager
def kept_by(doorman: Doorman) -> Iterator[Gate]:
    key = paramiko.ECDSAKey.generate()
    with serving(doorman, key, user="anna") as (address, _):
        yield Gate(address, HostTrust((host_key_of(key),)))


def asker(answers: list[str | None], asked: list[Prompt]) -> Callable[[Prompt], Secret | None]:
    def ask(prompt: Prompt) -> Secret | None:
        asked.append(prompt)
        answer = answers.pop(0)
        return None if answer is None else Secret(answer)

    return ask


def by_key(sshd, ask: Callable[[Prompt], Secret | None] | None, password: str = "") -> Credentials:
    return Credentials(identity_file=sshd.key_file, password=Secret(password) if password else None, ask_prompt=ask)


def test_that_ux_13_key_and_questions_go_over_one_connection_with_plain_words_and_the_echo_flag(sshd):
    asked: list[Prompt] = []
    doorman = Doorman(((("Code <b>:", False), ("Your \x07name: ", True)), (), (("Again:", False),)), ("otp", "anna", "x"))
    with kept_by(doorman) as gate:
        log_in(gate, by_key(sshd, asker(["otp", "anna", "x"], asked)))
    said = "Gate␛[2J\nsecond step"
    assert asked == [Prompt("Code <b>:", False, said), Prompt("Your ␇name:", True, said), Prompt("Again:", False, said)]
    # A push without questions is a round of its own.
    assert (doorman.heard, doorman.tries) == ([["otp", "anna"], [], ["x"]], 1)


def test_that_ux_13_wrong_answers_are_asked_for_three_times_at_most(sshd):
    asked: list[Prompt] = []
    doorman = Doorman(((("Code:", False),),))
    with kept_by(doorman) as gate:
        log_in(gate, by_key(sshd, asker(["bad", "worse", "otp"], asked)))
        assert doorman.tries == 3
        error = failure(gate, by_key(sshd, asker(["bad"] * 9, asked)))
    assert (error.phase, error.cause) == (Phase.AUTH, "answer_refused")
    assert (doorman.tries, len(asked)) == (6, 6)


def test_that_ux_13_an_empty_answer_is_an_answer(sshd):
    doorman = Doorman(((("Press Enter after the push:", True),),), ("",))
    with kept_by(doorman) as gate:
        log_in(gate, by_key(sshd, asker([""], [])))
    assert (doorman.heard, doorman.tries) == ([[""]], 1)


def test_that_a_question_that_the_user_leaves_open_is_no_fault_of_the_node(sshd):
    left = threading.Event()

    def ask(prompt: Prompt) -> Secret | None:
        left.wait(60)
        return None

    doorman = Doorman(((("Code:", False),),))
    with kept_by(doorman) as gate:
        error = failure(gate, by_key(sshd, ask), ask_s=3.0)  # the question comes in that time
        left.set()
    assert (error.phase, error.cause, error.why) == (Phase.AUTH, "no_answer", "no answer to 'Code:' within 3 s")
    assert error.why_text.zh == "3 秒内未回答 'Code:'"


def test_that_a_user_who_gives_up_ends_the_login(sshd):
    doorman = Doorman(((("Code:", False),),))
    with kept_by(doorman) as gate:
        error = failure(gate, by_key(sshd, asker([None], [])))
    assert (error.cause, doorman.tries, doorman.heard) == ("no_answer", 1, [])
    assert "Code:" in error.why


def test_that_a_password_answers_the_question_for_it_once(sshd):
    asked: list[Prompt] = []
    doorman = Doorman(((("User:", True), ("Password:", False)), (("Code:", False),)), ("anna", "word", "otp"), wants_key=False)
    credentials = Credentials(AuthMethod.PASSWORD, password=Secret("word"), ask_prompt=asker(["anna", "otp"], asked))
    with kept_by(doorman) as gate:
        log_in(gate, credentials)
    assert [prompt.words for prompt in asked] == ["User:", "Code:"]


@pytest.mark.parametrize(("round_", "answered"), [((), 10), ((("Code:", False),), 20)])
def test_that_a_node_that_asks_without_end_is_left_and_blamed(sshd, round_, answered):
    asked: list[Prompt] = []
    doorman = Doorman((round_,) * 5000, wants_key=False)
    with kept_by(doorman) as gate:
        error = failure(gate, Credentials(AuthMethod.PASSWORD, password=Secret("word"), ask_prompt=asker(["x"] * 5000, asked)))
    assert (error.phase, error.cause, error.why) == (
        Phase.AUTH, "asks_without_end", "the node asks on and on while we log in, and neither lets us in nor refuses",
    )
    assert error.next_step == "its SSH server is broken or hostile; ask the supplier"
    assert (error.why_text.zh, error.next_text.zh) == ("节点在登录时不停地提问，既不放行也不拒绝", "该 SSH 服务有故障或有恶意，请询问供应商")
    assert (len(doorman.heard), doorman.tries, len(asked)) == (answered, 1, answered * bool(round_))


class PasswordFirst(Doorman):
    """Takes the password, then asks."""

    def get_allowed_auths(self, username: str) -> str:
        return "keyboard-interactive" if self.key_seen else "password"

    def check_auth_password(self, username: str, password: str) -> int:
        self.key_seen = password == "word"
        return paramiko.AUTH_PARTIALLY_SUCCESSFUL if self.key_seen else paramiko.AUTH_FAILED


def test_that_a_password_that_was_accepted_does_not_answer_the_question_after_it(sshd):
    asked: list[Prompt] = []
    doorman = PasswordFirst(((("Code:", False),),))
    with kept_by(doorman) as gate:
        log_in(gate, Credentials(AuthMethod.PASSWORD, password=Secret("word"), ask_prompt=asker(["otp"], asked)))
    assert (doorman.heard, doorman.tries, [prompt.words for prompt in asked]) == ([["otp"]], 1, ["Code:"])


def test_that_a_wrong_password_alone_is_not_tried_again(sshd):
    doorman = Doorman(((("Password:", False),),), wants_key=False)
    with kept_by(doorman) as gate:
        error = failure(gate, Credentials(AuthMethod.PASSWORD, password=Secret("bad")))
    assert (error.cause, doorman.tries) == ("answer_refused", 1)


class TakesBoth(Doorman):
    """Takes a password in both ways."""

    def get_allowed_auths(self, username: str) -> str:
        return "keyboard-interactive,password"

    def check_auth_password(self, username: str, password: str) -> int:
        return paramiko.AUTH_SUCCESSFUL


def test_that_a_password_goes_by_the_ways_that_the_config_leaves_in_its_order(sshd):
    asks_only = Doorman(((("Password:", False),),), ("word",), wants_key=False)
    tries = []
    for methods, doorman in (
        ((), TakesBoth(())), (("keyboard-interactive", "password"), TakesBoth(((("Password:", False),),), ("word",))),
        (("keyboard-interactive", "password"), PasswordFirst(((("Code:", False),),))),
    ):  # fmt: skip
        with kept_by(doorman) as gate:
            log_in(gate, Credentials(AuthMethod.PASSWORD, password=Secret("word"), ask_prompt=asker(["otp"], []), methods=methods))
        tries.append(doorman.tries)
    assert tries == [0, 1, 1]  # the last one's code was asked for, not answered by the password
    with kept_by(asks_only) as gate:
        error = failure(gate, Credentials(AuthMethod.PASSWORD, password=Secret("word"), methods=("password",)))
    assert (error.cause, asks_only.tries) == ("way_barred", 0)
    assert error.why.endswith("leaves password, and keyboard-interactive would be needed")


class CountsPasswords(Doorman):
    """Takes a password as the answer to its question alone; writes down what comes as a password all the same."""

    sent: tuple[str, ...] = ()

    def check_auth_password(self, username: str, password: str) -> int:
        self.sent += (password,)
        return paramiko.AUTH_FAILED


def test_that_a_known_password_goes_only_by_a_way_that_the_node_takes(sshd):
    doorman = CountsPasswords(((("Password:", False),),), ("word",), wants_key=False)
    with kept_by(doorman) as gate:
        log_in(gate, Credentials(AuthMethod.PASSWORD, password=Secret("word")))
    assert (doorman.sent, doorman.heard, doorman.tries) == ((), [["word"]], 1)


def test_that_a_known_password_answers_no_shown_and_no_other_question(sshd):
    asked: list[Prompt] = []
    rounds = ((("Password:", True),), (("Password:", False), ("One-time password:", False)), (("Password:", False),))
    doorman = CountsPasswords(rounds, ("a", "word", "b", "c"), wants_key=False)
    with kept_by(doorman) as gate:
        log_in(gate, Credentials(AuthMethod.PASSWORD, password=Secret("word"), ask_prompt=asker(["a", "b", "c"], asked)))
    assert (doorman.sent, doorman.heard) == ((), [["a"], ["word", "b"], ["c"]])
    assert [(prompt.words, prompt.echo) for prompt in asked] == [("Password:", True), ("One-time password:", False), ("Password:", False)]


def test_that_after_a_known_password_two_more_are_asked_for_at_most(sshd):
    tries: list[tuple[int, Secret | None]] = []

    def ask(number: int, refused: Secret | None) -> Secret | None:
        tries.append((number, refused))
        return Secret(f"typed {number}")

    silent = Secret("word")
    doorman = CountsPasswords(((("Password:", False),),), ("right",), wants_key=False)
    doorman._query = lambda: paramiko.InteractiveQuery("", "", ("Password:", False))  # type: ignore[method-assign]
    with kept_by(doorman) as gate:
        error = failure(gate, Credentials(AuthMethod.PASSWORD, password=silent, ask_password=ask))
    assert (error.cause, doorman.sent) == ("answer_refused", ())
    assert doorman.heard == [["word"], ["typed 2"], ["typed 3"]]
    assert tries == [(2, silent), (3, Secret("typed 2"))]


def test_that_a_question_after_the_key_is_not_answered_where_the_config_leaves_no_questions(sshd):
    doorman = Doorman(((("Code:", False),),))
    with kept_by(doorman) as gate:
        error = failure(gate, Credentials(identity_file=sshd.key_file, ask_prompt=asker(["otp"], []), methods=("publickey",)))
    assert (error.cause, doorman.tries) == ("way_barred", 0)
    assert error.why.endswith("leaves publickey, and keyboard-interactive would be needed")


def test_that_a_server_that_asks_on_and_on_is_left(sshd):
    asked: list[Prompt] = []
    doorman = Doorman(((("?" * 5000, False),),) * 30)
    with kept_by(doorman) as gate:
        error = failure(gate, by_key(sshd, asker(["x"] * 99, asked)))
    assert error.phase is Phase.AUTH
    assert (len(asked), len(asked[0].words)) == (20, 301)


def test_that_a_push_that_nobody_answers_has_its_deadline_and_can_be_cancelled(sshd):
    held, cancel = threading.Event(), CancelToken()

    class Slow(Doorman):
        def check_auth_interactive_response(self, responses: list[str]) -> int:
            cancel.cancel()
            held.wait(60)
            return paramiko.AUTH_FAILED

    with kept_by(Slow(((),))) as gate:
        started = time.monotonic()
        error = failure(gate, by_key(sshd, asker([], [])), ask_s=0.3)
        assert (error.phase, error.cause) == (Phase.AUTH, "timeout")
        cancel = CancelToken()
        with pytest.raises(Cancelled):
            Connector().connect(gate.address, by_key(sshd, asker([], [])), gate.trust, Deadlines(), cancel)
        assert time.monotonic() - started < 8
        held.set()
