"""What does a node's own question get as an answer while we log in?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import paramiko

from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import visible
from gpulease_gui.remote.credentials import Credentials, Prompt
from gpulease_gui.remote.password_questions import asks_for_password

# In one try of a login: questions, and rounds that hold none, such as one with a greeting.
PROMPTS_MAX, EMPTY_ROUNDS_MAX = 20, 10
_WORDS_MAX = 300


class Answers:
    """Answers the questions of one try, the `number`th of its login; called in the thread of the connection.

    Once, and only where a hidden question asks for a password, the one that is known answers it: that of the credentials
    in the first try, else what `ask_password` gives, who is told of the `wrong` one. All else goes to the user. `known`: no
    password was accepted a moment ago, else it is no answer to what comes after it. `heard`: there was a round of questions;
    `can_differ`: another try can have other answers; `password`: the one that was given, `password_typed`: by the user;
    `gave_up`: the question without an answer; `waits_for`: the one that the user has before him; `endless`: it was asked on and on.
    """

    def __init__(self, credentials: Credentials, number: int = 1, *, known: bool = True, wrong: Secret | None = None) -> None:
        self._known = credentials.password if known and number == 1 else None
        self._ask_password = credentials.ask_password if known else None
        self._ask, self._number, self._wrong = credentials.ask_prompt, number, wrong
        self._asked = self._empty_rounds = 0
        self.endless = self.heard = self.can_differ = self.password_typed = False
        self.password: Secret | None = None
        self.gave_up = self.waits_for = ""

    def handle(self, title: str, instructions: str, prompts: Sequence[tuple[str, bool]]) -> list[str]:
        """The answers to one round of questions. Raises SSHException when the user gives up or is asked on and on."""
        self.heard = True
        self._asked += len(prompts)
        self._empty_rounds += not prompts
        self.endless = self._asked > PROMPTS_MAX or self._empty_rounds > EMPTY_ROUNDS_MAX
        if self.endless:
            raise paramiko.SSHException("too many questions")
        said = _plain("\n".join(part for part in (title.strip(), instructions.strip()) if part))
        return [self._answer(Prompt(_plain(words.strip()), echo, said)).reveal() for words, echo in prompts]

    def _answer(self, prompt: Prompt) -> Secret:
        if self.password is None and not prompt.echo and asks_for_password(prompt.words):
            if self._known is not None:
                self.can_differ |= self._ask_password is not None
                self.password = self._known
                return self.password
            if self._ask_password is not None and not prompt.said:  # words of the node's own are for the user to read
                self.password = self._typed(prompt, partial(self._ask_password, self._number, self._wrong))
                self.password_typed = True
                return self.password
        return self._typed(prompt, partial(self._ask, prompt) if self._ask is not None else _nobody)

    def _typed(self, prompt: Prompt, ask: Callable[[], Secret | None]) -> Secret:
        words = prompt.words or "a question without words"
        self.waits_for = words
        answer = ask()
        self.waits_for = ""
        if answer is None:
            self.gave_up = words
            raise paramiko.SSHException("no answer")
        self.can_differ = True
        return answer


def _nobody() -> None:
    """There is nobody to be asked."""


def _plain(words: str) -> str:
    return visible(words[:_WORDS_MAX]) + ("…" if len(words) > _WORDS_MAX else "")
