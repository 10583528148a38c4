"""Which files of private keys are taken, in the forms that ssh-keygen and openssl write?"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.credentials import Credentials, KeyRing
from gpulease_gui.remote.failures import ConnectFailed


def _made(path: Path, *words: str, passphrase: str = "") -> Path:
    subprocess.run(["ssh-keygen", "-q", "-N", passphrase, "-f", path, *words], check=True)
    return path


def _public(path: Path) -> str:
    return path.with_name(path.name + ".pub").read_text().split()[1]


@pytest.mark.parametrize("words", [("-t", "ecdsa", "-m", "PKCS8"), ("-t", "rsa", "-b", "2048", "-m", "PKCS8"), ("-t", "ecdsa", "-b", "521", "-m", "PEM"),
                                   ("-t", "ed25519")])  # fmt: skip
@pytest.mark.parametrize("passphrase", ["", "a word or two"])
def test_that_a_key_is_read_in_each_form_that_ssh_reads(tmp_path: Path, words: tuple[str, ...], passphrase: str) -> None:
    path = _made(tmp_path / "key", *words, passphrase=passphrase)
    given = Credentials(identity_file=str(path), passphrase=Secret(passphrase) if passphrase else None)
    assert KeyRing().load("n:22", given).get_base64() == _public(path)


def test_that_a_wrong_passphrase_of_an_openssl_key_is_called_so(tmp_path: Path) -> None:
    path = _made(tmp_path / "key", "-t", "ecdsa", "-m", "PKCS8", passphrase="right one")
    with pytest.raises(ConnectFailed) as caught:
        KeyRing().load("n:22", Credentials(identity_file=str(path), passphrase=Secret("wrong one")))
    assert caught.value.cause == "wrong_passphrase"


@pytest.mark.skipif(os.name == "nt", reason="file modes are those of POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_that_a_key_that_others_can_read_or_write_is_not_used_as_in_ssh(tmp_path: Path, mode: int) -> None:
    path = _made(tmp_path / "key", "-t", "ed25519")
    path.chmod(mode)
    with pytest.raises(ConnectFailed) as caught:
        KeyRing().load("n:22", Credentials(identity_file=str(path)))
    assert caught.value.cause == "key_open_to_others" and "chmod 600" in str(caught.value)
    path.chmod(0o400)
    assert KeyRing().load("n:22", Credentials(identity_file=str(path))).get_base64() == _public(path)
