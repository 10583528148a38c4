"""A secret is planted somewhere in what users paste, understood or not: no part of it is ever seen but in the Secret itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.address import HopName, parse_jump, parse_place, person
from gpulease_gui.remote.pasted_nodes import parse_list, parse_target
from gpulease_gui.remote.ssh_config import resolve_alias

HOST = "203.0.113.9"
PARTS = ("Zq7Kx", "Vw3Yj", "Hb9Tm")  # each is looked for alone: half a password is one, too
SIGNS = list(".,;:/\\|!?#%&$*+-_=~^<>()[]{}'\"`@") + list("，；：／｜！？＃＠（）【】、。＝") + ["", "--", "->", "://", "%40", "::"]

# A line or several; {pw} is the secret, whatever the rest makes of it.
TEMPLATES = (
    "root:{pw}@H", "root/{pw}@H", "root：{pw}＠H", "root／{pw}@H:22", "ssh://root:{pw}@H", "ssh://root/{pw}@H:22/", "SSH://root:{pw}@H", "root;{pw}@H", "root|{pw}@H",
    "root,{pw}@H", "root={pw}@H", "sftp://root:{pw}@H", "http://root:{pw}@H/", ":{pw}@H", "ssh://:{pw}@H",
    "H:{pw}", "H:22:{pw}", "H:22:root:{pw}", "root@H:{pw}", "root@H/{pw}", "[2001:db8::7]:{pw}", "root: {pw}", "H----22----root----{pw}",
    "root@H {pw}", "root@H:22 {pw}", "root@H 22 {pw}", "root@H / {pw}", "root@H:22/{pw}", "H root {pw}", "H:22 root {pw}", "H 22 {pw} root", "root@H ({pw})", "root@H # {pw}",
    "ssh root:{pw}@H", "ssh root/{pw}@H -p 22", "ssh -p 22 ssh://root:{pw}@H", "ssh -l root:{pw} H", "ssh -lroot/{pw} H", "ssh -o User=root:{pw} H", "ssh -oUser=root/{pw} H",
    "ssh -o 'User root:{pw}' H", "ssh '-lroot:{pw}' H", "ssh 'root:{pw}@H'", "-l root:{pw} H", "root:{pw}@H -p 22", "H -l root:{pw}",
    "ssh -J root:{pw}@gate root@H", "ssh -J a,root/{pw}@gate root@H", "ssh -J ssh://root:{pw}@gate root@H", "ssh -o ProxyJump=root:{pw}@gate root@H",
    "sshpass -p {pw} ssh root@H", "sshpass -p '{pw}' ssh -Z root@H", "sshpass -p{pw} ssh root@H reboot", "SSHPASS={pw} sshpass -e ssh root@H", "export SSHPASS={pw}; ssh root@H",
    "sshpass {pw} ssh root@H", "sshpass -p {pw} scp x root@H:", "sshpass -p {pw}",
    "ssh root@H {pw}", "ssh root@H -p 22 {pw} x", "ssh {pw} root@H", "ssh root@H -p {pw}", "ssh root@H -p{pw}", "ssh root@H -pw {pw}", "ssh root@H --password {pw}",
    "ssh root@H --password={pw}", "ssh --{pw} root@H", "ssh -P {pw} root@H", "ssh root@H -Z{pw}", "plink -ssh root@H -P 22 -pw {pw}", "mysql -h H -u root -p{pw}",
    "ssh root@H -o Password={pw}", "ssh root@H -o {pw}", "ssh root@H -o {pw}=yes", "ssh root@H -o SetEnv=PW={pw}", "ssh root@H -o RemoteCommand={pw}", "ssh root@H -o Port={pw}",
    "ssh root@H -o StrictHostKeyChecking={pw}", "ssh root@H -o Ciphers={pw}", "ssh root@H -o ConnectTimeout={pw}", "ssh root@H -o ProxyCommand={pw}", "ssh root@H -c {pw}",
    "ssh root@H -o PreferredAuthentications={pw}", "ssh root@H -o RequiredRSASize={pw}", "ssh root@H -o AddressFamily={pw}", "ssh root@H -L {pw}", "ssh root@H -F {pw}",
    "ssh root@H -o CanonicalizeHostname={pw}", "ssh root@H -m '{pw}'", "ssh root@H -o IdentitiesOnly={pw}", "ssh root@H '{pw}", "ssh root@H -i ~/k -o LocalForward={pw}",
    "主机：H 用户名/密码：root / {pw}", "主机：H 用户名/密码：root/{pw}", "主机：H 账号密码: root {pw}", "主机：H 账号密码：root，{pw}", "主机：H，账号/密码：root／{pw}", "主机：H 账号：root/{pw}",
    "主机：H 用户：root:{pw}", "主机：H 用户：root / {pw}", "主机：H 用户名（密码）：root（{pw}）", "主机：H 用户root 密码{pw}", "主机：H 密码{pw}", "主机：H 密码是{pw}", "主机：H 密码 -> {pw}",
    "主机：H 密码/用户名：{pw} / root", "主机：H 密码、用户：{pw}、root", "主机：root:{pw}@H", "主机：H:{pw}", "主机：H 端口：{pw}", "IP/端口：H/22 账号：root 密码：{pw}", "主机＝H；用户＝root；密码＝{pw}",
    "host: H user/pass: root/{pw}", "host: H login: root password: {pw}", "host: H login: root / {pw}", "host: H login: root:{pw}", "host: H username / password: root / {pw}",
    "host: H user, password: root, {pw}", "host: H user & pass: root {pw}", "host: H credentials: root {pw}", "host: H pw={pw}", "host: H pass {pw}", "host: H login root {pw}",
    "host: H secret: {pw}", "host: H port: 22 token={pw}", "host=H;user=root;pwd={pw}", "password for root is {pw} host: H", "Host: H\nUser: root\nPassword: {pw}", "密码\n{pw}",
    "主机\nH\n用户名/密码\nroot / {pw}", "host\tH\nuser\troot\npassword\t{pw}", "H\n密码：{pw}", "登录指令\nssh root@H\n账号密码\nroot {pw}", "root {pw}", "pw={pw}", "password={pw}",
    "ssh root@H\n{pw}", "root@H\n{pw}\n", "{pw}\nssh -p 22 root@H", "H\n{pw}", "主机：H\n{pw}", "ssh root@H\n\n{pw}\n", "H\x0b{pw}", "IP,user\nH,root\n{pw}",
    "H,22,root,{pw}", "H\t22\troot\t{pw}", "H;22;root;{pw};x", "n,H,22,root,{pw}", "H,root,{pw}", "H:22,root,{pw}", "H,22,root:{pw}", "H,{pw}", "H,22,{pw}", "n,H,22,{pw}", "n,H,{pw}", "n1,root:{pw}@H",
    "H | 22 | root | {pw}", "| H | 22 | root | {pw} |", "H / 22 / root / {pw}", "H - root - {pw}", "H => root => {pw}", "H  22  root  {pw}  x", '"n,H,22,{pw}"', "H，root，{pw}", "H｜22｜root｜{pw}",
    "IP\t端口\t账号密码\nH\t22\troot/{pw}", "IP,user,password\nH,root,{pw}", "IP\tport\tlogin\nH\t22\troot:{pw}", "IP\t备注\nH\t{pw}", "IP,x\nH,{pw}", "| IP | 密码 |\n|---|---|\n| H | {pw} |",
)  # fmt: skip


def words_in(what: object) -> Iterator[str]:
    """Each text of a value, but what a Secret holds."""
    yield repr(what)
    if isinstance(what, str):
        yield what
    elif isinstance(what, tuple | list):
        for part in what:
            yield from words_in(part)
    elif dataclasses.is_dataclass(what) and not isinstance(what, Secret | type):
        for part in dataclasses.fields(what):
            yield from words_in(getattr(what, part.name))


def words_of(error: UsageError) -> Iterator[str]:
    yield from (str(error), repr(error), *map(str, error.args), error.whole_text.zh, error.what, error.why, error.next_step)
    if error.__cause__ is not None or not error.__suppress_context__:
        yield from (repr(told) for told in (error.__cause__, error.__context__) if isinstance(told, UsageError))


def seen(words: Iterator[str]) -> list[str]:
    return [said for said in words if any(part.lower() in said.lower() for part in PARTS)]


secrets = st.tuples(st.permutations(PARTS), st.sampled_from(SIGNS), st.sampled_from(SIGNS)).map(lambda made: made[1].join(made[0][:2]) + made[2] + made[0][2])


@given(st.sampled_from(TEMPLATES), secrets)
@example("root:{pw}@H", "Zq7Kx,Vw3Yj＠Hb9Tm")
@settings(max_examples=600, deadline=None)
def test_that_no_part_of_a_planted_secret_is_seen_and_no_wrong_user_is_made_of_it(template: str, secret: str) -> None:
    text = template.replace("H", HOST, 1).replace("{pw}", secret) if not template.startswith("Host") else template.replace(" H\n", f" {HOST}\n").replace("{pw}", secret)
    for line in parse_list(text):
        assert seen(words_in(line)) == []
        if line.target is not None:
            assert line.target.address.user == "root"
            if line.target.password is not None:
                assert PARTS[0] in line.target.password.reveal() or PARTS[1] in line.target.password.reveal() or PARTS[2] in line.target.password.reveal()
    try:
        target = parse_target(text)
    except UsageError as error:
        assert seen(words_of(error)) == []
        return
    assert seen(words_in(target)) == [] and target.address.user == "root"


@pytest.mark.parametrize("words", ["root:{pw}", "root/{pw}", "root：{pw}", "root／{pw}"])
@pytest.mark.parametrize("way", [
    "{0}@H", "{0}@H:22", "ssh {0}@H", "ssh -l {0} H", "ssh -l{0} H", "ssh -o User={0} H", "ssh -o 'User {0}' H", "ssh ssh://{0}@H", "ssh://{0}@H:22/", "-p 22 {0}@H", "主机：{0}@H",
    "主机：H 用户：{0}", "H 22 {0}", "IP,user\nH,{0}", "n1,{0}@H,22",
])  # fmt: skip
def test_that_one_place_decides_wherever_a_user_is_given_with_a_password(words: str, way: str) -> None:
    (line,) = parse_list(way.format(words.replace("{pw}", "Zq＠7Kx")).replace("H", HOST))
    assert line.target is not None, line.error
    assert (str(line.target.address), line.target.password) == (f"root@{HOST}:22", Secret("Zq＠7Kx"))


def test_that_a_password_beside_a_jump_host_is_refused_wherever_a_jump_host_is_named() -> None:
    for jump in ("root:Zq7Kx@gate", "a,root/Zq7Kx@gate:22", "ssh://root:Zq7Kx@gate", "root：Zq7Kx＠gate"):
        for read in (lambda: parse_jump(jump), lambda: parse_target(f"ssh -J {jump} root@H"), lambda: parse_target(f"ssh -o ProxyJump={jump} root@H")):  # noqa: B023 -- called at once
            with pytest.raises(UsageError, match="a password stands beside a jump host") as caught:
                read()
            assert seen(words_of(caught.value)) == []
    assert parse_jump("root:@gate, ops＠b：22") == (HopName("gate", None, "root"), HopName("b", 22, "ops"))


@pytest.mark.parametrize("text", ["root@203.0.113.9:Zq@x", "sftp://root:Zq@x", "root;Zq@x", "ro ot:Zq@x", "203.0.113.9:Zq@x", "[2001:db8::7]:Zq@x", "@x"])
def test_that_what_is_no_user_is_refused_and_never_a_user(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_place(text)
    assert "Zq" not in str(caught.value) + caught.value.whole_text.zh


def test_that_users_of_domains_and_gateways_stay_what_they_are() -> None:
    for user in ("CORP\\li", "li@corp.com", "li@root@10.0.0.5", "s_01jx", "li#root#10.0.0.5", "a+b", "li%dom"):
        assert person(user) == (user, None) and parse_place(f"{user}@gw").address.user == user


@pytest.mark.parametrize(("text", "user", "word"), [
    ("用户名/密码：ops / a.b", "ops", "a.b"), ("账号密码: ops a.b", "ops", "a.b"), ("账号密码：ops，a.b", "ops", "a.b"), ("user/pass: ops/a/b", "ops", "a/b"), ("login: ops password: a.b", "ops", "a.b"),
    ("用户＝ops；密码＝a.b", "ops", "a.b"), ("账号（密码）：ops:a.b", "ops", "a.b"), ("用户：ops 密码是a.b", "ops", "a.b"), ("user -> ops pw -> a.b", "ops", "a.b"), ("用户：ops（密码：a.b）", "ops", "a.b"),
    ("user, password: ops, a.b", "ops", "a.b"),
])  # fmt: skip
def test_that_labels_of_user_and_password_in_one_are_read_right(text: str, user: str, word: str) -> None:
    for line in parse_list(f"主机：{HOST} {text}") + parse_list(f"主机：{HOST}\n{text}"):
        assert line.target is not None, line.error
        assert (line.target.address.user, line.target.password) == (user, Secret(word))


@pytest.mark.parametrize("text", ["密码/用户名：a.b / ops", "用户ops 密码：a.b", "用户：ops / a.b", "login ops password: a.b", "账号密码：ops", "账号密码：a / ops / b", "密码、用户：a.b、ops", "密码a.b"])
def test_that_labels_that_are_not_understood_are_refused_and_make_no_node(text: str) -> None:
    (line,) = parse_list(f"主机：{HOST} {text}")
    assert line.target is None and line.text == f"… {HOST} …"


@pytest.mark.parametrize("text", [f"{HOST},Zq7Kx", f"{HOST},22,Zq7Kx", f"n,{HOST},22,Zq7Kx", "root,Zq7Kx@H", "root,abc@H", f"root@{HOST},a,b", f"{HOST}:Zq,7Kx", "a b,c.d"])
def test_that_a_row_whose_cells_can_not_be_told_makes_no_node(text: str) -> None:
    (line,) = parse_list(text)
    assert line.target is None and "can't be told" in line.error


@pytest.mark.parametrize("word", ["Abc123", "hunter2", "Abc.123", "abc-def", "a.B.com"])
def test_that_a_word_alone_beside_a_node_is_no_host_and_is_not_shown(word: str) -> None:
    for text in (f"ssh root@{HOST}\n{word}", f"{word}\nroot@{HOST}:22", f"主机：{HOST}\n{word}\n"):
        *_, bare = sorted(parse_list(text), key=lambda line: line.target is None)
        assert bare.target is None and bare.text == "…" and word not in bare.error
        assert bare.error_text.zh.startswith("仅有一个词")


def test_that_names_alone_are_hosts_where_nothing_else_stands_and_full_names_are_anywhere() -> None:
    assert [line.text for line in parse_list("gpu01\ngpu02\n")] == ["root@gpu01:22", "root@gpu02:22"]
    assert [line.text for line in parse_list(f"root@{HOST}\nn7.example.com\n203.0.113.8")] == [f"root@{HOST}:22", "root@n7.example.com:22", "root@203.0.113.8:22"]
    (line,) = parse_list("gpu01\n密码：a.b")
    assert (line.text, line.target and line.target.password) == ("root@gpu01:22", Secret("a.b"))


def test_that_a_user_of_the_ssh_config_is_what_ssh_takes_and_one_that_is_typed_before_an_alias_is_not(tmp_path) -> None:
    (tmp_path / "config").write_text("Host n1\n HostName 203.0.113.9\n User team:h100\nHost n2\n ProxyJump root:Zq7Kx@gate\n")
    assert resolve_alias("n1", config_file=str(tmp_path / "config")).address.user == "team:h100"
    found = resolve_alias("ops/Zq7Kx@n1", config_file=str(tmp_path / "config"))
    assert (found.address.user, found.password, found.name) == ("ops", Secret("Zq7Kx"), "ops@n1")
    with pytest.raises(UsageError) as caught:
        resolve_alias("n2", config_file=str(tmp_path / "config"))
    assert seen(words_of(caught.value)) == []
