"""Processes on other hosts, over the system's OpenSSH: its configuration, keys, agent and known hosts hold.

To the keeper here a process there is a window, as a container's client is one: the ssh client shows the log of an
engine that a keeper of its own owns on that host (far_end.py). A window that is lost is asked after and opened again,
so a cut connection ends nothing and starts nothing twice; what is to be ended there is ended by a command, repeated
until it has succeeded.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moonpad.run import far_end, keeper
from moonpad.values.binding import BoundProcess
from moonpad.values.errors import ContactLost, PreflightRefused

PYTHON: Final = ("python3", "-I", "-S")
"""Of the other host: any of 3.9 or newer."""

# A host that is silent for 15 s is lost (fault 31 has 30 s for it to be said). Nothing about host keys: what
# ~/.ssh/config and known_hosts say of them holds (fault 34).
OPTIONS: Final = (
    *("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "ControlPath=none"),
)
ASK_LIMIT_S: Final = 40.0
SAID_CHARACTERS: Final = 600
STOP_LIMIT_S: Final = 8.0
"""Below the keeper's own limit for such a command; it is repeated."""
PATIENCE_S: Final = 8.0
"""How long a host that was lost is asked after: its ranks cannot go on without the others anyway."""


@dataclass(frozen=True, slots=True)
class SshHost:
    """`target` is `user@host` or a name of ~/.ssh/config."""

    node: str
    target: str
    port: int | None = None
    jump: str | None = None

    def words(self, command: str) -> tuple[str, ...]:
        """The ssh client's command line. `command` is for the shell of that host, and quoted for it by the caller."""
        port = ("-p", str(self.port)) if self.port else ()
        jump = ("-J", self.jump) if self.jump else ()
        return ("ssh", *OPTIONS, *port, *jump, "--", self.target, command)


def window(host: SshHost, process: BoundProcess, run_id: str, *, grace_s: float, lease_s: float) -> BoundProcess:
    """Puts the process and a keeper for it on the host, starts nothing, and gives what is to be run here instead.

    Raises:
        ContactLost: the host cannot be reached, or does not take it; the message has ssh's own words.
    """
    folder: str = ask(host, "place", _job(process, f"{run_id}-{host.node}", grace_s, lease_s))["folder"]

    def far(command: str, *words: str) -> tuple[str, ...]:
        return host.words(shlex.join((*PYTHON, f"{folder}/far_end.py", command, folder, *words)))

    def far_unless_gone(command: str, *words: str) -> tuple[str, ...]:
        there = shlex.join((*PYTHON, f"{folder}/far_end.py", command, folder, *words))
        return host.words(f"test ! -e {shlex.quote(folder)} || exec {there}")

    return BoundProcess(
        name=f"{process.name} on {host.target}",
        argv=far("attach"),
        env={},
        secret_env={},
        files=(),
        after_stop=(far_unless_gone("stop", str(STOP_LIMIT_S)),),
        after_end=(far_unless_gone("remove", str(STOP_LIMIT_S)),),
        reattach=(far_unless_gone("ask"), far("window")),
        patience_s=PATIENCE_S,
        beats=True,
        log=far_log(host.node),
    )


def far_log(node: str) -> str:
    """The name of what is shown here of the engine's log there, in the run's folder."""
    return f"{node}.log"


def _job(process: BoundProcess, name: str, grace_s: float, lease_s: float) -> dict[str, Any]:
    """What the keeper there needs; the paths are filled in where they are made (far_end.place)."""
    secret = {variable: value.reveal() for variable, value in process.secret_env.items()}
    return {
        "id": name,
        "programs": {file.name: file.read_text() for file in (Path(far_end.__file__), Path(keeper.__file__))},
        "files": [list(file) for file in process.files],
        "claims": [],
        "pointer": None,
        "holder": {"run": name},
        "grace_s": grace_s,
        "lease_s": lease_s,
        "restarts": 0,
        "foreground_of": 0,
        "temp_base": "/tmp",  # noqa: S108 - the folder itself is made by mkdtemp
        "cgroup": True,
        "log_bytes": keeper.LOG_BYTES,
        "controller": None,
        "processes": [{"name": process.name, "argv": process.argv, "env": {**process.env, **secret}, "after_stop": []}],
    }


def ask(host: SshHost, command: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """What the far end answers to a command that takes a JSON document: `facts`, `place`.

    Raises:
        ContactLost: the host cannot be reached, or has no Python; the message has ssh's own words.
        PreflightRefused: its key is unknown or has changed.
    """
    code = Path(far_end.__file__).read_text()
    words = host.words(shlex.join((*PYTHON, "-c", code, command)))
    try:
        done = subprocess.run(
            words, input=json.dumps(document), capture_output=True, text=True, timeout=ASK_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _lost(host, str(error)) from error
    if "Host key verification failed" in done.stderr:
        raise PreflightRefused(
            f"the key of {host.node} ({host.target}) is not the one that is known: {_tail(done.stderr)}",
            remedy="ask whoever runs that host; ssh says above which line to remove if it was changed on purpose",
        )
    if done.returncode != 0:
        raise _lost(host, _tail(done.stderr) or "no word from it")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])  # its shell may greet
    return answer


def _tail(said: str) -> str:
    return " ".join(said.split())[-SAID_CHARACTERS:]


def _lost(host: SshHost, why: str) -> ContactLost:
    return ContactLost(
        f"{host.node} ({host.target}) cannot be used: {why}", remedy=f"ssh {host.target} true  must work"
    )
