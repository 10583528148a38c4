"""How does a report tell that nothing was read, of a whole chart or of some of its curves?"""

from __future__ import annotations

from datetime import UTC, datetime

from gpulease_gui.domain.text import Text
from gpulease_gui.reports.document import Blank


def blank_text(blank: Blank, utc_offset_s: int) -> Text:
    """How long and why; of some curves also whose and since when (our clock: UTC + `utc_offset_s`), as others went on beside them."""
    long_s = blank.end_s - blank.start_s
    en, zh = (f"{long_s:.0f} s", f"{long_s:.0f} 秒") if long_s >= 1 else ("less than 1 s", "不足 1 秒")
    if not blank.curves:
        return Text(f"no data {en}, {blank.reason.en}", f"无数据 {zh}，{blank.reason.zh}")
    since = f"{datetime.fromtimestamp(blank.start_s + utc_offset_s, UTC):%H:%M:%S}"
    whose_en, whose_zh = (f"{blank.whose.en}: ", f"{blank.whose.zh}：") if blank.whose.en else ("", "")
    return Text(f"{whose_en}not read for {en} from {since}, {blank.reason.en}", f"{whose_zh}{since} 起 {zh}未读取，{blank.reason.zh}")
