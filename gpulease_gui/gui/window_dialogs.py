"""Which dialogs of the menus belong to the open workspace and to no page?"""

from __future__ import annotations

from gpulease_gui.gui.pages.page import Frame


def _thresholds(frame: Frame) -> None:
    from gpulease_gui.gui.forms.thresholds_dialog import thresholds_dialog

    thresholds_dialog(frame, frame.widget)


def _export_workspace(frame: Frame) -> None:
    from gpulease_gui.gui.forms.exchange_desk import export_workspace

    export_workspace(frame, frame.widget)


def _merge_bundle(frame: Frame) -> None:
    from gpulease_gui.gui.forms.exchange_desk import ask_bundle

    ask_bundle(frame, frame.widget)


def _trash(frame: Frame) -> None:
    from gpulease_gui.gui.forms.trash_dialog import open_trash

    open_trash(frame, frame.widget)


# By the id of their menu action; each is imported when it is first wanted.
WINDOW_DIALOGS = {"thresholds": _thresholds, "export_workspace": _export_workspace, "merge_bundle": _merge_bundle, "trash": _trash}
