"""Does a secret go into a true keyring or nowhere, and is a keyring that does not answer told as what it is?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.backends.chainer import ChainerBackend

from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.services.kept_secrets import KeptSecret, KeptSecrets, kept_for, list_kept, may_be_kept
from gpulease_gui.services.system_keyring import SERVICE, KeyringTrouble, SystemKeyring
from gpulease_gui.store.workspace import Workspace
from tests.keyrings import MemoryKeyring, system_keyring

NODE = Node("n1", "node-01", Reach.SSH, Address("203.0.113.1"))
WORD = Secret("correct horse")
FILE = "passphrase of /keys/id_ed25519"


class PlainFile(KeyringBackend):
    """As the plain-text store of keyrings.alt calls itself."""

    priority = 5  # type: ignore[assignment]
    __module__ = "keyrings.alt.file"

    def get_password(self, service: str, username: str) -> str | None:
        return None

    def set_password(self, service: str, username: str, password: str) -> None:
        raise AssertionError("a secret was written into a file")


class Weak(MemoryKeyring):
    priority = 0.5  # type: ignore[assignment]


class Stuck(MemoryKeyring):
    """A message bus that never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()

    def _open(self) -> None:
        self.over.wait()


class Broken(MemoryKeyring):
    def _open(self) -> None:
        raise OSError("the words of the secret: correct horse")


@pytest.fixture
def memory() -> Iterator[MemoryKeyring]:
    backend = MemoryKeyring()
    with system_keyring(backend):
        yield backend


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KeptSecrets]:
    workspace = Workspace.open(tmp_path / "own.db")
    yield KeptSecrets(workspace, SystemKeyring())
    workspace.close()


def marks(kept: KeptSecrets) -> tuple[KeptSecret, ...]:
    with kept._workspace.read() as connection:
        return list_kept(connection)


@pytest.mark.parametrize("backend", [fail.Keyring(), null.Keyring(), PlainFile(), Weak()])
def test_that_no_store_but_a_true_keyring_takes_a_secret(backend: KeyringBackend) -> None:
    with system_keyring(backend):
        keyring = SystemKeyring()
        assert not keyring.takes()
        with pytest.raises(KeyringTrouble, match="this system has none"):
            keyring.keep("password", WORD)


def test_that_of_several_stores_the_true_one_is_used_and_no_other(memory: MemoryKeyring) -> None:
    class Chain(ChainerBackend):
        backends = (PlainFile(), memory)  # type: ignore[assignment]

    with system_keyring(Chain()):
        keyring = SystemKeyring()
        assert keyring.takes()
        keyring.keep("password", WORD)
    assert memory.held == {(SERVICE, "password"): "correct horse"}


def test_that_what_is_kept_comes_back_and_goes_when_it_is_forgotten(memory: MemoryKeyring) -> None:
    keyring = SystemKeyring()
    keyring.keep("password", WORD)
    assert keyring.find("password") == WORD
    keyring.forget("password")
    keyring.forget("password")
    assert keyring.find("password") is None and memory.held == {}


def test_that_a_secret_longer_than_the_smallest_store_is_not_even_tried(memory: MemoryKeyring) -> None:
    with pytest.raises(KeyringTrouble, match="too long"):
        SystemKeyring().keep("password", Secret("x" * 1281))
    assert memory.asked == 0


@pytest.mark.parametrize(("backend", "said"), [(Stuck(), "it gave no answer"), (Broken(), "it is broken (OSError)")])
def test_that_a_keyring_that_fails_is_told_without_the_words_of_its_fault(backend: MemoryKeyring, said: str) -> None:
    with system_keyring(backend):
        with pytest.raises(KeyringTrouble) as told:
            SystemKeyring(answer_s=0.05 if isinstance(backend, Stuck) else 5).find("password")
    if isinstance(backend, Stuck):
        backend.over.set()
    assert told.value.words.en == said and "horse" not in told.value.words.zh


def test_that_who_keeps_nothing_never_meets_the_keyring(memory: MemoryKeyring, kept: KeptSecrets) -> None:
    assert kept.find(NODE, "password") is None and kept.find(NODE, FILE) is None
    assert not kept.accepted(NODE) and kept.forget(NODE) == 0
    assert memory.asked == 0


def test_that_a_secret_is_kept_when_the_node_took_it_and_not_before(memory: MemoryKeyring, kept: KeptSecrets) -> None:
    kept.keep_once_accepted(NODE, "password", Secret("wrong"))
    kept.refused(NODE, login=True)
    assert not kept.accepted(NODE) and memory.held == {}
    kept.keep_once_accepted(NODE, "password", WORD)
    assert memory.held == {}
    assert kept.accepted(NODE)
    assert memory.held == {(SERVICE, "password, root@203.0.113.1:22 (n1)"): "correct horse"}
    assert kept.find(NODE, "password") == WORD


def test_that_a_password_is_given_to_no_other_node_and_to_no_other_address(memory: MemoryKeyring, kept: KeptSecrets) -> None:
    kept.keep_once_accepted(NODE, "password", WORD)
    kept.accepted(NODE)
    for other in (Node("n2", "node-02", Reach.SSH, NODE.address), Node("n1", "node-01", Reach.SSH, Address("203.0.113.9"))):
        assert kept.find(other, "password") is None
    assert memory.asked == 1


def test_that_a_passphrase_serves_every_node_of_its_key(memory: MemoryKeyring, kept: KeptSecrets) -> None:
    kept.keep_once_accepted(NODE, FILE, WORD)
    kept.accepted(NODE)
    other = Node("n2", "node-02", Reach.SSH, Address("203.0.113.2"), identity_file="/keys/id_ed25519")
    assert kept.find(other, FILE) == WORD
    assert [one.what for one in kept_for(other, marks(kept))] == [FILE]
    assert kept.forget(other) == 1
    assert memory.held == {} and marks(kept) == ()


def test_that_a_refused_secret_is_not_tried_again_and_goes_when_another_is_accepted(memory: MemoryKeyring, kept: KeptSecrets) -> None:
    kept.keep_once_accepted(NODE, "password", WORD)
    kept.accepted(NODE)
    assert kept.find(NODE, "password") == WORD
    kept.refused(NODE, login=False)
    assert kept.find(NODE, "password") == WORD
    kept.refused(NODE, login=True)
    assert kept.find(NODE, "password") is None
    assert kept.accepted(NODE)  # with what was typed and is not to be kept
    assert memory.held == {} and marks(kept) == ()


def test_that_a_locked_keyring_lets_the_user_be_asked_and_says_why(memory: MemoryKeyring, kept: KeptSecrets) -> None:
    kept.keep_once_accepted(NODE, "password", WORD)
    kept.accepted(NODE)
    memory.locked = True
    assert kept.find(NODE, "password") is None
    trouble = kept.trouble(NODE, "password")
    assert trouble is not None and (trouble.en, trouble.zh) == ("it is locked", "密钥环已锁定")
    with pytest.raises(KeyringTrouble, match="it is locked"):
        kept.forget(NODE)
    assert len(marks(kept)) == 1


@pytest.mark.parametrize("what", ["203.0.113.1:22 asks: Code:", "passphrase of /a\tb", "password:"])
def test_that_an_answer_to_a_nodes_own_question_is_never_kept(what: str) -> None:
    assert not may_be_kept(what)
