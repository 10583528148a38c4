"""Which files of private keys are taken, in the forms that ssh-keygen and openssl write?"""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest

from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.credentials import Credentials, KeyRing, is_encrypted
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


def _refused(path: Path, content: bytes | None = None, passphrase: Secret | None = None) -> ConnectFailed:
    if content is not None:
        path.write_bytes(content)
        path.chmod(0o600)
    with pytest.raises(ConnectFailed) as caught:
        KeyRing().load("n:22", Credentials(identity_file=str(path), passphrase=passphrase))
    error = caught.value
    assert error.why.startswith(f"{path} ") and error.why_text.zh != error.why_text.en and error.next_text.zh != error.next_text.en
    return error


def _string(words: bytes) -> bytes:
    return len(words).to_bytes(4, "big") + words


def _openssh(kind: bytes, cipher: bytes = b"none", kdf: bytes = b"none", options: bytes = b"") -> bytes:
    head = b"openssh-key-v1\0" + _string(cipher) + _string(kdf) + _string(options) + b"\0\0\0\1"
    body = base64.encodebytes(head + _string(_string(kind) + _string(b"x" * 32)) + _string(b"y" * 64))
    return b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + body + b"-----END OPENSSH PRIVATE KEY-----\n"


@pytest.mark.parametrize(("content", "cause", "what", "step"), [
    (b"", "key_empty", "is empty", "copy the key there again"),
    (b" \r\n\0", "key_empty", "is empty", "copy the key there again"),
    (b"PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none\r\n", "key_foreign", "is a PuTTY key", "PuTTYgen"),
    (b"\xef\xbb\xbfssh-ed25519 AAAA me\r\n", "key_public", "is a public key", "name the private key beside it"),
    (b"---- BEGIN SSH2 PUBLIC KEY ----\n", "key_public", "is a public key", "name the private key beside it"),
    (b"ssh-ed25519-cert-v01@openssh.com AAAA me\n", "key_public", "is a certificate", "this file as its certificate"),
    (b"SSH PRIVATE KEY FILE FORMAT 1.1\n\0\0", "key_old", "is an RSA1 key of SSH version 1, which no server takes any more", "ssh-keygen -t ed25519"),
    (_openssh(b"ssh-dss"), "key_old", "is a DSA key, which servers take no more", "ssh-keygen -t ed25519"),
    (_openssh(b"sk-ssh-ed25519@openssh.com"), "key_hardware", "belongs to a hardware key (FIDO), which signs through an agent only", "ssh-add it"),
    (_openssh(b"ssh-ed25519", b"rot13", b"argon2"), "key_cipher", "is encrypted by rot13 argon2, which is not supported", "ssh-keygen -p -f KEY"),
    (_openssh(b"ssh-ed25519", b"aes256-ctr", b"bcrypt", _string(b"s" * 16) + b"\xff" * 4), "key_cipher",
     "is encrypted in 4294967295 rounds, which would take minutes each time", "ssh-keygen -p -f KEY"),
    (b"-----BEGIN OPENSSH PRIVATE KEY-----\n!!!\n", "key_foreign", "is not a private key that can be used: it is damaged, or of a kind that is not supported", "ed25519"),
    (b"-----BEGIN CERTIFICATE-----\nAAAA\n", "key_foreign", "is not a private key that can be used: it is damaged, or of a kind that is not supported", "ed25519"),
    (b"<html>log in</html>", "key_foreign", "is not a private key", "ed25519"),
])  # fmt: skip
def test_that_what_is_no_key_is_told_as_what_it_is(tmp_path: Path, content: bytes, cause: str, what: str, step: str) -> None:
    error = _refused(tmp_path / "key", content)
    assert (error.cause, error.why) == (cause, f"{tmp_path / 'key'} {what}")
    assert step in error.next_step


@pytest.mark.parametrize("cipher", ["aes128-ctr", "chacha20-poly1305@openssh.com"])
def test_that_a_cipher_that_only_ssh_keygen_knows_is_named_before_a_passphrase_is_asked_for(tmp_path: Path, cipher: str) -> None:
    path = _made(tmp_path / "key", "-t", "ed25519", "-Z", cipher, passphrase="a word")
    error = _refused(path, passphrase=Secret("a word"))
    assert (error.cause, error.why) == ("key_cipher", f"{path} is encrypted by {cipher} bcrypt, which is not supported")


@pytest.mark.parametrize("cipher", ["aes256-ctr", "aes256-cbc", "aes256-gcm@openssh.com"])
@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_that_each_usual_cipher_of_a_key_is_opened(tmp_path: Path, cipher: str, kind: str) -> None:
    path = _made(tmp_path / "key", "-t", kind, "-Z", cipher, passphrase="a word")
    assert KeyRing().load("n:22", Credentials(identity_file=str(path), passphrase=Secret("a word"))).get_base64() == _public(path)


@pytest.mark.parametrize("saved", [
    lambda data: data.replace(b"\n", b"\r\n"), lambda data: b"\xef\xbb\xbf" + data, lambda data: data.decode().encode("utf-16"), lambda data: b"\n\n" + data,
], ids=["crlf", "bom", "utf16", "blank lines"])  # fmt: skip
@pytest.mark.parametrize("passphrase", ["", "a word"])
def test_that_a_key_is_read_however_an_editor_has_saved_it(tmp_path: Path, saved, passphrase: str) -> None:
    path = _made(tmp_path / "key", "-t", "ed25519", passphrase=passphrase)
    path.write_bytes(saved(path.read_bytes()))
    given = Credentials(identity_file=str(path), passphrase=Secret(passphrase) if passphrase else None)
    assert KeyRing().load("n:22", given).get_base64() == _public(path)
    assert is_encrypted(str(path)) is bool(passphrase)


def test_that_a_certificate_beside_a_key_that_is_about_another_is_left_out(tmp_path: Path) -> None:
    ca, mine, other = (_made(tmp_path / name, "-t", "ed25519") for name in ("ca", "mine", "other"))
    subprocess.run(["ssh-keygen", "-q", "-s", ca, "-I", "x", "-n", "u", f"{other}.pub"], check=True)
    signed = tmp_path / "other-cert.pub"
    assert bytes(KeyRing().load("n:22", Credentials(identity_file=str(other))).public_blob.key_blob) == base64.b64decode(signed.read_text().split()[1])
    signed.rename(tmp_path / "mine-cert.pub")
    assert KeyRing().load("n:22", Credentials(identity_file=str(mine))).public_blob is None
