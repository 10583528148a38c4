"""What users paste: no text raises, no host is invented, no password is seen; and an ssh command means what ssh makes of it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.pasted_nodes import parse_list, parse_target
from gpulease_gui.remote.ssh_options import parse_options

AT = Address("203.0.113.9", 34446, "root")
WORD = "Pa,ss:9＠w"  # what no normalising, no comma and no colon may change


def said(target: Target) -> list[str]:
    assert all(note.zh != note.en for note in target.notes)
    return [note.en for note in target.notes]


# -- ssh commands -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "notes"), [
    ("SSH root@203.0.113.9 -P 34446", ["-P 34446 is taken as the port, which is -p"]),
    ("C:\\Windows\\System32\\OpenSSH\\ssh.exe -p 34446 root@203.0.113.9", []),
    ("li@box:~$ ssh root@203.0.113.9 -p34446 -4", []),
    ("SSH登录：ssh –p 34446 root@203.0.113.9", []),
    ("ssh\u3000-p 34446\u00a0root@203.0.113.9", []),
    ("ssh -vvNTp 34446 root@203.0.113.9", [f"-{letter} is not taken over: it changes nothing here" for letter in "vN"] + ["-T is not taken over: it changes nothing here"]),
    ("ssh -CqAXft -p 34446 root@203.0.113.9", [
        "-C is not taken over: nothing is compressed", "-q is not taken over: it changes nothing here", "-A is not taken over: the agent is never forwarded",
        "-X is not taken over: X11 is never forwarded", "-f is not taken over: only commands of this program run", "-t is not taken over: no terminal is asked for",
    ]),
    ("ssh -p 34446 root@203.0.113.9 -L 8080:localhost:8080 -D 1080 -R 1:a:1", [f"-{letter} is not taken over: no forwards are opened" for letter in "LDR"]),
    ("ssh -F ./cfg -p 34446 root@203.0.113.9", ["-F is not taken over: another config file is not read from a pasted line"]),
    ("ssh -o StrictHostKeyChecking=no -o ServerAliveInterval=60 -p 34446 root@203.0.113.9",
     ["StrictHostKeyChecking no is not honoured: no host key is accepted without you"]),
    ("root@203.0.113.9 -p 34446", []),
    ("-p 34446 root@203.0.113.9", []),
    ("203.0.113.9 34446 root", []),
    ("SSH://root@203.0.113.9:34446/", []),
])  # fmt: skip
def test_that_what_has_no_meaning_is_left_with_a_note(text: str, notes: list[str]) -> None:
    target = parse_target(text)
    assert (target.address, said(target), target.password) == (AT, notes, None)


def test_that_options_of_a_pasted_line_become_those_of_the_node() -> None:
    target = parse_target(
        "ssh -6 -b ::1 -o 'Port 34446' -oUser=root -o HostName=203.0.113.9 -o IdentitiesOnly=yes -o IdentityFile=~/k2 -i '~/k 1' -o UserKnownHostsFile=/dev/null"
        " -o PubkeyAuthentication=no -o PreferredAuthentications=password,publickey -o HostKeyAlias=RACK -J a,b gpu-7"
    )
    assert (target.address, target.name, target.identity_file, target.jump) == (AT, "gpu-7", "~/k2\n~/k 1", "a,b")
    assert (target.known_hosts, target.host_key_alias, said(target)) == (("/dev/null",), "RACK", [])
    assert target.ssh_options.split("\n") == [
        "AddressFamily inet6", "BindAddress ::1", "IdentitiesOnly yes", "PubkeyAuthentication no", "PreferredAuthentications password,publickey",
    ]  # fmt: skip
    assert parse_options(target.ssh_options).no_key


def test_that_a_path_of_windows_keeps_its_backslashes() -> None:
    for words in (r"-i C:\Users\li\.ssh\id_rsa", r'-i "C:\Users\li\.ssh\id_rsa"', r"-i 'C:\Users\li\.ssh\id_rsa'"):
        assert parse_target(f"ssh {words} root@gw").identity_file == r"C:\Users\li\.ssh\id_rsa"
    assert parse_target(r"ssh -i my\ key root@gw").identity_file == "my key"


_WORDS = st.lists(st.sampled_from((
    "-p 22", "-p2200", "-l ops", "-lme", "-i k1", "-4", "-v", "-vp 7", "-oPort=99", "-o Port=98", "-o User=opt", "-oHostName=h.example", "-J a@b:2,c", "-J none",
    "-N", "-o IdentityFile=k2", "-oProxyJump=z", "-C", "-oHostKeyAlias=x", "-oCompression=yes", "-o IdentitiesOnly=yes", "-T",
)), max_size=6)  # fmt: skip


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no ssh client to compare with")
@given(_WORDS, st.sampled_from(("gw", "u@gw", "ssh://u@gw:2222", "ssh://gw", "u@203.0.113.9")), _WORDS)
@example(["-l ops", "-oPort=99"], "ssh://u@gw:2222", ["-p 22", "-l x"])
@settings(max_examples=60, deadline=None, derandomize=True)
def test_that_a_pasted_command_means_what_ssh_makes_of_it(before: list[str], place: str, after: list[str]) -> None:
    words = shlex.split(" ".join(["ssh", *before, place, *after]))
    done = subprocess.run([words[0], "-F", "none", "-G", *words[1:]], capture_output=True, text=True, check=False)
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    theirs = {key: value for key, _, value in reversed(lines)}
    try:
        ours = parse_target(" ".join(["ssh", *before, place, *after]))
    except UsageError:
        assert done.returncode != 0
        return
    assert done.returncode == 0
    assert (ours.address.host, str(ours.address.port)) == (theirs["hostname"], theirs["port"])
    if any("-l" in word or "User" in word or "u@" in word for word in words):  # else ssh takes this account's name, we root's
        assert ours.address.user == theirs["user"]
    named = [value for key, _, value in lines if key == "identityfile" and not value.startswith("~")]
    assert [name for name in ours.identity_file.split("\n") if name not in ("", "k1")] == named  # ssh leaves out a file of -i that is not there
    assert (ours.jump, ours.host_key_alias) == (theirs.get("proxyjump", ""), theirs.get("hostkeyalias", ""))
    assert parse_options(ours.ssh_options).only_named == (theirs["identitiesonly"] == "yes")


# -- passwords ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [
    f"sshpass -p '{WORD}' ssh -p 34446 root@203.0.113.9",
    f"sshpass -p{WORD} ssh root@203.0.113.9 -p 34446",
    f"SSHPASS={WORD} sshpass -e ssh root@203.0.113.9 -p 34446",
    f"ssh -p 34446 root@203.0.113.9 密码：{WORD}",
    f"root@203.0.113.9:34446  密码 {WORD}",
    f"主机: 203.0.113.9 端口: 34446 用户: root 密码: {WORD}",
    f"主机：203.0.113.9，端口：34446，用户：root，密码：{WORD}",
    f"【公网IP】203.0.113.9；【SSH端口】34446；【登录密码】{WORD}；【显卡】H100".replace("】", "】："),
    f"主机地址：203.0.113.9\n端口号：34446\n账号：root\n初始密码：{WORD}\n",
    f"host: 203.0.113.9\nport: 34446\nusername: root\npassword: {WORD}",
    f"登录指令\nssh -p 34446 root@203.0.113.9\n密码\n{WORD}\n",
    f"登录指令：ssh -p 34446 root@203.0.113.9\n\n密码： {WORD}  （请及时修改）",
    f"公网IP：203.0.113.9\n内网IP：10.0.0.9\n端口：34446\n密码：{WORD}",
    f"203.0.113.9\t34446\troot\t{WORD}",
    f"203.0.113.9 34446 root {WORD}",
    f"主机\t端口\t用户名\t密码\t显卡型号\n203.0.113.9\t34446\troot\t{WORD}\tH100",
    f"序号 IP地址 SSH端口 账号 密码\n1 203.0.113.9 34446 root {WORD}",
    f"名称\t登录指令\t密码\nn1\tssh -p 34446 root@203.0.113.9\t{WORD}",
])  # fmt: skip
def test_that_a_password_in_any_form_is_a_secret_letter_by_letter_and_never_text(text: str) -> None:
    (line,) = parse_list(text)
    assert line.target is not None, line.error
    assert (line.target.address, line.target.password) == (AT, Secret(WORD))
    assert WORD not in repr(line) and unicodedata.normalize("NFKC", WORD) not in repr(line)
    assert line.target.identity_file == ""
    if "\t" not in text and "IP地址" not in text:
        assert parse_target(text) == line.target


@pytest.mark.parametrize(("parse", "word"), [(parse_target, WORD), (lambda text: parse_list(text)[0].target, "Zq7:pw@X")])
def test_that_what_stands_after_the_user_and_a_colon_is_a_password_and_no_part_of_the_name(parse, word) -> None:
    target = parse(f"root:{word}@203.0.113.9:34446")
    assert (target.address, target.password) == (AT, Secret(word))
    assert word not in repr(target) and "Zq7" not in parse_list("root:Zq7:pw@X@203.0.113.9:99999")[0].text


def test_that_a_password_in_an_address_is_none_of_its_user() -> None:
    target = parse_target("ssh://root:p%40ss@203.0.113.9:34446")
    assert (target.address, target.password) == (AT, Secret("p@ss"))


@pytest.mark.parametrize("text", [
    f"sshpass -p {WORD} ssh -Z root@203.0.113.9", f"sshpass -p {WORD} ssh 'root@203.0.113.9", f"主机: 203.0.113.999 密码: {WORD}", f"密码: {WORD}",
    f"密码\n{WORD}", f"IP\t端口\t密码\n203.0.113.9\t99999\t{WORD}", f"203.0.113.9\t99999\troot\t{WORD}", f"ssh://root:{WORD}@bad host",
])  # fmt: skip
def test_that_a_line_with_an_error_does_not_show_its_password(text: str) -> None:
    (line,) = parse_list(text)
    assert line.target is None and line.error
    assert WORD not in repr(line) and unicodedata.normalize("NFKC", WORD) not in repr(line)


def test_that_what_follows_is_about_the_node_before_until_another_begins() -> None:
    lines = parse_list("节点：n1\n主机：203.0.113.1\n密码：one\n\n节点：n2\n主机：203.0.113.2\n密码：two\nssh root@203.0.113.3\n密码：three\nroot@203.0.113.4\n")
    assert [(line.number, line.target.name, line.target.address.host[-1], line.target.password) for line in lines if line.target] == [
        (1, "n1", "1", Secret("one")), (5, "n2", "2", Secret("two")), (8, "", "3", Secret("three")), (10, "", "4", None),
    ]  # fmt: skip


@pytest.mark.parametrize("form", [
    "root@{0} -p {1} 密码：{2}", "root@{0}:{1} password: {2}", "ssh -p {1} root@{0} 密码：{2}", "ssh root@{0} -p {1} 密码：{2}", "{0}:{1} 密码：{2}", "{0} 密码：{2} 端口：{1}",
    "主机：{0} 端口：{1} 密码：{2}", "密码：{2} 主机：{0} 端口：{1}", "ssh root@{0}  端口：{1}\n密码：{2}", "root@{0}:{1}\n密码：{2}",
])  # fmt: skip
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_that_a_line_that_names_a_host_opens_a_node_of_its_own_with_what_stands_beside_it(form: str, between: str) -> None:
    nodes = [("10.0.0.1", 2201, "of.1"), ("10.0.0.2", 2202, "of.2"), ("10.0.0.3", 2203, "of.3")]
    lines = parse_list(between.join(form.format(*node) for node in nodes))
    assert [(line.target.address.host, line.target.address.port, line.target.password) for line in lines if line.target] == [
        (host, port, Secret(word)) for host, port, word in nodes
    ]  # fmt: skip
    assert len(lines) == 3


@pytest.mark.parametrize("first", ["ssh root@10.0.0.2 -p 22", "ssh root:of.1@10.0.0.2 -p 22", "root@10.0.0.2", "主机：10.0.0.2"])
@pytest.mark.parametrize("second", ["root@10.0.0.3 -p 2222 密码：of.2", "root@10.0.0.3 端口：2222", "10.0.0.3:2222 user: root", "ssh root@10.0.0.3  密码：of.2"])
def test_that_no_node_is_lost_before_a_line_of_a_host_and_labels(first: str, second: str) -> None:
    lines = parse_list(f"{first}\n{second}")
    assert [line.target.address.host for line in lines if line.target] == ["10.0.0.2", "10.0.0.3"]
    assert [line.target.password for line in lines if line.target] == [Secret("of.1") if "of.1" in first else None, Secret("of.2") if "of.2" in second else None]


def test_that_columns_that_are_not_known_are_left_with_a_note_and_a_header_may_come_in_any_order() -> None:
    (line,) = parse_list("region,Port,IP,rack unit\nsh,34446,203.0.113.9,7\n")
    assert line.target is not None and line.target.address == AT
    assert said(line.target) == ["not taken over: region, column 4"]


def test_that_hosts_with_the_name_of_a_label_are_hosts_and_a_label_of_none_is_not() -> None:
    assert parse_target("node:22").address == Address("node", 22)
    for text in ("port:22", "password:123456", "user:1000"):
        with pytest.raises(UsageError):
            parse_target(text)


# -- any text -----------------------------------------------------------------------------------------------------------

_PIECES = st.sampled_from((
    "ssh ", "SSH ", "sshpass -p ", "-p ", "-o", "-J a,b ", "主机", "端口：", "密码：", "密码", "用户: ", "host: ", "password: ", "IP\t", "\n", "\t", ",", "，", " ", "root@",
    "203.0.113.9", "[2001:db8::7]", ":22", "22", "'", '"', "\\", "#", "ssh://", "=", "：", "\u2028", "\ufeff",
))  # fmt: skip


@given(st.one_of(st.text(max_size=60), st.lists(st.one_of(_PIECES, st.text(max_size=6)), max_size=12).map("".join)))
@example("密码\n密码")
@example("IP\t密码\n\t")
@settings(max_examples=400, deadline=None)
def test_that_any_text_is_read_or_refused_and_no_host_is_invented(text: str) -> None:
    plain = unicodedata.normalize("NFKC", text).replace("[", "").replace("'", "").replace('"', "").replace("\\", "")
    for line in parse_list(text):
        assert (line.target is None) == bool(line.error)
        if line.target is not None:
            assert line.target.address.host in plain and not line.target.address.host.startswith("-")
    try:
        assert parse_target(text).address.host in plain
    except UsageError as error:
        assert error.what_text.zh


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="'\"\\#"), min_size=6, max_size=20).filter(lambda word: not word.isalnum()))
@settings(max_examples=200, deadline=None)
def test_that_no_password_is_seen_again(word: str) -> None:
    for text in (f"sshpass -p '{word}' ssh root@203.0.113.9", f"主机：203.0.113.9\n密码：{word}", f"主机\t密码\n203.0.113.9\t{word}", f"密码\n{word}"):
        for line in parse_list(text):
            assert word not in repr(line)
            if line.target is not None:
                assert line.target.password == Secret(word)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", [
    "密码：" * 600, "主机" * 900, "host: " * 300, "$" * 1900 + "ssh x", "sshpass -p x " * 140 + "ssh", "(" * 1000 + "密码", ":" * 1999, "ssh登录" * 400, "x" * 1_000_000, " " * 100_000 + "x y", "主机 " * 500_000,
    "\n".join(f"主机：10.0.{n // 250}.{n % 250}\n密码：w{n}" for n in range(2000)),
], ids=lambda text: text[:6])  # fmt: skip
def test_that_no_text_takes_long_or_grows(text: str) -> None:
    lines = parse_list(text)
    assert len(lines) <= text.count("\n") + 1 and sum(len(line.text) for line in lines) <= 3 * len(text)
    with pytest.raises(UsageError):
        parse_target(text)
