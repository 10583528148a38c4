from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address
from gpulease_gui.remote.address import HopName, Target, parse_jump
from gpulease_gui.remote.pasted_nodes import parse_list, parse_target


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("ubuntu@203.0.113.9:2200", Target(Address("203.0.113.9", 2200, "ubuntu"))),
        ("node-07.example", Target(Address("node-07.example", 22, "root"))),
        ("[2001:db8::7]:34446", Target(Address("2001:db8::7", 34446, "root"))),
        ("admin@2001:db8::7", Target(Address("2001:db8::7", 22, "admin"))),
        ("ssh -p 34446 root@203.0.113.9", Target(Address("203.0.113.9", 34446, "root"))),
        ("$ ssh root@203.0.113.9 -p34446 -i ~/.ssh/rent", Target(Address("203.0.113.9", 34446), "", "~/.ssh/rent")),
        ("ssh -J ops@gate:2222,b root@10.0.0.5", Target(Address("10.0.0.5"), jump="ops@gate:2222,b")),
        ("ssh -J none root@10.0.0.5", Target(Address("10.0.0.5"))),
        ("ssh -l ops -i 'my key' gw", Target(Address("gw", 22, "ops"), "", "my key")),
        ("ssh://ops@gw:2222/", Target(Address("gw", 2222, "ops"))),
        ("root＠203.0.113.9：34446", Target(Address("203.0.113.9", 34446))),
    ],
)
def test_that_what_suppliers_paste_is_understood(text, target):
    assert parse_target(text) == target


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ssh -J gate,-oX root@10.0.0.5", "host name"),
        ("ssh -J a,b,c,d,e,f,g,h,i root@10.0.0.5", "9 jump hosts"),
        ("ssh -oProxyCommand=evil root@10.0.0.5", "-o proxycommand"),
        ("ssh -oNonsense=1 root@10.0.0.5", "it is no keyword"),
        ("ssh -oInclude=/etc/x root@10.0.0.5", "a config file only"),
        ("ssh -Z root@10.0.0.5", "-Z"),
        ("ssh --evil root@10.0.0.5", "two hyphens"),
        ("ssh root@10.0.0.5 rm -rf", "2 more behind it"),
        ("ssh root@10.0.0.5 reboot", "1 more behind it"),
        ("ssh -p 22", "no host"),
        ("ssh -p", "-p"),
        ("ssh -i -oX gw", "-i"),
        ("ssh 'root@gw", "quote"),
        ("10.0.0.5:70000", "not a port"),
        ("10.0.0.5:", "no port"),
        ("10.0.0.256", "10.0.0.256"),
        ("2001:db8::7:34446:9:9:9:9", "[address]:port"),
        ("-oProxyCommand=evil", "host name"),
        ("root@-oProxyCommand=evil", "host name"),
        ("-l@gw", "user name"),
        ("gw\nreboot", "not one node"),
        ("$(reboot)", "host name"),
    ],
)
def test_that_what_is_not_taken_over_is_refused_by_name(text, names):
    with pytest.raises(UsageError) as caught:
        parse_target(text)
    assert names in str(caught.value)


@given(st.text(max_size=40))
def test_that_no_text_becomes_a_host_or_user_that_ssh_takes_for_an_option(text):
    for line in (text, f"ssh {text}", f"{text}@gw", f"root@{text}"):
        try:
            address = parse_target(line).address
        except UsageError:
            continue
        for word in (address.host, address.user):
            assert word and not word.startswith("-") and not any(c.isspace() for c in word)
        assert 1 <= address.port <= 65535


def test_that_a_list_of_ssh_lines_keeps_the_good_ones_and_tells_the_bad_ones():
    lines = parse_list("# nodes\nssh -p 1001 root@203.0.113.1\n\nssh -p 1002 root@203.0.113.1\nssh -Z root@203.0.113.2\n")
    assert [(line.number, line.target and line.target.address.port, bool(line.error)) for line in lines] == [
        (2, 1001, False), (4, 1002, False), (5, None, True),
    ]  # fmt: skip
    assert "-Z" in lines[2].error


def test_that_a_spreadsheet_gives_nodes_whatever_its_order_and_language():
    text = "\ufeff主机,端口,名称\n203.0.113.1,34446,node-01\n203.0.113.2,,node-02\n"
    assert [line.target for line in parse_list(text)] == [
        Target(Address("203.0.113.1", 34446), "node-01"), Target(Address("203.0.113.2", 22), "node-02"),
    ]  # fmt: skip


def test_that_rows_without_a_header_are_name_host_port_user_key():
    (line,) = parse_list("node-01\t203.0.113.1\t34446\tops\t~/.ssh/rent")
    assert line.target == Target(Address("203.0.113.1", 34446, "ops"), "node-01", "~/.ssh/rent")


def test_that_the_same_place_twice_is_an_error_of_the_second_line():
    first, second = parse_list("203.0.113.1:22\nops@203.0.113.1\n")
    assert first.target is not None
    assert second.error == "the same host and port as line 1"


def test_that_a_chain_of_jump_hosts_keeps_its_order():
    assert parse_jump("ops@gate:2222, [2001:db8::7]:22,ssh://b/") == (
        HopName("gate", 2222, "ops"), HopName("2001:db8::7", 22), HopName("b"),
    )  # fmt: skip
    assert parse_jump("none") == parse_jump("") == ()


def test_that_one_address_behind_two_jump_hosts_is_two_machines():
    lines = parse_list("ssh -J a root@10.0.0.5\nssh -J b root@10.0.0.5\nssh -J a root@10.0.0.5\n")
    assert [bool(line.target) for line in lines] == [True, True, False]


def test_that_the_comma_of_two_jump_hosts_parts_no_cells():
    (line,) = parse_list("$ ssh -J ops@gate:2222,b root@10.0.0.5")
    assert line.target == Target(Address("10.0.0.5"), jump="ops@gate:2222,b")
