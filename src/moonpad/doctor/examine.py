"""Asks the hosts of a run, all at once: each about itself, and what each reaches of the others."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Container, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from moonpad.doctor.need import Need
from moonpad.doctor.question import question_of
from moonpad.doctor.survey import Survey
from moonpad.run.keeper.host_survey import take_survey
from moonpad.run.ssh_hosts import SshHost, ask, start_listener
from moonpad.values.errors import ContactLost, MoonpadError

LISTEN_S: Final = 30.0
OPEN_S: Final = 10.0
"""For ssh to log in and the listener to say its ports."""
CLOSE_S: Final = 5.0
ANY: Final = 0
"""A port that the system chooses."""


@dataclass(frozen=True, slots=True)
class Host:
    """`ssh` None: this one. `ports`: those that others have to reach there, beside one that the system chooses."""

    node: str
    address: str = ""
    ssh: SshHost | None = None
    ports: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """What `source` reaches of `target`: `wanted` is the port that the run needs, `ANY` for any other; `answer` is
    that of host_survey.reach."""

    source: str
    target: str
    address: str
    wanted: int
    answer: Mapping[str, Any]


def examine(hosts: tuple[Host, ...], needs: Mapping[str, Need]) -> tuple[dict[str, Survey | MoonpadError], list[Reach]]:
    """By node the survey, or why there is none; and each connection that was tried, both ways."""
    with ExitStack() as stack, ThreadPoolExecutor(2 * len(hosts)) as pool:
        several = [host for host in hosts if host.address] if len(hosts) > 1 else []
        waiting = {host.node: pool.submit(stack.enter_context, _listening(host)) for host in several}
        open_ports: dict[str, dict[int, int]] = {}
        for node, listener in waiting.items():
            with suppress(MoonpadError):  # its survey will say why
                open_ports[node] = listener.result()
        targets = {
            host.node: [
                (other, wanted, port)
                for other in several
                if other.node != host.node
                for wanted, port in open_ports.get(other.node, {}).items()
            ]
            for host in hosts
        }
        asked = {
            host.node: pool.submit(
                _survey, host, needs[host.node], targets[host.node], open_ports.get(host.node, {}).keys()
            )
            for host in hosts
        }
        surveys: dict[str, Survey | MoonpadError] = {}
        reached: list[Reach] = []
        for host in hosts:
            try:
                survey = asked[host.node].result()
            except MoonpadError as error:
                surveys[host.node] = error
                continue
            surveys[host.node] = survey
            answers = zip(targets[host.node], survey.answer["reached"], strict=True)
            reached += [Reach(host.node, to.node, to.address, wanted, answer) for (to, wanted, _), answer in answers]
        return surveys, reached


def _survey(host: Host, need: Need, targets: list[tuple[Host, int, int]], ours: Container[int]) -> Survey:
    """`ours` are the ports on which this check itself listens there."""
    question = question_of(need)
    question["reach"] = [[other.address, port] for other, _, port in targets]
    question["ports"] = [port for port in question["ports"] if port not in ours]
    begun_s, begun = time.time(), time.monotonic()
    answer = take_survey(question) if host.ssh is None else ask(host.ssh, "survey", question)
    took_s, ended_s = time.monotonic() - begun, time.time()
    if host.ssh is None:
        return Survey(host.node, answer, None, took_s)
    first_s, last_s = answer["clocks_s"]
    # Its clock was read after `begun_s`, and before `ended_s`.
    least, most = last_s - ended_s, first_s - begun_s
    return Survey(host.node, answer, least if least > 0 else min(0.0, most), took_s)


@contextmanager
def _listening(host: Host) -> Iterator[dict[int, int]]:
    """Wanted port → port, for those that could be had. Raises ContactLost."""
    if host.ssh is None:
        words = (sys.executable, "-m", "moonpad.run.keeper", "listen", host.address, str(LISTEN_S))
        command = (*words, *map(str, host.ports))
        client = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
    else:
        client = start_listener(host.ssh, host.address, host.ports, LISTEN_S)
    try:
        yield {int(wanted): port for wanted, port in _first_answer(host, client)["ports"].items()}
    finally:
        if client.stdin is not None:
            with suppress(OSError):
                client.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            client.wait(CLOSE_S)
        client.kill()
        client.wait()
        if client.stdout is not None:
            client.stdout.close()


def _first_answer(host: Host, client: subprocess.Popen[str]) -> dict[str, Any]:
    until = time.monotonic() + OPEN_S
    while client.stdout is not None and (left_s := until - time.monotonic()) > 0:
        if not select.select([client.stdout], [], [], left_s)[0]:
            break
        line = client.stdout.readline()
        if not line:
            break
        if line.startswith('{"ports"'):  # a shell may print a greeting
            answer: dict[str, Any] = json.loads(line)
            return answer
    raise ContactLost(f"{host.node} does not listen for the others", remedy="its own survey says why")
