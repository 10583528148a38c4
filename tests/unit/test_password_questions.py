"""Which questions of a node does a known password answer?"""

from __future__ import annotations

import pytest

from gpulease_gui.remote.password_questions import asks_for_password


@pytest.mark.parametrize("words", [
    "Password:", "password: ", "Password", "PASSWORD?", "(root@gate.example) Password:", "(root@10.0.0.7) Password: ", "root@gate's password:",
    "Password for anna@gate:", "Enter password:", "Please enter your password:", "Enter your passphrase:", "UNIX password:", "Login password: ",
    "Current password:", "Passphrase:", "密码：", "密码:", "口令：", "请输入密码：", "请输入您的密码:", "root@gate 的密码：", "anna的密码:", "(anna@10.0.0.7) 密码：",
    "登录密码：", "用户口令:", "堡垒机密码：", "静态密码：", "Ｐａｓｓｗｏｒｄ：",
])  # fmt: skip
def test_that_common_words_for_the_password_ask_for_it(words: str) -> None:
    assert asks_for_password(words)


@pytest.mark.parametrize("words", [
    "", ":", "Code:", "Verification code:", "(root@gate) Verification code:", "OTP:", "One-time password:", "One-time password (OATH) for `anna':",
    "Password or OTP:", "Password + token:", "Token:", "Enter PASSCODE:", "Enter token password:", "RSA token's password:", "PIN:",
    "Password and verification code:", "New password:", "Retype new password:", "Enter the password of your laptop:", "Dynamic password:",
    "SMS password:", "验证码：", "动态密码：", "动态口令：", "一次性密码：", "请输入验证码：", "短信密码：", "新密码：", "请输入密码和验证码：", "密码+令牌：", "令牌口令：",
    "Duo two-factor login for anna", "Password:\x1b[2J", "Answer:", "Username:", "password" * 30,
])  # fmt: skip
def test_that_every_other_question_goes_to_the_user(words: str) -> None:
    assert not asks_for_password(words)
