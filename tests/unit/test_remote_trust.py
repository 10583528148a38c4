from __future__ import annotations

import pickle
import threading

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled
from gpulease_gui.domain.node import HostKey
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.failures import HostKeyChanged
from gpulease_gui.remote.gate import HandshakeGate
from gpulease_gui.remote.hostkeys import HostTrust, TrustedBy, fingerprints_in, judge, key_types

A = HostKey("ssh-ed25519", "SHA256:" + "a" * 43)
B = HostKey("ssh-ed25519", "SHA256:" + "b" * 43)
R = HostKey("ssh-rsa", "SHA256:" + "r" * 43)


@pytest.mark.parametrize(
    ("trust", "by"),
    [
        (HostTrust((A,)), TrustedBy.PIN),
        (HostTrust((B, A)), TrustedBy.PIN),
        (HostTrust((), (A.fingerprint,)), TrustedBy.FINGERPRINT),
        (HostTrust((R,), (A.fingerprint,)), TrustedBy.FINGERPRINT),
        (HostTrust((R,)), None),
        (HostTrust((), (B.fingerprint,)), None),
        (HostTrust(), None),
    ],
)
def test_that_a_key_is_trusted_by_pin_or_given_fingerprint_only(trust, by):
    assert judge("gw:22", A, trust) is by


def test_that_a_given_fingerprint_never_outweighs_a_pin_of_the_same_type():
    with pytest.raises(HostKeyChanged) as caught:
        judge("gw:22", A, HostTrust((B,), (A.fingerprint,)))
    assert (caught.value.old, caught.value.new) == (B, A)


def test_that_a_fingerprint_is_found_in_what_was_pasted():
    word = "x1Y+" + "c" * 39
    for text in (word, f"SHA256:{word}", f"256 SHA256:{word} root@node (ED25519)", f"指纹：SHA256:{word}="):
        assert fingerprints_in(text) == (f"SHA256:{word}",)
    assert fingerprints_in("MD5:aa:bb " + "d" * 44) == ()


def test_that_pinned_types_are_asked_for_first():
    offered = ("ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512", "rsa-sha2-256")
    assert key_types((R,), offered) == ("rsa-sha2-512", "rsa-sha2-256", "ssh-ed25519", "ecdsa-sha2-nistp256")
    assert key_types((), offered) == offered


def test_that_a_secret_shows_itself_nowhere_by_accident():
    secret = Secret("hunter2")
    for text in (repr(secret), str(secret), f"{secret}", f"{secret:>20}", repr([secret]), "%s" % secret):  # noqa: UP031
        assert "hunter2" not in text
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert secret.reveal() == "hunter2"
    assert secret == Secret("hunter2")


def test_that_the_gate_lets_four_in_and_one_host_never_waits_for_another():
    gate, token = HandshakeGate(4), CancelToken()
    inside = [gate.hold("gw:22", 1, token) for _ in range(4)]
    for place in inside:
        place.__enter__()
    with gate.hold("other:22", 1, token):
        pass
    with pytest.raises(TimeoutError), gate.hold("gw:22", 0.05, token):
        pass
    inside.pop().__exit__(None, None, None)
    with gate.hold("gw:22", 1, token):
        pass
    for place in inside:
        place.__exit__(None, None, None)


def test_that_who_waits_at_the_gate_can_cancel():
    gate, token = HandshakeGate(1), CancelToken()
    raised: list[bool] = []

    def wait() -> None:
        with pytest.raises(Cancelled), gate.hold("gw:22", 60, token):
            pass
        raised.append(True)

    with gate.hold("gw:22", 1, CancelToken()):
        thread = threading.Thread(target=wait)
        thread.start()
        token.cancel()
        thread.join(60)
    assert raised == [True]
