"""How often is the user asked for one password?"""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.secret import Secret
from gpulease_gui.services.typed_passwords import TypedPasswords

HOP = ("", "gate:22", "", "root@gate:22")


def never() -> Secret | None:
    pytest.fail("nobody is asked")


def test_that_a_password_is_asked_for_once_until_it_is_refused_or_forgotten() -> None:
    typed = TypedPasswords()
    assert typed.get(HOP, lambda: Secret("a")) == Secret("a") == typed.get(HOP, never)
    assert typed.get(HOP, lambda: Secret("b"), Secret("a")) == Secret("b")
    assert typed.get(HOP, never, Secret("a")) == Secret("b")  # another had asked anew meanwhile
    typed.know(("n1", "password"), Secret("c"))
    typed.forget(lambda owner: owner[:2] == ("", "gate:22"))
    assert typed.get(("n1", "password"), never) == Secret("c")
    assert typed.get(HOP, lambda: None) is None and typed.get(HOP, lambda: Secret("d")) == Secret("d")


def test_that_another_way_to_the_same_address_is_another_password() -> None:
    typed = TypedPasswords()
    typed.get(HOP, lambda: Secret("a"))
    other = ("", "gate:22", "", "root@first:22", "root@gate:22")
    assert typed.get(other, lambda: Secret("b")) == Secret("b") and typed.get(HOP, never) == Secret("a")


@pytest.mark.parametrize("answer", [Secret("a"), None])
def test_that_who_waits_while_another_is_asked_gets_the_same_answer(answer: Secret | None) -> None:
    typed, asked, go_on = TypedPasswords(), threading.Event(), threading.Event()
    found: list[Secret | None] = []

    def slowly() -> Secret | None:
        asked.set()
        assert go_on.wait(30)
        return answer

    def get(ask: Callable[[], Secret | None]) -> threading.Thread:
        thread = threading.Thread(target=lambda: found.append(typed.get(HOP, ask)))
        thread.start()
        return thread

    first = get(slowly)
    assert asked.wait(30)
    place = typed._place(HOP)
    place.lock = Waited(place.lock, go_on)  # type: ignore[assignment]  # it lets the first one go on once the second waits
    second = get(never)
    first.join(30)
    second.join(30)
    assert found == [answer, answer]


def test_that_after_three_wrong_ones_nobody_is_asked_who_comes_with_one_of_them_and_who_has_none_begins_anew() -> None:
    typed = TypedPasswords()
    assert typed.get(HOP, lambda: Secret("a")) == Secret("a")
    assert typed.get(HOP, lambda: Secret("b"), Secret("a")) == Secret("b")
    assert typed.get(HOP, lambda: Secret("c"), Secret("b")) == Secret("c")
    assert typed.get(HOP, never, Secret("a")) == Secret("c")
    assert typed.get(HOP, never, Secret("c")) is None
    assert typed.get(HOP, never, Secret("b")) is None
    assert typed.get(HOP, lambda: Secret("d")) == Secret("d")
    assert typed.get(HOP, lambda: Secret("e"), Secret("d")) == Secret("e")


def test_that_who_comes_with_a_wrong_one_after_it_was_forgotten_is_not_asked_and_who_has_none_is() -> None:
    typed = TypedPasswords()
    typed.get(HOP, lambda: Secret("a"))
    typed.forget(lambda owner: True)
    assert typed.get(HOP, never, Secret("a")) is None
    assert typed.get(HOP, lambda: Secret("b")) == Secret("b") == typed.get(HOP, never, Secret("a"))


def test_that_who_comes_with_a_wrong_one_after_another_gave_up_is_not_asked() -> None:
    typed = TypedPasswords()
    typed.get(HOP, lambda: Secret("a"))
    assert typed.get(HOP, lambda: None, Secret("a")) is None
    assert typed.get(HOP, never, Secret("a")) is None


def test_that_who_is_cancelled_is_asked_nothing_and_gives_up_for_nobody_else() -> None:
    typed, first, second = TypedPasswords(), CancelToken(), CancelToken()
    found: list[Secret | None] = []

    def cancel_both() -> None:
        second.cancel()
        waits.join(30)
        first.cancel()

    waits = threading.Thread(target=lambda: found.append(typed.get(HOP, never, cancelled=lambda: second.cancelled)))
    waits_too = threading.Thread(target=lambda: found.append(typed.get(HOP, lambda: Secret("a"))))

    def ask() -> None:
        waits.start()
        waits_too.start()
        cancel_both()

    assert typed.get(HOP, ask, cancelled=lambda: first.cancelled) is None
    waits_too.join(30)
    assert found == [None, Secret("a")]
    assert typed.get(HOP, never, cancelled=lambda: first.cancelled) is None


class Waited:
    """A lock that tells when somebody waits for it."""

    def __init__(self, lock: threading.Lock, told: threading.Event) -> None:
        self._lock, self._told = lock, told

    def acquire(self, timeout: float = -1) -> bool:
        self._told.set()
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        self._lock.release()
