"""What does the user's own ssh make of an alias?"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.node import Address
from gpulease_gui.remote.address import Target, check_host, check_port, check_user, parse_target

_SECONDS = 10


def resolve_alias(alias: str, *, config_file: str = "") -> Target:
    """What `ssh -G alias` says: host, port, user, the first identity file that exists, HostKeyAlias.

    `alias` may be `user@alias`. Without an ssh client the word is taken as a host name; a word with a port is an
    address already. Raises UsageError for a jump host or proxy command (not supported yet), UserFacing when ssh
    refuses its config.
    """
    if ":" in alias or "[" in alias:
        return parse_target(alias)
    user, at, word = alias.rpartition("@")
    check_host(word)  # nothing that ssh could take for an option
    if at:
        check_user(user)
    ssh = shutil.which("ssh")
    if ssh is None:
        return Target(Address(word, 22, user or "root"))
    return target_of(alias, _ask([ssh, *(["-F", config_file] if config_file else []), "-G", "--", alias], alias))


def _ask(argv: Sequence[str], alias: str) -> str:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False, encoding="utf-8",
            errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserFacing(f"ssh -G {alias} gave no answer", str(error), "write user@host:port") from error
    if done.returncode != 0:
        said = next((line for line in done.stderr.splitlines() if line.strip()), "")
        raise UserFacing(f"ssh can't read its config for {alias}", said, "mend the config or write user@host:port")
    return done.stdout


def target_of(alias: str, answer: str) -> Target:
    """The target in the text that `ssh -G` printed. Raises UsageError."""
    values: dict[str, list[str]] = {}
    for line in answer.splitlines():
        key, _, value = line.partition(" ")
        values.setdefault(key.lower(), []).append(value.strip())
    for key, word in (("proxyjump", "ProxyJump"), ("proxycommand", "ProxyCommand")):
        if _first(values, key) not in ("", "none"):
            raise UsageError(f"{alias} is reached by {word}", f"{word} is not supported yet", "name a direct address")
    host = check_host(_first(values, "hostname") or alias.rpartition("@")[2])
    address = Address(host, check_port(_first(values, "port") or "22"), check_user(_first(values, "user") or "root"))
    files = (expand(path, address) for path in values.get("identityfile", ()) if path != "none")
    key_file = next((path for path in files if Path(path).is_file()), "")
    return Target(address, alias, key_file, _first(values, "hostkeyalias").replace("none", ""))


def _first(values: Mapping[str, Sequence[str]], key: str) -> str:
    return next(iter(values.get(key, ())), "")


def expand(path: str, address: Address) -> str:
    """An identity file's path with `~`, %-tokens and ${VAR} filled in, which `ssh -G` leaves as they are."""
    home = str(Path.home())
    tokens = {"%": "%", "d": home, "h": address.host, "r": address.user, "p": str(address.port), "u": getpass.getuser()}
    filled = re.sub(r"%(.)", lambda match: tokens.get(match[1], match[0]), path)
    filled = re.sub(r"\$\{(\w+)\}", lambda match: os.environ.get(match[1], match[0]), filled)
    return home + filled[1:] if filled.startswith("~/") else filled
