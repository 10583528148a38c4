"""A secret that the far side sends back stands in no sentence and in no output of ours."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.masking import DOTS, Mask, MaskedFlow, masked, masking

WORD = "p/w +\"x9'k"


def mask_for(*secrets: str, user: str = "anna") -> Mask:
    mask = Mask()
    for secret in secrets:
        mask.add(Secret(secret), user)
    return mask


@pytest.mark.parametrize(
    "shape",
    [
        WORD, quote(WORD, safe=""), quote(WORD), base64.b64encode(WORD.encode()).decode().rstrip("="),
        base64.b64encode(f"anna:{WORD}".encode()).decode().rstrip("="), base64.b64encode(f"{WORD}\n".encode()).decode().rstrip("="),
    ],
)  # fmt: skip
def test_that_each_shape_in_which_a_secret_comes_back_is_masked(shape: str) -> None:
    mask = mask_for(WORD)
    assert mask.quoted(f"<{shape}>") == f"<{DOTS}>"
    assert mask.output(f"<{shape}>".encode()) == f"<{DOTS}>".encode()


@pytest.mark.parametrize(("secret", "in_words", "in_outputs"), [
    ("abc", False, False), ("abcd", True, False), ("ubuntu", True, False), ("81920000", True, False), ("ubuntu22", True, True),
])  # fmt: skip
def test_that_a_short_word_or_number_spoils_no_output(secret: str, in_words: bool, in_outputs: bool) -> None:
    mask = mask_for(secret)
    assert mask.quoted(f"a {secret} b") == (f"a {DOTS} b" if in_words else f"a {secret} b")
    assert mask.output(f"a {secret} b".encode()) == (f"a {DOTS} b" if in_outputs else f"a {secret} b").encode()


@pytest.mark.parametrize("secret", ["abcd", "ubuntu", "81920000"])
def test_that_a_short_secret_beside_a_word_for_a_password_is_masked_in_outputs_and_nowhere_else(secret: str) -> None:
    mask = mask_for(secret)
    said = f"Password: {secret}|PASSWD={secret}|密码：{secret}|{{\"password\": \"{secret}\"}}|http://anna:{secret}@gw"
    assert mask.output(said.encode()).decode() == said.replace(secret, DOTS)
    kept = f"PASS: {secret}|user {secret}|{secret} MiB|anna:{secret}|root:{secret}@gw|password\n{secret}".encode()
    assert mask.output(kept) == kept
    flow = MaskedFlow(mask)
    assert b"".join(flow.feed(said.encode()[at : at + 1]) for at in range(len(said.encode()))) + flow.rest() == mask.output(said.encode())


def test_that_the_words_of_a_question_are_shown_without_a_secret_but_whole() -> None:
    mask = mask_for("s3cr3tPW", "code")
    assert mask.shown("not s3cr3tPW, the code:") == f"not {DOTS}, the code:"


def test_that_a_code_that_counts_once_is_masked_in_words_alone() -> None:
    mask = Mask()
    mask.add(Secret("code-314159"), in_outputs=False)
    assert (mask.quoted("code-314159"), mask.output(b"code-314159")) == (DOTS, b"code-314159")


def test_that_words_are_masked_by_the_connection_that_is_being_made_and_no_other() -> None:
    with masking(mask_for("s3cr3tPW")):
        assert masked("it is s3cr3tPW") == f"it is {DOTS}"
    assert masked("it is s3cr3tPW") == "it is s3cr3tPW"


@given(st.lists(st.text("s3cr3tPW x\n", max_size=12), max_size=12))
def test_that_a_secret_cut_in_two_is_masked_and_nothing_else_is_lost(pieces: list[str]) -> None:
    mask = mask_for("s3cr3tPW", user="")
    flow = MaskedFlow(mask)
    told = b"".join(flow.feed(piece.encode()) for piece in pieces) + flow.rest()
    assert told == "".join(pieces).replace("s3cr3tPW", DOTS).encode()
