"""sshds that know a password of this user, alone or by PAM, in a mount namespace of their own; nothing of the machine is changed."""

from __future__ import annotations

import getpass
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.integration.test_standin import can_mount

PASSWORD, CODE = "correct horse", "314159"
_MODULE = r"""
#include <stddef.h>
#include <string.h>
struct pam_message { int style; const char *words; };
struct pam_response { char *answer; int code; };
struct pam_conv { int (*ask)(int, const struct pam_message **, struct pam_response **, void *); void *data; };
int pam_get_item(const void *, int, const void **);

/* One question: its words, its right answer, "shown" where the answer may be seen. */
int pam_sm_authenticate(void *handle, int flags, int count, const char **words)
{
    const struct pam_conv *talk;
    struct pam_message question = { count > 2 ? 2 : 1, words[0] };
    const struct pam_message *questions = &question;
    struct pam_response *answer = NULL;
    if (pam_get_item(handle, 5, (const void **)&talk) || talk->ask(1, &questions, &answer, talk->data) || !answer)
        return 7;
    return answer->answer && !strcmp(answer->answer, words[1]) ? 0 : 7;
}

int pam_sm_setcred(void *handle, int flags, int count, const char **words) { return 0; }
"""

# Makes an sshd that takes the password: its own lines of the configuration, and the questions of its PAM, each its words, its
# right answer and "shown" where that may be seen; without questions it knows of no PAM.
PasswordSshd = Callable[..., object]


@pytest.fixture
def make_password_sshd(make_sshd, tmp_path: Path) -> PasswordSshd:
    if not can_mount():
        pytest.skip("mount namespaces can't be made here (needs root)")
    made: list[Path] = []

    def make(extra: str = "PasswordAuthentication yes\n", questions: Sequence[tuple[str, ...]] = ()):
        folder = tmp_path / f"passwords{len(made)}"
        folder.mkdir()
        made.append(folder)
        hashed = subprocess.run(["openssl", "passwd", "-6", "-salt", "x", PASSWORD], check=True, capture_output=True, text=True).stdout
        (folder / "shadow").write_text(f"{getpass.getuser()}:{hashed.strip()}:19000:0:99999:7:::\n")
        (folder / "shadow").chmod(0o600)
        mounts = [f"mount --bind {folder}/shadow /etc/shadow"]
        if questions:
            (folder / "pam").write_text(_pam(folder, questions))
            mounts.append(f"mount --bind {folder}/pam /etc/pam.d/sshd")
            extra = f"UsePAM yes\n{extra}"
        (folder / "script").write_text("\n".join(["set -e", *mounts, 'exec "$@"\n']))
        return make_sshd(f"LogLevel VERBOSE\n{extra}", within=("unshare", "-m", "sh", str(folder / "script")))

    return make


def _pam(folder: Path, questions: Sequence[tuple[str, ...]]) -> str:
    (folder / "ask.c").write_text(_MODULE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "ask.so", folder / "ask.c"], check=True)
    asked = [f"auth requisite {folder}/ask.so [{words}] {' '.join(f'[{word}]' for word in more)}" for words, *more in questions]
    return "\n".join([*asked, "account required pam_permit.so", "session required pam_permit.so", ""])
