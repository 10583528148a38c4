"""Does a question of a node's own ask for the password that we know, or for something else?"""

from __future__ import annotations

import re
import unicodedata

# What OpenSSH puts in front of every question, and whom others name in theirs.
_WHO = r"[\w.@\\:\[\]-]{1,100}"
_WORDS = (
    "please|enter|type|input|your|the|current|unix|linux|ldap|ad|kerberos|radius|ssh|sso|login|logon|account|user|system|domain|remote"
)
_EN = re.compile(rf"(?:\({_WHO}\) ?)?(?:{_WHO}'s |(?:(?:{_WORDS}) )*)(?:password|passphrase)(?: for {_WHO})? ?[:?]?")
_WORDS_ZH = "请|输入|键入|您|你|的|该|当前|登录|登陆|用户|账号|账户|帐号|帐户|系统|主机|服务器|堡垒机|跳板机|静态|ssh|ldap"
_ZH = re.compile(rf"(?:\({_WHO}\) ?)?(?:[a-z0-9_.@-]{{1,100}} ?的 ?)?(?:{_WORDS_ZH})*(?:密码|口令) ?[:?]?")


def asks_for_password(words: str) -> bool:
    """Whether these are the usual words for the user's password and nothing besides: no code, no new or one-time password.

    Every word must be known, so that a question of another kind goes to the user.
    """
    plain = " ".join(unicodedata.normalize("NFKC", words).casefold().split())
    return _EN.fullmatch(plain) is not None or _ZH.fullmatch(plain) is not None
