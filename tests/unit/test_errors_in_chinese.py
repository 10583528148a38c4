"""Does the Chinese window say in Chinese what a form or a file refuses?"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.catalog.fields import validate_field
from gpulease_gui.catalog.terms import validate_term
from gpulease_gui.checks.watch_rules import HOT
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.train_pattern import own_form
from gpulease_gui.services.commerce_edit import save_supplier
from gpulease_gui.services.exchange import read_bundle
from gpulease_gui.services.live_export import put_into_report
from gpulease_gui.services.notices import parse_time
from gpulease_gui.services.thresholds import parse_amount
from gpulease_gui.services.typed_field import _complaint
from gpulease_gui.services.workload_text import read_sessions
from gpulease_gui.store.exchange.bundle_schema import parse_bundle
from gpulease_gui.store.exchange.source import read_file
from gpulease_gui.store.workspace import Workspace


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def zipped(path: Path, name: str) -> Path:
    with zipfile.ZipFile(path, "w") as package:
        package.writestr(name, "x")
    return path


@pytest.mark.parametrize(
    ("words", "act"),
    [
        ("供应商需要名称。请填写报价单上的名称", lambda folder, db: save_supplier(db, Supplier("s1", " "))),
        ("该节点尚未验收。报告写的是一次验收。请先验收该节点", lambda folder, db: put_into_report(db, "n1", 0.0, 1.0)),
        ("'x' 不是 watch hot 的值。请填写以 °C 为单位的数字", lambda folder, db: parse_amount(HOT, "x")),
        ("'25:99' 不是时刻。请填写时和分，如 22:30", lambda folder, db: parse_time("25:99")),
        ("'1,5' 不是金额。请填写数字与小数点，如 16.20", lambda folder, db: Money.parse("1,5", "CNY")),
        ("这是 PDF，不是表格。请向供应商索取电子表格，或把 PDF 附到报价", lambda folder, db: read_file(written(folder / "a.csv", b"%PDF-1.4"))),
        ("这是 ZIP 文件，不是工作簿。请解压后导入其中的表格", lambda folder, db: read_file(zipped(folder / "a.xlsx", "a.txt"))),
        ("这是 Numbers 表格。请在该软件中另存为 XLSX 或 CSV，再导入", lambda folder, db: read_file(zipped(folder / "b.xlsx", "Index/Document.iwa"))),
        ("无法读取 gone.json。没有这个文件或文件夹。请检查该文件及其权限", lambda folder, db: read_bundle(folder / "gone.json", load_catalogue())),
    ],
)  # fmt: skip
def test_that_what_is_refused_is_said_in_chinese(tmp_path, words, act):
    workspace = Workspace.open(tmp_path / "w.db")
    try:
        with pytest.raises(UserFacing) as trouble:
            workspace.submit(lambda db: act(tmp_path, db)).result(30)
    finally:
        workspace.close()
    assert trouble.value.whole_text.zh == words


def refused(act):
    with pytest.raises(UserFacing) as trouble:
        act()
    return trouble.value.whole_text.zh


def test_that_a_pattern_a_term_and_a_field_that_can_not_be_are_refused_in_chinese():
    catalogue = load_catalogue()
    assert refused(lambda: own_form("loss (a+)+")) == "模式重复的组内又有重复。请只重复单个字符，如 [\\d.]+"
    assert refused(lambda: validate_term("gpu.count", "8 卡", catalogue)) == "gpu.count：'8 卡' 带有单位。固定单位为 GPUs。请写 gpu.count = 8，单位为 GPUs"
    assert refused(lambda: validate_field("billing.stopped_rate", "2", catalogue.fields)) == "billing.stopped_rate：2 超过了 100 %。6 % 请写作 0.06"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{}", "不是本程序导出的数据包"), (b'{"format":"gpulease-exchange","version":2,"suppliers":{}}', "suppliers 不是列表"),
        (b'{"format":"gpulease-exchange","version":2,"suppliers":[7]}', "suppliers[0] 不是记录"),
        (b'{"format":"gpulease-exchange","version":2,"contents":{"abc":"!"}}', "内容 abc 已损坏"),
    ],
)  # fmt: skip
def test_that_a_bundle_that_is_none_says_why_in_chinese(data, why):
    assert refused(lambda: parse_bundle(data)) == f"这不是交换数据包。{why}。请索取导出为交换数据包的文件"


def test_that_a_list_that_was_typed_is_refused_in_both_languages_without_the_key():
    with pytest.raises(UsageError) as trouble:
        validate_field("billing.discounts", [{"value": "2"}], load_catalogue().fields)
    assert _complaint(trouble.value, "billing.discounts") == Text("2 is more than the whole. Write 0.06 for 6 %", "2 超过了 100 %。6 % 请写作 0.06")


def test_that_a_line_of_sessions_says_in_chinese_how_it_is_written():
    assert refused(lambda: read_sessions("20 apples")) == "第 1 行：无法识别 '20 apples'，例如 20 x 6 h。请写成 20 x 6 h，或 2026-03-02T10:50+08:00 20 min"


def test_that_each_english_sentence_of_an_error_begins_with_a_capital_and_a_name_stays_as_it_is():
    gone = UserFacing(Text("the workspace is damaged", "工作区已损坏"), Text("it does not say of which kind it is", "没有注明种类"), Text("restore the newest backup", "请恢复备份"))
    assert gone.headline_text.en == "The workspace is damaged"
    assert gone.rest_text == Text("It does not say of which kind it is. Restore the newest backup", "没有注明种类。请恢复备份")
    assert gone.whole_text.en == "the workspace is damaged. It does not say of which kind it is. Restore the newest backup"
    named = UserFacing(Text("gate did not answer", "gate 没有应答"), Text("ssh said: no route", "ssh 报告：no route"), "node-7 is off")
    assert (named.headline_text.en, named.rest_text.en) == ("gate did not answer", "ssh said: no route. node-7 is off")
