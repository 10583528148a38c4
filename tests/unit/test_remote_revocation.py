"""What does a list of ssh-keygen -k revoke, and which files are no list that may be believed?"""

from __future__ import annotations

import base64
import hashlib
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.remote.host_certificates import fields_of
from gpulease_gui.remote.revocation import MAGIC, read_list

KEY = b"\0\0\0\x0bssh-ed25519\0\0\0\x02ok"


def string(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


def number(value: int) -> bytes:
    return value.to_bytes(8, "big")


def file(*sections: tuple[int, bytes], version: int = 1) -> bytes:
    head = MAGIC + version.to_bytes(4, "big") + number(3) * 3 + string(b"") + string(b"for the test")
    return head + b"".join(bytes([kind]) + string(body) for kind, body in sections)


def of_authority(*parts: tuple[int, bytes], key: bytes = KEY) -> tuple[int, bytes]:
    return 1, string(key) + string(b"") + b"".join(bytes([kind]) + string(body) for kind, body in parts)


def test_that_keys_are_known_by_themselves_and_by_their_digests():
    whole, by_sha1, by_sha256, free = (KEY + bytes([n]) for n in range(4))
    found = read_list(file((2, string(whole)), (3, string(hashlib.sha1(by_sha1).digest())), (5, string(hashlib.sha256(by_sha256).digest()))))
    assert [found.has_key(key) for key in (whole, by_sha1, by_sha256, free)] == [True, True, True, False]
    assert found.has_certificate(whole, 0, b"") and not found.has_certificate(free, 0, b"")


@pytest.mark.parametrize(
    ("part", "revoked"),
    [
        ((0x20, number(5) + number(2**63)), {5, 2**63}), ((0x21, number(4) + number(6)), {4, 5, 6}), ((0x22, number(4) + string(b"\x05")), {4, 6}),
        ((0x22, number(4) + string(b"\0\x80")), {11}), ((0x21, number(1) + number(2**64 - 1)), {4, 5, 6, 7, 11, 2**63}), ((0x39, string(b"x") + b"\0" + string(b"y")), set()),
    ],
)  # fmt: skip
def test_that_certificates_are_known_by_their_serial_and_authority_and_0_is_no_serial(part, revoked):
    one, every = read_list(file(of_authority(part))), read_list(file(of_authority(part, key=b"")))
    serials = (0, 4, 5, 6, 7, 11, 2**63)
    assert {serial for serial in serials if one.has_certificate(KEY, serial, b"n")} == revoked
    assert {serial for serial in serials if every.has_certificate(b"another", serial, b"n")} == revoked
    assert not any(one.has_certificate(b"another", serial, b"n") for serial in serials)


def test_that_a_name_revokes_whatever_the_serial():
    found = read_list(file(of_authority((0x23, string(b"rack-7") + string(b"rack-8")))))
    assert [found.has_certificate(KEY, 0, name) for name in (b"rack-7", b"rack-8", b"rack-")] == [True, True, False]


@pytest.mark.parametrize(
    "content",
    [
        b"SSHKRL\n", file(version=2), file((4, b"signature")), file((9, b"")), file((255, string(b"x") + b"\1" + string(b""))),
        file((255, string(b"x") + b"\0" + string(b"") + b"more")), file((3, string(b"short"))), file((2, b"\0\0\0\x09x")), file((1, b"")),
        file(of_authority((0x20, number(0)))), file(of_authority((0x20, b"1234567"))), file(of_authority((0x21, number(6) + number(5)))),
        file(of_authority((0x21, number(5)))), file(of_authority((0x22, number(1) + string(b"\x80")))),
        file(of_authority((0x22, number(2**64 - 1) + string(b"\1\1")))), file(of_authority((0x24, b""))), file(of_authority((0x39, string(b"x") + b"\1" + string(b"")))),
        file(of_authority(key=b"\0\0\0\x09x")), file() + b"\2",
    ],
)  # fmt: skip
def test_that_what_is_not_known_or_cut_off_is_no_list(content):
    with pytest.raises(ValueError, match=r"\w"):
        read_list(content)


@given(st.binary(max_size=300))
def test_that_any_bytes_are_a_list_or_refused(content):
    try:
        read_list(file() + content)
    except ValueError as error:
        assert str(error)


def test_that_ssh_keygen_makes_what_we_read_and_says_the_same_of_it(tmp_path):
    def keygen(*words: str) -> str:
        return subprocess.run(["ssh-keygen", "-q", *words], cwd=tmp_path, check=False, capture_output=True, text=True).stdout

    for name in ("ca", "other", "host"):
        keygen("-t", "ed25519", "-N", "", "-f", name)
    blobs: dict[str, bytes] = {}
    for authority, serial, name in (("ca", 0, "none"), ("ca", 7, "rack-7"), ("ca", 300, "rack-9"), ("other", 7, "rack-1")):
        keygen("-s", authority, "-I", name, "-z", str(serial), "-h", "-n", "x", "host.pub")
        shown = (tmp_path / "host-cert.pub").rename(tmp_path / f"{authority}-{serial}.pub")
        blobs[shown.name] = base64.b64decode(shown.read_text().split()[1])
    for spec in ("serial: 7\n", "serial: 5-9\nid: none\n", "".join(f"serial: {n}\n" for n in range(4, 400, 2)), "id: rack-1\n"):
        (tmp_path / "spec").write_text(spec)
        for authority in ("ca.pub", "NONE"):
            keygen("-k", "-f", "krl", "-s", authority, "spec")
            found = read_list((tmp_path / "krl").read_bytes())
            for name, blob in blobs.items():
                said = fields_of(blob)
                assert found.has_certificate(said.authority, said.serial, said.name) is ("REVOKED" in keygen("-Q", "-f", "krl", name))
