"""What stands over each offer of a comparison: name, conclusion, score range, cost with its hidden part, market?"""

from __future__ import annotations

from decimal import Decimal

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import QHeaderView, QToolTip, QWidget

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.scoring import Status
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.matrix import MatrixModel
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.badge import paint_verdict
from gpulease_gui.gui.widgets.labels import plain_tip
from gpulease_gui.gui.widgets.matrix_cells import draw_words
from gpulease_gui.pdf.badges import Badge
from gpulease_gui.pdf.palette import Palette
from gpulease_gui.services.compare_page import HeadFigures
from gpulease_gui.services.compare_table import STATUS_WORDS
from gpulease_gui.services.comparison import CompareHead
from gpulease_gui.services.market_view import Place
from gpulease_gui.services.price_period import PER_WORDS

_BADGES = {
    Status.QUALIFIED: ("verdict-pass", "pass"), Status.WAIVED: ("verdict-waived", "na"),
    Status.BLOCKED: ("verdict-inconclusive", "inc"), Status.REJECTED: ("verdict-fail", "fail"),
}  # fmt: skip
_CURRENCY = {"CNY": "¥", "USD": "$", "EUR": "€", "GBP": "£"}
_TOP, _CHEAPEST, _MAYBE = Text("highest", "最高"), Text("lowest", "最低"), Text("lowest, assumed", "最低（含假设）")
_PLACES = {Place.BELOW: Text("below the market", "低于市场"), Place.ABOVE: Text("above the market", "高于市场"),
           Place.UNKNOWN: Text("no list prices", "无公开价可比")}  # fmt: skip
_PAD, _EDGE = 10, 16


def status_badge(status: Status) -> Badge:
    """Shape, word and colour of the conclusion on an offer."""
    icon, token = _BADGES[status]
    return Badge(icon, token, STATUS_WORDS[status], loud=True)


def money_words(amount: Decimal | None, currency: str) -> str:
    """A rate with two places, its currency before it."""
    if amount is None:
        return "–"
    return f"{_CURRENCY.get(currency, currency)}\N{NARROW NO-BREAK SPACE}{amount:,.2f}"


class MatrixHead(QHeaderView):
    """The head of either view of the matrix. `picked` carries the column that was clicked, 0 for the labels."""

    picked = Signal(int)

    def __init__(self, matrix: MatrixModel, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._matrix = matrix
        self.pinned: frozenset[int] = frozenset()  # numbers of deals
        self.current = -1
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(96)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.sectionPressed.connect(self.picked)

    def lines(self) -> tuple[int, int, int]:
        """The heights of a body line, a dense line and a caption line in the font of now."""
        font = self.font()
        return (
            QFontMetrics(sized(font, TextSize.BODY, 600)).height(), QFontMetrics(sized(font, TextSize.DENSE)).height(),
            QFontMetrics(sized(font, TextSize.CAPTION)).height(),
        )  # fmt: skip

    def parts(self, rect: QRect) -> tuple[QRect, QRect, QRect, QRect]:
        """Where name, score, cost and market lie."""
        body, dense, caption = self.lines()
        heights = (body + caption + 24 + 20, dense + 26, dense + 26, caption + 20)
        made, top = [], rect.top()
        for height in heights:
            made.append(QRect(rect.left(), top, rect.width(), height))
            top += height
        return made[0], made[1], made[2], made[3]

    def sizeHint(self) -> QSize:
        """Four parts, as high as the font needs."""
        return QSize(100, self.parts(QRect(0, 0, 100, 0))[3].bottom() + 2)

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:  # noqa: N803 - Qt's name
        """Labels over the first column, an offer's figures over the others."""
        self.draw(painter, rect, logicalIndex)

    def draw(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Draw one head into any rectangle: of the view, or of a picture that is saved."""
        palette = colours()
        painter.save()
        painter.fillRect(rect, QColor(palette.bg1))
        look = self._matrix.look
        if look is not None and section == 0:
            self._draw_labels(painter, rect, palette)
        elif look is not None and section <= len(look.comparison.heads):
            self._draw_offer(painter, rect, section, palette)
        for part in self.parts(rect)[:3]:
            painter.fillRect(QRect(rect.left(), part.bottom(), rect.width(), 1), QColor(palette.border))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(palette.border2))
        painter.fillRect(QRect(rect.right(), rect.top(), 1, rect.height()), QColor(palette.border))
        painter.restore()

    # -- the labels -----------------------------------------------------------------------------------------------------------

    def _draw_labels(self, painter: QPainter, rect: QRect, palette: Palette) -> None:
        look = self._matrix.look
        assert look is not None, "drawn only with a comparison"
        name, score, cost, market = self.parts(rect)
        count = len(look.comparison.heads)
        body, dense, caption = self.lines()
        self._two(painter, QRect(name.left(), name.top() + body - 4, name.width(), 0),
                  Text(f"{count} offers", f"{count} 份报价"), Text("", ""), palette)  # fmt: skip
        self._two(painter, QRect(name.left(), name.bottom() - dense - 10, name.width(), 0),
                  Text("Conclusion", "结论"), Text("", ""), palette)  # fmt: skip
        self._two(painter, score, Text("Score range", "得分区间"), Text("low – high · coverage", "低分 – 高分 · 覆盖率"), palette)
        unit = PER_WORDS[look.comparison.per]
        self._two(painter, cost, Text(f"Effective cost / {unit.en}", f"有效成本 / {unit.zh}"), Text("", ""), palette)
        self._key(painter, cost.left() + _EDGE, cost.top() + 6 + dense, palette)
        self._two(painter, QRect(market.left(), market.top() - 2, market.width(), 0), Text("Among list prices", "公开价区间"), Text("", ""), palette)

    def _two(self, painter: QPainter, part: QRect, title: Text, note: Text, palette: Palette) -> None:
        _, dense, caption = self.lines()
        room = QRect(part.left() + _EDGE, part.top() + 6, part.width() - _EDGE - 6, dense)
        draw_words(painter, room, title, palette.t2, sized(self.font(), TextSize.DENSE, 500))
        if note.en:
            draw_words(painter, room.translated(0, dense), note, palette.t3, sized(self.font(), TextSize.CAPTION))

    def _key(self, painter: QPainter, left: int, top: int, palette: Palette) -> None:
        _, _, caption = self.lines()
        font = sized(self.font(), TextSize.CAPTION)
        middle = top + caption // 2
        painter.fillRect(QRect(left, middle - 4, 8, 8), QColor(palette.t3))
        end = draw_words(painter, QRect(left + 12, top, 80, caption), Text("quoted", "标价"), palette.t3, font)
        painter.setPen(QColor(palette.warn))
        painter.setBrush(QColor(palette.warn_bg))
        painter.drawRect(QRect(end + 8, middle - 4, 8, 8))
        draw_words(painter, QRect(end + 21, top, 80, caption), Text("hidden", "隐性部分"), palette.t3, font)

    # -- an offer -------------------------------------------------------------------------------------------------------------

    def _draw_offer(self, painter: QPainter, rect: QRect, section: int, palette: Palette) -> None:
        look = self._matrix.look
        assert look is not None, "drawn only with a comparison"
        head, figures = look.comparison.heads[section - 1], look.figures[section - 1]
        if section == self.current:
            painter.fillRect(QRect(rect.left(), rect.top(), rect.width() - 1, 3), QColor(palette.accent))
        name, score, cost, market = (part.adjusted(_PAD, 0, -_PAD, 0) for part in self.parts(rect))
        self._draw_name(painter, name, head, look.titles[section - 1], palette)
        self._draw_score(painter, score, head, figures, palette)
        most = max((f.effective or f.quoted or Decimal(0) for f in look.figures), default=Decimal(0))
        self._draw_cost(painter, cost, head, figures, most, look.comparison.currency, palette)
        self._draw_market(painter, market, head, palette)

    def _draw_name(self, painter: QPainter, part: QRect, head: CompareHead, title: Text, palette: Palette) -> None:
        body, _, caption = self.lines()
        line = QRect(part.left(), part.top() + 8, part.width(), body)
        if head.row.deal in self.pinned:
            icons.paint(painter, QRectF(line.right() - 13, line.top() + 2, 13, 13), "pin", palette.t3)
            line = line.adjusted(0, 0, -18, 0)
        draw_words(painter, line, head.row.supplier, palette.t1, sized(self.font(), TextSize.BODY, 600))
        below = QRect(part.left(), part.top() + 8 + body, part.width(), caption)
        flags = self._draw_flags(painter, below, head, palette)
        below.setRight(below.right() - flags)
        draw_words(painter, below, title, palette.t2, sized(self.font(), TextSize.CAPTION))
        painter.setFont(sized(self.font(), TextSize.DENSE, 500))
        badge = QRectF(part.left(), below.bottom() + 4, part.width(), 22)
        status = status_badge(head.score.score.status)
        paint_verdict(painter, badge, status, filled=True, word=say(status.word))

    def _draw_flags(self, painter: QPainter, line: QRect, head: CompareHead, palette: Palette) -> int:
        """The number of red flags at the right end of a line; how much room it takes."""
        count = len(head.raised)
        if not count:
            return 0
        font = sized(self.font(), TextSize.DENSE, 600)
        wide = QFontMetrics(font).horizontalAdvance(str(count))
        left = line.right() - wide
        icons.paint(painter, QRectF(left - 17, line.center().y() - 6, 13, 13), "verdict-warn", palette.warn)
        painter.setFont(font)
        painter.setPen(QColor(palette.warn))
        painter.drawText(QRectF(left, line.top(), wide + 2, line.height()), Qt.AlignmentFlag.AlignVCenter, str(count))
        return wide + 24

    def _line(self, painter: QPainter, part: QRect, figure: str, tag: Text | None, right: str, tone: str, palette: Palette) -> None:
        """A figure in 600, a tag beside it, a caption at the right end."""
        _, dense, _ = self.lines()
        room = QRect(part.left(), part.top() + 6, part.width(), dense)
        small = sized(self.font(), TextSize.CAPTION)
        wide = QFontMetrics(small).horizontalAdvance(right)
        end = draw_words(painter, room.adjusted(0, 0, -wide - 4, 0), figure, palette.t1, sized(self.font(), TextSize.DENSE, 600))
        draw_words(painter, QRect(room.right() - wide, room.top(), wide + 8, dense), right, palette.colour(tone), small)
        if tag is not None and end + QFontMetrics(small).horizontalAdvance(say(tag)) + 18 < room.right() - wide:
            self._tag(painter, end + 6, room, tag, small, palette)

    @staticmethod
    def _tag(painter: QPainter, left: int, room: QRect, words: Text, font: QFont, palette: Palette) -> None:
        metrics = QFontMetrics(font)
        box = QRectF(left + 0.5, room.center().y() - metrics.height() // 2 + 0.5, metrics.horizontalAdvance(say(words)) + 8, metrics.height())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(palette.pass_))
        painter.setBrush(QColor(palette.pass_bg))
        painter.drawRoundedRect(box, 3, 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setFont(font)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, say(words))

    def _draw_score(self, painter: QPainter, part: QRect, head: CompareHead, figures: HeadFigures, palette: Palette) -> None:
        found = head.score.score
        if found.score_low is None or found.score_high is None:
            self._line(painter, part, say(Text("no score", "无得分")), None, "", "t3", palette)
            return
        coverage = "" if found.coverage is None else f"{found.coverage * 100:.0f}\N{THIN SPACE}%"
        words = f"{found.score_low:.0f}\N{THIN SPACE}–\N{THIN SPACE}{found.score_high:.0f}"
        self._line(painter, part, words, _TOP if figures.top else None, coverage, "t3", palette)
        token = {"pass": "accent", "na": "accent"}.get(status_badge(found.status).token, status_badge(found.status).token)
        left, width, y = part.left(), part.width() - 1, part.bottom() - 12
        painter.fillRect(QRect(left, y, width, 1), QColor(palette.border2))
        low, high = left + int(found.score_low * width / 100), left + int(found.score_high * width / 100)
        span = QColor(palette.colour(token))
        span.setAlphaF(0.28)
        painter.fillRect(QRect(low, y - 4, max(1, high - low), 9), span)
        painter.fillRect(QRect(low, y - 5, 2, 11), QColor(palette.colour(token)))

    def _draw_cost(self, painter: QPainter, part: QRect, head: CompareHead, figures: HeadFigures, most: Decimal, currency: str, palette: Palette) -> None:
        shown = figures.effective if figures.effective is not None else figures.quoted
        hidden = figures.hidden_pct
        right = "" if hidden is None else f"{hidden:+.1f}\N{THIN SPACE}%".replace("-", "−")
        loud = hidden is not None and hidden >= 10
        least = "≥\N{THIN SPACE}" if figures.assumed and figures.effective is not None else ""
        words = least + money_words(shown, currency) if shown is not None else say(_no_cost(head))
        self._line(painter, part, words, (_MAYBE if figures.assumed else _CHEAPEST) if figures.cheapest else None, right, "warn" if loud else "t3", palette)
        if shown is None or not most:
            return
        left, width, y = part.left(), part.width() - 1, part.bottom() - 14
        whole = max(2, int(shown / most * width))
        solid = whole if figures.quoted is None else min(whole, int(figures.quoted / most * width))
        painter.fillRect(QRect(left, y, solid, 8), QColor(palette.t3))
        if whole > solid + 1:
            painter.setPen(QPen(QColor(palette.warn), 1))
            painter.setBrush(QColor(palette.warn_bg))
            painter.drawRect(QRect(left + solid, y, whole - solid - 1, 7))

    def _draw_market(self, painter: QPainter, part: QRect, head: CompareHead, palette: Palette) -> None:
        _, _, caption = self.lines()
        market = head.market
        room = QRect(part.left(), part.top() + 4, part.width(), caption)
        font = sized(self.font(), TextSize.CAPTION)
        if market is None or market.place is Place.UNKNOWN:
            draw_words(painter, room, _PLACES[Place.UNKNOWN], palette.t3, font)
            return
        share = market.share
        words = _PLACES[market.place] if share is None else Text(f"at {share * 100:.0f} % of the span", f"区间 {share * 100:.0f} % 处")
        draw_words(painter, room, words, palette.t2 if share is not None else palette.warn, font)
        left, width, y = part.left(), part.width() - 1, part.bottom() - 7
        inset = width // 8
        painter.fillRect(QRect(left + inset, y, width - 2 * inset, 3), QColor(palette.border2))
        place = Decimal(-1) if market.place is Place.BELOW else Decimal(2) if share is None else share
        at = left + 2 if place < 0 else left + width - 4 if place > 1 else left + inset + int(place * (width - 2 * inset))
        painter.fillRect(QRect(at, y - 4, 2, 11), QColor(palette.ink))

    # -- words for those who point ----------------------------------------------------------------------------------------------

    def tip(self, section: int) -> Text:
        """All that the head of an offer says, with the reason of every red flag."""
        look = self._matrix.look
        if look is None or not 0 < section <= len(look.comparison.heads):
            return Text("", "")
        return head_words(look.comparison.heads[section - 1], look.titles[section - 1])

    def viewportEvent(self, event: QEvent) -> bool:
        """The tooltip of the head under the pointer."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), plain_tip(self.tip(self.logicalIndexAt(event.pos()))), self)
            return True
        return super().viewportEvent(event)


def _no_cost(head: CompareHead) -> Text:
    return Text("no price stated", "未说明价格") if head.row.price_amount is None else Text("no rate", "无汇率")


def head_words(head: CompareHead, title: Text) -> Text:
    """Supplier, conclusion, trouble, market and red flags, line by line."""
    status = STATUS_WORDS[head.score.score.status]
    lines = [foreign(head.row.supplier), title, status]
    if head.trouble:
        lines.append(foreign(head.trouble))
    if head.cost is not None and head.cost.rests_on:
        count = len(head.cost.rests_on)
        lines.append(Text(f"the cost is the least: {count} terms are not stated", f"成本为下限：有 {count} 项条款未约定"))
    if head.market is not None:
        lines.append(head.market.words)
    for found in head.raised:
        title, reason = found.flag.title, found.flagged.reason
        lines.append(Text(f"– {title.en}: {reason.en}", f"– {title.zh}：{reason.zh}"))
    return Text("\n".join(line.en for line in lines if line.en), "\n".join(line.zh for line in lines if line.zh))
