"""A Deployment as units of systemd, `node-0/moonpad-NAME.service`, and the file of their variables beside it.

systemd reads `$` and `%` in a command itself, so ours are doubled, and references are the variables of the shell's
files in braces: their value is one word, whatever it holds. Its lines know no defaults, so the unit sets those, and the
file of variables, read after it, replaces them. Secrets come from that file (0600) alone.
Sources: https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html#Command%20lines and
https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#Environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from moonpad import __version__
from moonpad.render.containers import beside, contain, image_note, model_mounts, one_token
from moonpad.render.docker_run import STOP_GRACE_S, docker_words
from moonpad.render.env_variables import fallback_of, variable_of
from moonpad.render.rendered import Rendered
from moonpad.render.shell import Script, in_lines
from moonpad.values.deployment import Deployment, HttpProbe, Image, Process, Role
from moonpad.values.errors import UsageError
from moonpad.values.references import Arg, PathRef, RankRef, Ref, SecretRef, holds_secret, parts

PLAIN: Final = re.compile(r"[\w/.,:=@+-]+", re.ASCII)
FOLDER: Final = "/etc/moonpad"
RESTARTS: Final = 3
RESTART_AFTER_S: Final = 10
PROBE_LIMIT_S: Final = 55
SHARED_MEMORY: Final = "TemporaryFileSystem=/dev/shm:mode=1777"
_UNTIL: Final = (
    'trap \'exit 0\' INT TERM; until "$@" 2>/dev/null; do kill -0 "$MAINPID" || exit; sleep 5 & wait $!; done'
)
"""systemd itself goes on waiting for this command where the program that it is about has ended. A unit that is stopped
while it starts has not failed."""


def render_systemd(deployment: Deployment) -> Mapping[str, Rendered]:
    """A unit a process and a file of variables a node: path → text and mode.

    Raises:
        UsageError: a secret is a part of a longer value, which a file of variables cannot put together.
    """
    files: dict[str, Rendered] = {}
    for process in deployment.processes:
        unit = _Unit(deployment, process)
        files[f"{process.node}/{unit.name}.service"] = Rendered("\n".join(unit.lines()) + "\n")
    for node in dict.fromkeys(process.node for process in deployment.processes):
        units = [_Unit(deployment, process) for process in deployment.processes if process.node == node]
        lines = dict.fromkeys(line for unit in units for line in unit.wanted())
        head = (
            f"# Variables of {node}; systemd reads them. Fill in what is empty, and keep the file to its owner (0600)."
        )
        files[f"{node}/{_service(deployment)}.env"] = Rendered("\n".join((head, *lines)) + "\n", 0o600)
    return files


def _service(deployment: Deployment) -> str:
    return f"moonpad-{deployment.gangs[0].name}"


@dataclass(frozen=True, slots=True)
class _Unit:
    deployment: Deployment
    process: Process

    @property
    def name(self) -> str:
        name = _service(self.deployment)
        return name if self.process.role is not Role.ROUTER else f"{name}-{self.process.name}"

    @property
    def is_contained(self) -> bool:
        return isinstance(self.process.runtime, Image)

    def lines(self) -> Iterator[str]:
        process, env_file = self.process, f"{_service(self.deployment)}.env"
        alone = len(next(gang for gang in self.deployment.gangs if process in gang.processes).processes) == 1
        yield from (
            f"# Written by moonpad {__version__}. Runs {process.name} of {process.node}. On that host, as root:",
            f"#   install -D -m 600 {env_file} {FOLDER}/{env_file}   # then fill in its variables",
            f"#   install -m 644 {self.name}.service /etc/systemd/system/",
            f"#   systemctl daemon-reload && systemctl start {self.name}",
            *(
                ("# It has started once the model has written a token.",)
                if isinstance(process.ready, HttpProbe)
                else ()
            ),
            "# It runs as root unless User= is added.",
            *(() if self.is_contained else ("# Its /tmp and /dev/shm are its own: no checkpoint can be read there.",)),
            *(f"# {note}" for note in image_note(process)),
            "",
            "[Unit]",
            f"Description={_escaped(self.deployment.served_name, dollar=False)}: {process.name} of {process.node}",
            "Wants=network-online.target",
            "After=network-online.target",
        )
        if self.is_contained:
            yield from ("Requires=docker.service", "After=docker.service")
        if process.role is Role.ROUTER:
            engine = f"{_service(self.deployment)}.service"
            yield from (f"BindsTo={engine}", f"After={engine}")
        if alone:
            yield from (f"StartLimitIntervalSec={self.start_s * (RESTARTS + 1):g}", f"StartLimitBurst={RESTARTS + 1}")
        yield from ("", "[Service]", "Type=exec", *self._environment(), *self._commands())
        # Ranks of several hosts fail as one: one of them started again alone would wait for the others without end.
        yield from (f"Restart={'on-failure' if alone else 'no'}", f"RestartSec={RESTART_AFTER_S}")
        yield from (f"TimeoutStartSec={self.start_s:g}", f"TimeoutStopSec={self.stop_s:g}")
        if not self.is_contained:
            # A shared memory of its own: what an engine that was killed hard leaves there goes with its processes.
            yield from ("KillSignal=SIGINT", "KillMode=mixed", "PrivateTmp=yes", SHARED_MEMORY, "NoNewPrivileges=yes")
        if process.needs.memlock or process.needs.rdma:
            yield "LimitMEMLOCK=infinity"
        yield from ("LimitNOFILE=1048576", "TasksMax=infinity", "", "[Install]", "WantedBy=multi-user.target")

    @property
    def start_s(self) -> float:
        return self.process.start_budget_s + 60

    @property
    def stop_s(self) -> float:
        return self.process.stop.grace_s + self.process.stop.drain_s + (STOP_GRACE_S if self.is_contained else 0)

    def wanted(self) -> Iterator[str]:
        """Lines for what has no default: a comment that says what it is, and the name."""
        for ref in self._references():
            fallback = fallback_of(ref, self.deployment)
            if fallback.startswith(":?") and not isinstance(ref, SecretRef):
                yield from (f"# {fallback[2:]}", f"{variable_of(ref, self.deployment)}=")
        for name in self._secrets():
            yield from ("# a secret; it is in this file alone", f"{name}=")

    def _secrets(self) -> Iterator[str]:
        """The variables that hold one: the program's own, and those of its files."""
        env = self._env()
        for name, arg in env.items():
            if holds_secret(arg):
                if not isinstance(arg, SecretRef):
                    raise UsageError(
                        f"{name} is made of a secret and other text, which a unit cannot put together",
                        remedy="moonpad render --to shell",
                    )
                yield name
        for file in () if self.is_contained else self.process.files:
            for arg in file.content:
                yield from (variable_of(ref, self.deployment) for ref in parts(arg) if isinstance(ref, SecretRef))

    def _environment(self) -> Iterator[str]:
        for ref in self._references():
            fallback = fallback_of(ref, self.deployment)
            variable = variable_of(ref, self.deployment)
            if ref == PathRef("run"):
                yield from (f"RuntimeDirectory={self.name}", "RuntimeDirectoryMode=0700")
                yield f"Environment={variable}=%t/{self.name}"
            elif fallback.startswith(":-"):
                yield f"Environment={_text(f'{variable}={fallback[2:]}')}"
        for name, arg in self._env().items():
            if not _is_variable(arg):
                yield f"Environment={_quoted(f'{name}={_literal(arg)}', dollar=False)}"
        yield f"EnvironmentFile={FOLDER}/{_service(self.deployment)}.env"

    def _commands(self) -> Iterator[str]:
        process = self.process
        env = {} if self.is_contained else {name: arg for name, arg in process.env.items() if _is_variable(arg)}
        plain = {name: arg for name, arg in env.items() if not holds_secret(arg)}
        script = Script(self.deployment, process, self._argv(), plain, () if self.is_contained else process.files)
        before = [*script.checks(), *(line for file in script.files for line in script.writing(file))]
        if before:
            yield f"ExecStartPre=/bin/sh -c {_quoted('; '.join(('set -eu', *before)))}"
        name = f"{_service(self.deployment)}-{process.name}"
        if self.is_contained:
            yield f"ExecStartPre=-/usr/bin/env docker rm --force {name}"
        given = [(f"{key}=", *parts(arg)) for key, arg in plain.items()]
        words = [self._word(arg) for arg in (*given, *self._argv())]
        yield " \\\n  ".join(in_lines(["ExecStart=/usr/bin/env", *words]))
        if isinstance(process.ready, HttpProbe):
            port = f"${{{variable_of(process.ready.port, self.deployment)}}}"
            ask = one_token(port, self.deployment.served_name, PROBE_LIMIT_S)
            key = next((name for name, arg in self._env().items() if isinstance(arg, SecretRef)), "MOONPAD_API_KEY")
            wait = f'export MOONPAD_API_KEY="${{{key}:-}}"; {_UNTIL}'
            words = [_quoted(wait), "sh", *(port if word == port else _quoted(word) for word in ask)]
            yield f"ExecStartPost=/bin/sh -c {' '.join(words)}"
        if self.is_contained:
            grace = process.stop.grace_s + process.stop.drain_s
            yield f"ExecStop=/usr/bin/env docker stop -t {grace:g} {name}"

    def _argv(self) -> tuple[Arg, ...]:
        process, runtime = self.process, self.process.runtime
        if not isinstance(runtime, Image):
            return (*runtime.prefix, *process.argv)
        name = _service(self.deployment)
        shared = f"{name}-{runtime.beside}" if runtime.beside else ""
        return tuple(
            docker_words(
                process,
                contain(process),
                model_mounts(process),
                client="docker",
                name=f"{name}-{process.name}",
                label=f"moonpad.name={self.deployment.gangs[0].name}",
                neighbours=beside(self.deployment, process),
                network_of=shared,
            )
        )

    def _env(self) -> Mapping[str, Arg]:
        """What the unit sets: for a program on the host all, for a container's client the secrets that it hands on."""
        if not self.is_contained:
            return self.process.env
        return {name: arg for name, arg in contain(self.process).env.items() if holds_secret(arg)}

    def _references(self) -> Iterator[Ref]:
        """Each once, in the order of first use. Of a rank the number is known: a unit is for one host."""
        files = () if self.is_contained else self.process.files
        content = [arg for file in files for arg in file.content]
        used = [part for arg in (*self._argv(), *self._env().values(), *content) for part in parts(arg)]
        refs: list[Ref] = [part for part in used if not isinstance(part, str | RankRef | SecretRef)]
        if isinstance(self.process.ready, HttpProbe):
            refs.append(self.process.ready.port)
        yield from dict.fromkeys([*refs, *([PathRef("run")] if files else [])])

    def _word(self, arg: Arg) -> str:
        pieces = []
        for part in parts(arg):
            if isinstance(part, str):
                pieces.append(_escaped(part))
            elif isinstance(part, RankRef):
                pieces.append(str(self.process.rank * part.times))
            else:
                pieces.append(f"${{{variable_of(part, self.deployment)}}}")
        return _in_quotes("".join(pieces))


def _is_variable(arg: Arg) -> bool:
    return any(not isinstance(part, str) for part in parts(arg))


def _literal(arg: Arg) -> str:
    return "".join(str(part) for part in parts(arg))


def _quoted(text: str, *, dollar: bool = True) -> str:
    return _in_quotes(_escaped(text, dollar=dollar))


def _text(text: str) -> str:
    """For a setting that is one line of text."""
    return _quoted(text, dollar=False)


def _escaped(text: str, *, dollar: bool = True) -> str:
    """For inside double quotes. In a setting that is no command a dollar means nothing.

    Raises ValueError: the text holds a NUL.
    """
    if "\0" in text:
        raise ValueError("an argument holds a NUL")
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    text = re.sub(r"[\x01-\x1f\x7f]", lambda mark: f"\\x{ord(mark[0]):02x}", text)
    return text.replace("$", "$$") if dollar else text


def _in_quotes(escaped: str) -> str:
    """A word of its own stands without quotes where that reads the same."""
    return escaped if re.fullmatch(rf"(?:{PLAIN.pattern}|\$\{{\w+\}})+", escaped, re.ASCII) else f'"{escaped}"'
