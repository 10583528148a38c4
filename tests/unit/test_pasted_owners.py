"""Many nodes in one pasted text: each comes out with its own port, user and password, or is refused; none gets another's, none is lost unsaid."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gpulease_gui.remote.pasted_nodes import ListLine, parse_list

SHORT = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


@dataclass(frozen=True)
class Node:
    host: str
    port: int
    user: str
    password: str

    def told(self) -> tuple[str, int, str, str]:
        return self.host, self.port, self.user, self.password


def told(line: ListLine) -> tuple[str, int, str, str]:
    assert line.target is not None
    address, password = line.target.address, line.target.password
    return address.host, address.port, address.user, password.reveal() if password else ""


@st.composite
def _nodes(draw) -> list[Node]:
    """Up to five, of which host, port, user and password say which they are."""
    made = []
    for number in range(1, draw(st.integers(1, 5)) + 1):
        host = draw(st.sampled_from(("10.0.0.{}", "n{}.example.com", "203.0.113.{}"))).format(number)
        password = draw(st.sampled_from(("", "pw.{}", "Pw{}!", "a{}@b", "x{}/y:z", "p,{}w"))).format(number) if draw(st.booleans()) else f"pw.{number}"
        made.append(Node(host, draw(st.sampled_from((22, 2200 + number))), draw(st.sampled_from(("root", f"ops{number}"))), password))
    return made


def _labels(node: Node, draw, parting: str, left_out: set[str], is_ssh_line: bool) -> str:
    """What the place of a line does not say, in any order, in one language: in a line of ssh only Chinese is read."""
    words = draw(st.sampled_from((("端口", "用户", "密码", "："), ("SSH端口", "账号", "登录密码", ":"), *([] if is_ssh_line else [("port", "user", "password", ": ")]))))
    said = [("port", f"{words[0]}{words[3]}{node.port}"), ("user", f"{words[1]}{words[3]}{node.user}")]
    said = [(name, text) for name, text in said if name not in left_out] + ([("password", f"{words[2]}{words[3]}{node.password}")] if node.password else [])
    return parting.join(text for _, text in draw(st.permutations(said)))


@st.composite
def _block(draw, node: Node, between: str, *, host_first: bool) -> str:
    """One node in a form that people paste."""
    place, left_out = draw(st.sampled_from((
        ("ssh -p {0.port} {0.user}@{0.host}", {"port", "user"}), ("ssh {0.user}@{0.host} -p {0.port}", {"port", "user"}), ("ssh {0.user}@{0.host} -p{0.port} -o Compression=no", {"port", "user"}),
        ("ssh -l {0.user} {0.host} -p {0.port}", {"port", "user"}), ("{0.user}@{0.host} -p {0.port}", {"port", "user"}), ("{0.user}@{0.host}:{0.port}", {"port", "user"}), ("{0.host}:{0.port}", {"port"}), ("{0.host}", set()),
        ("{0.user}@{0.host}", {"user"}), ("主机：{0.host}", set()), ("host: {0.host}", set()), ("公网IP: {0.user}@{0.host}", {"user"}), ("登录命令：ssh {0.user}@{0.host} -p {0.port}", {"port", "user"}), ("IP\n{0.host}", set()),
    )))  # fmt: skip
    place = place.format(node)
    is_command = "登录命令" in place
    lines = ("\n", "\n\n") if "\n\n" in between else ("\n",)
    parting = draw(st.sampled_from(lines if is_command or place.startswith("IP\n") else (" ", "  ", *lines)))
    labels = _labels(node, draw, "\n" if "\n" in parting else " ", left_out, place.startswith("ssh") and "\n" not in parting)
    if host_first:
        return f"{place}{parting}{labels}" if labels else place
    assume(labels and ("\n" in parting or place.startswith(("主机", "host"))))
    return f"{labels}{parting}{place}"


def _check(text: str, nodes: list[Node]) -> list[ListLine]:
    lines = list(parse_list(text))
    right = {node.host: node.told() for node in nodes}
    refused = [line for line in lines if line.target is None]
    for line in lines:
        if line.target is not None:
            assert told(line) == right[line.target.address.host]
    out = [line.target.address.host for line in lines if line.target is not None]
    assert len(out) == len(set(out))
    assert all(line.error and line.error_text.zh for line in refused)
    assert len(out) + len(refused) >= len(nodes)  # each that is missing says so
    return lines


@st.composite
def _texts(draw, *, host_first: bool) -> tuple[str, list[Node]]:
    nodes = draw(_nodes())
    between = draw(st.sampled_from(("\n", "\n\n", "\n\n\n")))
    blocks = [draw(_block(node, between, host_first=host_first)) for node in nodes]
    return between.join(blocks), nodes


@given(_texts(host_first=True))
@SHORT
def test_that_of_nodes_that_begin_with_their_host_each_has_what_is_its_own_and_none_is_missing(made) -> None:
    text, nodes = made
    lines = _check(text, nodes)
    assert [told(line) for line in lines if line.target is not None] == [node.told() for node in nodes], (text, [line.error for line in lines])
    assert len(lines) == len(nodes)


@given(_texts(host_first=False))
@SHORT
def test_that_of_nodes_that_end_with_their_host_none_gets_what_is_another_s(made) -> None:
    _check(*made)


SIGNS = {"\t": ("\t",), ",": (",", ", "), "；": ("；",), "|": (" | ", "|")}


@given(_nodes(), st.sampled_from(sorted(SIGNS)), st.permutations(["主机", "端口", "用户名", "密码"]), st.booleans(), st.data())
@SHORT
def test_that_each_row_of_a_table_is_one_node_with_its_own_cells_or_refused(nodes, sign, columns, has_gaps, data) -> None:
    parting = data.draw(st.sampled_from(SIGNS[sign]))
    rows = []
    for node in nodes:
        said = {"主机": node.host, "端口": str(node.port), "用户名": "" if has_gaps and node.user == "root" else node.user, "密码": node.password}
        rows.append(parting.join(said[column] for column in columns))
    lines = _check("\n".join([parting.join(columns), *rows]), nodes)
    if sign == "\t":
        assert [told(line) for line in lines if line.target is not None] == [node.told() for node in nodes], [line.error for line in lines]


@given(_nodes(), st.sampled_from(("\t", ",", " ")), st.booleans())
@SHORT
def test_that_rows_without_a_header_are_read_or_refused(nodes, sign, is_named) -> None:
    named = is_named and sign != " "
    rows = [sign.join([*([f"n{at}"] if named else []), node.host, str(node.port), node.user, *([node.password] if node.password else [])]) for at, node in enumerate(nodes)]
    _check("\n".join(rows), nodes)


# -- what hosts above, labels first, blank lines and other words make of it ----------------------------------------------

A, B, C = "10.0.0.1", "10.0.0.2", "10.0.0.3"


def read(text: str) -> list[tuple[str, str] | None]:
    return [(line.target.address.host, told(line)[3]) if line.target is not None else None for line in parse_list(text)]


@pytest.mark.parametrize(("text", "expected"), [
    (f"密码：p.1\n主机：{A}\n密码：p.2\n主机：{B}", [(A, "p.1"), (B, "p.2")]),
    (f"端口：22\n主机：{A}\n密码：p.1\n端口：23\n主机：{B}\n密码：p.2", [(A, "p.1"), (B, "p.2")]),
    (f"密码：p.1\n主机：{A}", [(A, "p.1")]),
    (f"ssh root@{A}\n密码：p.1\nssh root@{B}", [(A, "p.1"), (B, "")]),
    (f"您好，信息如下\n名称：a\n主机：{A}\n密码：p.1\n名称：b\n主机：{B}", [None, (A, "p.1"), (B, "")]),
    (f"主机：{A} 密码：p.1 主机：{B} 密码：p.2", [(A, "p.1"), (B, "p.2")]),
    (f"名称：a 主机：{A} 密码：p.1 名称：b 主机：{B} 密码：p.2", [(A, "p.1"), (B, "p.2")]),
    (f"root@{A}\nn2.example.com 密码：p.2", [(A, ""), ("n2.example.com", "p.2")]),
    (f"root@{A}\nn2:2202 密码：p.2", [(A, ""), ("n2", "p.2")]),
    (f"密码\t主机\t用户\np.1\t{A}\troot\n\t{B}\troot", [(A, "p.1"), (B, "")]),
    (f"密码 | 主机\np.1 | {A}\n | {B}", [(A, "p.1"), (B, "")]),
    (f"| 密码 | 主机 |\n|---|---|\n| p.1 | {A} |\n|  | {B} |", [(A, "p.1"), (B, "")]),
])  # fmt: skip
def test_that_labels_are_about_the_node_that_they_stand_with(text: str, expected: list[tuple[str, str] | None]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    (f"主机：{A}\n密码：p.1\n密码：p.2\n主机：{B}", [None, None]),  # the second may be either's
    (f"主机：{A}\n密码：p.1\n\n密码：p.2\n主机：{B}", [None, None]),
    (f"密码：p.1\nroot@{A}:22\n密码：p.2\nroot@{B}:22", [None, None, None]),
    (f"密码：p.1\n主机：{A}\n主机：{B}\n密码：p.2\n主机：{C}", [None, None, None]),
    (f"密码：p.1\n主机：{A}\n用户：u2\n密码：p.2\n主机：{B}", [None, None]),
    (f"{A} 22 root\n密码：p.1\n主机：{B}", [None, None]),
    (f"主机：{A}\n第二台机器\n密码：p.2\n主机：{B}", [(A, ""), None, None]),
    (f"主机：{A}\n# root@{C}\n密码：p.3\n主机：{B}", [None, (B, "")]),
    (f"# root@{C}\n密码：p.3\n主机：{B}", [None]),
    (f"用户：u1 主机：{A} 密码：p.2 主机：{B}", [None]),
    (f"root@{A} 密码：p.1 root@{B} 密码：p.2\n主机：{C} 密码：p.3", [None, (C, "p.3")]),
    (f"root@{A}\ngpu01 密码：p.1", [(A, ""), None]),
])  # fmt: skip
def test_that_a_node_whose_labels_may_be_another_s_is_refused(text: str, expected: list[tuple[str, str] | None]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize("above", [f"ssh -Z root@{A}", "x" * 3000, f"root@{A}:99999", "gpu_a! 密码：p.1", "gpu-1 密码：p.1"])
def test_that_what_stands_below_a_line_that_is_not_understood_goes_to_no_other_node(above: str) -> None:
    for text in (f"{above}\n密码：p.1\n主机：{B}", f"root@{C}\n{above}\n密码：p.1\n主机：{B}"):
        found = read(text)
        assert found[-1] is None and {password for _, password in filter(None, found)} <= {""}


@pytest.mark.parametrize("below", [f"ssh root@{B}", f"root@{B}", f"{B}", f"主机：{B}", f"ops@{B}:22", f"root@{B} 密码：p.2"])
def test_that_a_password_that_was_left_out_does_not_swallow_the_next_node(below: str) -> None:
    found = read(f"主机：{A}\n密码：\n{below}\n密码：p.3")
    assert found[0] == (A, "") and set(found[1:]) == {None}
