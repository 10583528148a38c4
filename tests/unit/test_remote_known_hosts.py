from __future__ import annotations

import base64
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.node import Address
from gpulease_gui.remote.known_hosts import keys_for, known_name, known_of, names_match, parse_lines


def blob(kind: str = "ssh-ed25519", fill: bytes = b"k") -> str:
    name = kind.encode()
    return base64.b64encode(len(name).to_bytes(4, "big") + name + (32).to_bytes(4, "big") + fill * 32).decode()


GOOD = f"gw ssh-ed25519 {blob()}"


@pytest.mark.parametrize(
    ("address", "alias", "name"),
    [
        (Address("GW.Example"), "", "gw.example"),
        (Address("gw", 2222), "", "[gw]:2222"),
        (Address("2001:db8::7"), "", "2001:db8::7"),
        (Address("2001:db8::7", 2222), "", "[2001:db8::7]:2222"),
        (Address("gw", 2222), "Rack-7", "rack-7"),
    ],
)
def test_that_ux_18b_a_key_is_kept_under_the_name_that_ssh_uses(address, alias, name):
    assert known_name(address, alias) == name


@pytest.mark.parametrize(
    ("names", "name", "known"),
    [
        ("gw", "gw", True),
        ("GW,other", "gw", True),
        ("*.lab", "a.b.lab", True),
        ("host*,!host9", "host1", True),
        ("host*,!host9", "host9", False),
        ("!host9", "host1", False),
        ("n?", "n10", False),
        ("n[12]", "n1", False),
        ("[gw]:2222", "[gw]:2222", True),
        ("gw", "[gw]:2222", False),
        ("[gw]:*", "[gw]:2222", True),
        ("a**b*", "axxb", True),
        ("|1|broken", "gw", False),
        (",,", "", False),
    ],
)
def test_that_names_and_patterns_match_as_ssh_has_it(names, name, known):
    assert names_match(names, name) is known


def test_that_a_pattern_made_to_be_slow_is_not():
    assert not names_match("*a" * 500 + "b", "a" * 1000)


def test_that_ux_17_odd_lines_are_skipped_with_their_number_and_the_good_ones_used():
    content = "\n".join(
        [
            "# a comment", "", GOOD.replace(" ", "  "), "gw ssh-rsa !!!", "gw ssh-ed25519", f"gw ssh-rsa {blob()}",
            f"@cert-authority *.lab ssh-ed25519 {blob()}", f"@revoked * ssh-ed25519 {blob(fill=b'r')}", f"@odd gw x {blob()}",
            "gw 1024 35 1234567", f"\t{GOOD} caf",
        ]
    ).encode() + b"\xe9\r\n"  # fmt: skip
    good, bad = parse_lines(content)
    assert [(line.number, line.marker) for line in good] == [(3, ""), (7, "@cert-authority"), (8, "@revoked"), (11, "")]
    assert [line.number for line in bad] == [4, 5, 6, 9, 10]


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\r", "\x1f", "\xa0"])
def test_that_words_end_at_blanks_and_tabs_only_and_a_key_may_have_the_rest_of_a_line_end(sign):
    names, kind, key = GOOD.split()
    usable = {"front": f"{sign}{GOOD}", "name": f"{names}{sign}{kind} {key}", "type": f"{names} {kind}{sign}{key}", "both": f"{names} {kind} {sign}{key}{sign}"}
    found = {place: bool(parse_lines(line.encode("latin-1"), "gw")[0]) for place, line in usable.items()}
    assert found == {"front": False, "name": False, "type": False, "both": sign in "\x0b\x0c\r"}
    assert parse_lines(f"@cert-authority{sign}gw {kind} {key}".encode("latin-1"), "gw")[0] == ()


def test_that_ux_18_hashed_names_are_found_as_ssh_keygen_wrote_them(tmp_path):
    file = tmp_path / "known"
    file.write_text(f"{GOOD}\n[gw]:2222 ssh-ed25519 {blob(fill=b'p')}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", file], check=True, capture_output=True)
    assert all(line.startswith("|1|") for line in file.read_text().splitlines())
    assert [placed.place for placed in keys_for("gw", [str(file)]).listed] == [f"{file}:1"]
    assert [placed.place for placed in keys_for("[gw]:2222", [str(file)]).listed] == [f"{file}:2"]
    assert keys_for("[gw]:22", [str(file)]).listed == ()


@pytest.mark.parametrize("name", ["host1", "host9", "a.lab", "[gw]:2222", "gw", "lab"])
def test_that_ssh_keygen_finds_the_same_lines(tmp_path, name):
    file = tmp_path / "known"
    names = ["host*,!host9", "*.lab", "[gw]:2222", "gw,lab", "?ost1", "*"]
    file.write_text("".join(f"{word} ssh-ed25519 {blob(fill=bytes([65 + n]))}\n" for n, word in enumerate(names)))
    done = subprocess.run(["ssh-keygen", "-F", name, "-f", file], capture_output=True, text=True, check=False)
    found = [int(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("#")]
    assert [int(placed.place.rsplit(":", 1)[1]) for placed in keys_for(name, [str(file)]).listed] == found


def test_that_an_authority_of_a_host_counts_on_its_other_ports_and_a_key_of_it_does_not(tmp_path):
    (tmp_path / "known").write_text(
        f"gw ssh-ed25519 {blob()}\n@cert-authority gw ssh-ed25519 {blob(fill=b'c')}\n@revoked gw ssh-ed25519 {blob(fill=b'r')}\n"
        f"@revoked n8 ssh-ed25519 {blob()}\n@cert-authority *:22 ssh-ed25519 {blob()}\n"
    )
    paths = [str(tmp_path / "known")]
    found = {f"{host} {port} {alias}": known_of(Address(host, port), alias, paths) for host, port, alias in (("GW", 2222, ""), ("gw", 2222, "a"), ("n8", 7, ""))}
    assert {place: [[p.place[-1] for p in keys] for keys in (k.listed, k.authorities, k.revoked)] for place, k in found.items()} == {
        "GW 2222 ": [[], ["2"], ["3"]], "gw 2222 a": [[], [], []], "n8 7 ": [[], [], []],
    }  # fmt: skip


def test_that_a_file_that_is_not_there_says_nothing(tmp_path):
    assert keys_for("gw", [str(tmp_path / "no")]) == keys_for("gw", [])


@given(st.binary(max_size=400), st.binary(max_size=400))
def test_that_no_bytes_around_it_hide_a_good_line_and_none_raise(before, after):
    good, bad = parse_lines(before + b"\n" + GOOD.encode() + b"\n" + after)
    number = before.count(b"\n") + 2
    assert number in [line.number for line in good]
    assert not {line.number for line in good} & {line.number for line in bad}


@given(st.text(max_size=60), st.text(max_size=60))
def test_that_matching_any_names_with_any_name_ends_with_yes_or_no(names, name):
    assert names_match(names, name) in (True, False)


def test_that_a_name_finds_in_a_file_of_many_what_going_through_all_lines_finds():
    names = ["GW,other", "gw", "*.lab,!gw.lab", "|1|broken", "[gw]:2222", "gw?", "", "!x,gw", "other,GW"]
    content = "\n".join([*(f"{name} ssh-ed25519 {blob()}" for name in names), "gw", "@revoked gw", f"@revoked GW x {blob()}"]).encode()
    whole, _ = parse_lines(content)
    for name in ("gw", "other", "gw.lab", "a.lab", "[gw]:2222", "gw1", "nobody"):
        good, bad = parse_lines(content, name)
        assert good == tuple(line for line in whole if names_match(line.names, name))
        assert [line.number for line in bad] == ([7, 10, 11, 12] if name == "gw" else [7, 10, 11])
