"""How does a password travel through the program without showing up in a log?"""

from __future__ import annotations


class Secret:
    """A passphrase or password. `reveal` is called at the one place that needs it; text forms are dots."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __repr__(self) -> str:
        return "Secret(•••)"

    def __str__(self) -> str:
        return "•••"

    def __format__(self, spec: str) -> str:
        return "•••"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret is never written down")
