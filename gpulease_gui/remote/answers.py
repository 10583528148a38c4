"""What does a node's own question get as an answer while we log in?"""

from __future__ import annotations

from collections.abc import Sequence

import paramiko

from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import visible
from gpulease_gui.remote.credentials import Credentials, Prompt

PROMPTS_MAX = 20
_WORDS_MAX = 300


class Answers:
    """Answers the questions of one try; called in the thread of the connection.

    A password that the credentials hold answers the first hidden question, once; all others go to the user. `typed`:
    the user answered something; `gave_up`: the question that the user did not answer.
    """

    def __init__(self, credentials: Credentials, *, again: bool = False) -> None:
        self._password = None if again else credentials.password
        self._ask = credentials.ask_prompt
        self._asked = 0
        self.typed = False
        self.gave_up = ""

    def handle(self, title: str, instructions: str, prompts: Sequence[tuple[str, bool]]) -> list[str]:
        """The answers to one round of questions. Raises SSHException when the user gives up or is asked on and on."""
        self._asked += len(prompts)
        if self._asked > PROMPTS_MAX:
            raise paramiko.SSHException("too many questions")
        said = _plain("\n".join(part for part in (title.strip(), instructions.strip()) if part))
        return [self._answer(Prompt(_plain(words.strip()), echo, said)).reveal() for words, echo in prompts]

    def _answer(self, prompt: Prompt) -> Secret:
        if self._password is not None and not prompt.echo:
            known, self._password = self._password, None
            return known
        answer = self._ask(prompt) if self._ask is not None else None
        if answer is None:
            self.gave_up = prompt.words or "a question without words"
            raise paramiko.SSHException("no answer")
        self.typed = True
        return answer


def _plain(words: str) -> str:
    return visible(words[:_WORDS_MAX]) + ("…" if len(words) > _WORDS_MAX else "")
