"""Which language does the window speak, and how is it switched while it runs?

For authors of pages: a string that only a widget shows is `self.tr("...")`; a string that the command line or a report
shows too is a `Text` and is shown by `say(text)`. Both are set in `retranslate`, never in `__init__` alone:

    class Notes(Lively, QWidget):
        def __init__(self) -> None:
            super().__init__()
            self._title = PlainLabel()
            self.retranslate()

        def retranslate(self) -> None:
            self._title.setText(self.tr("Notes"))
"""

from __future__ import annotations

from importlib.resources import files

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from gpulease_gui.domain.text import Language, Text, visible

_LOCALES = {
    Language.EN: QLocale(QLocale.Language.English, QLocale.Country.UnitedStates),
    Language.ZH: QLocale(QLocale.Language.Chinese, QLocale.Country.China),
}


def current_language() -> Language:
    """The language that the window speaks now: that of Qt's default locale."""
    return Language.ZH if QLocale().language() is QLocale.Language.Chinese else Language.EN


def system_language() -> Language:
    """The language that the user's system asks for; English when it is neither of ours."""
    first = next(iter(QLocale.system().uiLanguages()), "")
    return Language.ZH if first.startswith("zh") else Language.EN


def say(text: Text | str) -> str:
    """`text` in the window's language, with control characters made visible."""
    return visible(text.say(current_language()) if isinstance(text, Text) else text)


class Translations:
    """The translators of the application: ours and the one of Qt's own dialogs and menus."""

    def __init__(self, app: QCoreApplication) -> None:
        self._app = app
        self._installed: list[QTranslator] = []

    def switch(self, language: Language) -> None:
        """Speak `language` from now on; every widget gets a LanguageChange event."""
        QLocale.setDefault(_LOCALES[language])
        for translator in self._installed:
            self._app.removeTranslator(translator)
        self._installed = [t for t in self._load(language) if self._app.installTranslator(t)]

    def _load(self, language: Language) -> list[QTranslator]:
        if language is Language.EN:
            return [self._marker()]
        qt, ours = QTranslator(self._app), QTranslator(self._app)
        qt.load("qtbase_zh_CN", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
        ours.load(str(files("gpulease_gui.resources") / "i18n" / "gpulease_zh_CN.qm"))
        return [qt, ours]

    def _marker(self) -> QTranslator:
        """A translator without sentences: taking translators away alone tells nobody that the language changed."""
        return QTranslator(self._app)
