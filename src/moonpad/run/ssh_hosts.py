"""Processes on other hosts, over the system's OpenSSH: its configuration, keys, agent and known hosts hold.

To the keeper here a process there is a client, as a container's is: the ssh client shows the log of an engine that a
keeper of its own owns on that host (keeper/remote_agent.py). When the client ends, the other host is queried and the
client started again, so a cut connection ends nothing and starts nothing twice; what runs there is ended by a command,
repeated until it has succeeded.
"""

from __future__ import annotations

import base64
import json
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from moonpad.run.keeper.log_file import LOG_BYTES
from moonpad.run.keeper_archive import keeper_archive
from moonpad.store.paths import RUNTIME_TEMP_BASE
from moonpad.values.binding import BoundProcess
from moonpad.values.errors import ContactLost, PreflightRefused

PYTHON: Final = ("python3", "-I", "-S")
"""Of the other host: any of 3.9 or newer."""
BOOTSTRAP: Final = """
import base64, os, sys
archive = os.memfd_create("keeper.pyz")
with open(archive, "wb", closefd=False) as file:
    file.write(base64.b64decode(sys.stdin.readline()))
sys.path.insert(0, f"/proc/self/fd/{archive}")
from moonpad.run.keeper.main import main
sys.exit(main(sys.argv[1:]))
"""
"""Runs the keeper's archive, which is the first line of standard input, before any file of it is on the host."""

# A host that is silent for 15 s is lost (fault 31 allows 30 s until that is reported). Host keys are up to
# ~/.ssh/config and known_hosts (fault 34).
OPTIONS: Final = (
    *("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "ControlPath=none"),
)
ASK_LIMIT_S: Final = 40.0
STDERR_CHARACTERS: Final = 600
STOP_LIMIT_S: Final = 8.0
"""Below the keeper's own limit for such a command, which is repeated."""
PATIENCE_S: Final = 8.0
"""How long a lost host is queried: its ranks cannot go on without the others anyway."""


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
    """Puts the process and a keeper for it on the host, starts nothing, and returns the client to be run here instead.
    Raises ContactLost: the host cannot be reached, or refuses; the message has ssh's own words."""
    folder: str = ask(host, "place", _job(process, f"{run_id}-{host.node}", grace_s, lease_s))["folder"]

    def agent(command: str, *words: str, unless_gone: bool = True) -> tuple[str, ...]:
        remote = shlex.join((*PYTHON, f"{folder}/keeper.pyz", command, folder, *words))
        return host.words(f"test ! -e {shlex.quote(folder)} || exec {remote}" if unless_gone else remote)

    return BoundProcess(
        name=f"{process.name} on {host.target}",
        argv=agent("attach", unless_gone=False),
        env={},
        secret_env={},
        files=(),
        after_stop=(agent("stop", str(STOP_LIMIT_S)),),
        after_end=(agent("remove", str(STOP_LIMIT_S)),),
        reattach=(agent("ask"), agent("window", unless_gone=False)),
        patience_s=PATIENCE_S,
        beats=True,
        log=far_log(host.node),
    )


def far_log(node: str) -> str:
    """The name of the remote engine's log in the run's folder here."""
    return f"{node}.log"


def _job(process: BoundProcess, name: str, grace_s: float, lease_s: float) -> dict[str, Any]:
    """What the remote keeper needs; its agent fills in the paths (keeper/remote_agent.py)."""
    secret = {variable: value.reveal() for variable, value in process.secret_env.items()}
    return {
        "id": name,
        "files": [list(file) for file in process.files],
        "claims": [],
        "pointer": None,
        "holder": {"run": name},
        "grace_s": grace_s,
        "lease_s": lease_s,
        "restarts": 0,
        "foreground_of": 0,
        "temp_base": RUNTIME_TEMP_BASE,
        "cgroup": True,
        "log_bytes": LOG_BYTES,
        "controller": None,
        "processes": [{"name": process.name, "argv": process.argv, "env": {**process.env, **secret}, "after_stop": []}],
    }


def ask(host: SshHost, command: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """The remote agent's answer to a command that takes a JSON document: `facts`, `place`.

    Raises:
        ContactLost: the host cannot be reached, or has no Python; the message has ssh's own words.
        PreflightRefused: its key is unknown or has changed.
    """
    words = host.words(shlex.join((*PYTHON, "-c", BOOTSTRAP, command)))
    text = f"{base64.b64encode(keeper_archive()).decode()}\n{json.dumps(document)}"
    try:
        done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=ASK_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _lost(host, str(error)) from error
    if "Host key verification failed" in done.stderr:
        raise PreflightRefused(
            f"the host key of {host.node} ({host.target}) is not the one in known_hosts: {_tail(done.stderr)}",
            remedy="ask that host's administrator; if the key was changed on purpose, remove the line that ssh names",
        )
    if done.returncode != 0:
        raise _lost(host, _tail(done.stderr) or "it gave no answer")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])  # its shell may print a greeting
    return answer


def start_listener(host: SshHost, address: str, ports: Iterable[int], limit_s: float) -> subprocess.Popen[str]:
    """The agent's `listen` on that host: it ends when its standard input is closed. Raises ContactLost."""
    words = ("listen", address, str(limit_s), *map(str, ports))
    command = host.words(shlex.join((*PYTHON, "-c", BOOTSTRAP, *words)))
    try:
        client = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
    except OSError as error:
        raise _lost(host, str(error)) from error
    if client.stdin is not None:
        with suppress(OSError):  # a client that has ended says so by its output
            client.stdin.write(f"{base64.b64encode(keeper_archive()).decode()}\n")
            client.stdin.flush()
    return client


def _tail(output: str) -> str:
    return " ".join(output.split())[-STDERR_CHARACTERS:]


def _lost(host: SshHost, why: str) -> ContactLost:
    return ContactLost(
        f"{host.node} ({host.target}) cannot be used: {why}", remedy=f"make this work: ssh {host.target} true"
    )
