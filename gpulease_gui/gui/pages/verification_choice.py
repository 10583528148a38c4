"""What will the next run ask: how deep, for which use, with which checks?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpulease_gui.catalog.profiles import load_profiles
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.services.plan import LEVEL_WORDS, Choice, Level, Plan, make_plan

ALL_CHECKS = Text("All checks", "全部检查")


@dataclass(frozen=True, slots=True)
class Wish:
    """How the next run was chosen; a check that was ticked or cleared by hand stands over level and profile."""

    level: Level = Level.INVENTORY
    profile: str = ""
    added: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()

    def choice(self, *, peer: bool) -> Choice:
        """The choice as plans are made of it."""
        profile = load_profiles().get(self.profile)
        return Choice((), self.level, profile, tuple(sorted(self.left_out)), tuple(sorted(self.added)), peer=peer)

    def toggled(self, check: str, *, planned: bool) -> Wish:
        """The wish with one check ticked, or cleared if it was planned."""
        if planned:
            return replace(self, added=self.added - {check}, left_out=self.left_out | {check})
        return replace(self, added=self.added | {check}, left_out=self.left_out - {check})


def seconds_text(seconds: float) -> Text:
    """About how long, as short as it can be said."""
    whole = max(1, round(seconds))
    if whole < 100:
        return Text(f"{whole} s", f"{whole} 秒")
    minutes = round(whole / 60)
    return Text(f"{minutes} min", f"{minutes} 分钟")


def plan_words(plan: Plan) -> Text:
    """How many checks, about how long, and what is left out."""
    about, count, out = seconds_text(plan.seconds), len(plan.checks), len(plan.left_out)
    more_en = f"; {out} of this choice not run" if out else ""
    more_zh = f"；其中 {out} 项不执行" if out else ""
    return Text(f"{count} checks, about {about.en}{more_en}", f"{count} 项检查，约 {about.zh}{more_zh}")


class ChoiceBox(QWidget):
    """Level, profile and a way to the single checks. `changed` is told of every change, `asked` of the wish for the list."""

    changed = Signal()
    asked = Signal()

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.wish = Wish()
        self.plan = make_plan()
        self._promise: Promise | None = None
        self._peer = False
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 0, 16, 10)
        column.setSpacing(6)
        self.level = Chooser(Text("How deep", "检查级别"))
        self.level.picked.connect(self._level_picked)
        self.profile = Chooser(Text("Use", "用途"))
        self.profile.picked.connect(self._profile_picked)
        self.summary = PlainLabel("", size="caption", level="2", wrap=True)
        self.pick = Button(Text("Choose checks…", "选择检查项…"), kind="link", small=True)
        self.pick.clicked.connect(self.asked)
        for part in (self.level, self.profile, self.summary, self.pick):
            column.addWidget(part)
        uses: list[tuple[str, Words]] = [("", ALL_CHECKS)]
        self.profile.set_choices([*uses, *((p.id, p.title) for p in load_profiles().values())], "")
        self._replan()

    def show_node(self, promise: Promise, *, peer: bool) -> None:
        """What was promised of the node in sight, and whether it has a second node to measure with."""
        self._promise, self._peer = promise, peer
        self._replan()

    def choice(self) -> Choice:
        """What the next run asks."""
        return self.wish.choice(peer=self._peer)

    def exact(self) -> Choice:
        """The same with everything named that the plan in sight leaves out: what runs is what was shown and confirmed."""
        return replace(self.choice(), left_out=tuple(self.plan.left_out))

    def choose(self, wish: Wish) -> None:
        """Take another wish."""
        self.wish = wish
        self._replan()
        self.changed.emit()

    def toggle(self, check: str) -> None:
        """Tick or clear one check."""
        self.choose(self.wish.toggled(check, planned=check in self.plan.checks))

    def reset(self) -> None:
        """Nothing is loaded and nothing left out by hand; the use stays."""
        if self.wish != Wish(profile=self.wish.profile):
            self.choose(Wish(profile=self.wish.profile))

    def _level_picked(self, key: str) -> None:
        self.choose(replace(self.wish, level=Level(key), added=frozenset(), left_out=frozenset()))

    def _profile_picked(self, key: str) -> None:
        self.choose(replace(self.wish, profile=key))

    def _replan(self) -> None:
        self.plan = make_plan(self.choice(), promise=self._promise)
        self.summary.set_words(plan_words(self.plan))
        self.level.set_choices([(level, self._level_words(level)) for level in Level], self.wish.level)
        self.profile.choose(self.wish.profile)

    def _level_words(self, level: Level) -> Text:
        usual = make_plan(replace(self.wish, level=level, added=frozenset()).choice(peer=self._peer), promise=self._promise)
        words, about = LEVEL_WORDS[level], seconds_text(usual.seconds)
        return Text(f"{words.en} · {about.en}", f"{words.zh} · {about.zh}")
