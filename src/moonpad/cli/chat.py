"""`moonpad chat`: talk with an endpoint in the terminal, or through a pipe."""

from __future__ import annotations

import asyncio
import io
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.output import err, next_command, note, out, print_error
from moonpad.load.openai_schema import Broken, Delta, Message, Reply, join
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, ContactLost, MoonpadError
from moonpad.values.redaction import SafePieces

HELP: Final = "/reset clears the conversation, /quit or Ctrl-D leaves, Ctrl-C stops an answer."
MAX_TOOL_ROUNDS: Final = 4


def chat(
    spec: Path | None = None,
    *,
    at: EndpointOptions = EndpointOptions(),
    system: str | None = None,
    temperature: float | None = None,
    max_tokens: int = 512,
    once: str | None = None,
    demo_tool: bool = False,
) -> None:
    """Talk with an endpoint. The answers go to stdout; reasoning, tool calls and token counts to stderr.

    From a pipe each line is a message, and the end of the input ends the chat.

    Parameters
    ----------
    spec
        The spec whose endpoint is meant; without it and --url, the only endpoint that is up.
    system
        A system message; without it, the model's own default.
    temperature
        0 always takes the likeliest token; without it, the endpoint's default.
    max_tokens
        The longest answer, its reasoning included.
    once
        Send this one message, show the answer, and leave.
    demo_tool
        Offer the model a tool, get_weather, whose result is made up.
    """
    endpoint = resolve_endpoint(spec, at)
    options: dict[str, Any] = {"max_tokens": max_tokens}
    if temperature is not None:
        options["temperature"] = temperature
    with asyncio.Runner() as runner:
        session = Session(runner.run(_named(endpoint)), options, system, demo_tool)
        if once is not None:
            runner.run(session.say(once))
        elif sys.stdin.isatty() and sys.stdout.isatty():
            _converse(runner, session)
            next_command("moonpad verify" + at.words(spec))
        else:
            _answer_lines(runner, session)


async def _named(endpoint: Endpoint) -> Endpoint:
    if endpoint.model:
        return endpoint
    from moonpad.verify.api import connect
    from moonpad.verify.judged_model import subject_of

    async with connect(endpoint) as api:
        return (await subject_of(api))[0]


def _converse(runner: asyncio.Runner, session: Session) -> None:
    """A person at a terminal. An error or Ctrl-C costs the turn, never the conversation."""
    with suppress(ImportError):
        import readline  # noqa: F401 - gives input() line editing
    note(f"{session.endpoint.model} at {session.endpoint.base_url}. {HELP}")
    for text in _typed(session):
        try:
            runner.run(session.say(text))
        except KeyboardInterrupt:
            note("\n(stopped; this turn is dropped. Ctrl-C again leaves)")
        except MoonpadError as error:
            print_error(error)


def _typed(session: Session) -> Iterator[str]:
    _tolerate_bytes()
    while True:
        try:
            line = input("> ")
        except (EOFError, KeyboardInterrupt):
            note("")
            return
        if line.strip() == "/quit":
            return
        if not _is_command(line, session):
            yield line


def _answer_lines(runner: asyncio.Runner, session: Session) -> None:
    """A pipe. A failure is reported at once and counted at the end.

    Raises:
        CheckFailed: a message got no answer.
        ContactLost: the endpoint is gone.
    """
    _tolerate_bytes()
    messages = failed = 0
    for line in sys.stdin:
        if line.strip() == "/quit":
            break
        if _is_command(line, session):
            continue
        messages += 1
        try:
            runner.run(session.say(line.rstrip("\n")))
        except ContactLost:
            raise
        except MoonpadError as error:
            failed += 1
            print_error(error)
    if failed:
        raise CheckFailed(f"{failed} of {messages} messages got no answer")


def _is_command(line: str, session: Session) -> bool:
    """Obeys a line that is not a message. One word with one slash in front is a command, known or not."""
    word = line.strip()
    if word == "/reset":
        session.reset()
        note("(conversation cleared)")
    elif word.startswith("/") and word[1:].isalpha():
        note(HELP if word == "/help" else f"{word} is not a command. {HELP}")
    elif word:
        return False
    return True


def _tolerate_bytes() -> None:
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")


@dataclass(slots=True)
class Session:
    """One conversation. A turn enters the history when its answer is complete."""

    endpoint: Endpoint
    options: dict[str, Any]
    system: str | None
    demo_tool: bool
    history: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.history = [{"role": "system", "content": self.system}] if self.system else []

    async def say(self, text: str) -> None:
        """Sends one message and shows what comes, tool calls and their made-up results included.

        Raises:
            CheckFailed: the endpoint refused the request, or its stream broke.
            ContactLost: no answer.
        """
        from moonpad.report.transcript import DEMO_RESULT, assistant_message, tool_message

        messages = [*self.history, {"role": "user", "content": text}]
        for _ in range(MAX_TOOL_ROUNDS):
            answer = await self._answer(messages)
            messages.append(assistant_message(answer))
            if not (self.demo_tool and answer.tool_calls):
                break
            err().print(f"[tool result, made up] {DEMO_RESULT}", style="dim", emoji=False)
            messages += [tool_message(call, DEMO_RESULT) for call in answer.tool_calls]
        self.history = messages

    async def _answer(self, messages: list[dict[str, Any]]) -> Message:
        from moonpad.report.transcript import DEMO_TOOL, call_line, usage_line
        from moonpad.verify.api import Deadlines, connect

        patient = Deadlines(idle_s=600.0, stream_s=3600.0).within(self.endpoint.timeout_s)  # a person has Ctrl-C
        body = {"messages": messages, **self.options, **({"tools": [DEMO_TOOL]} if self.demo_tool else {})}
        started_s = time.monotonic()
        deltas: list[Delta] = []
        screen = Screen()
        try:
            async with connect(self.endpoint, patient) as api, aclosing(api.stream(body)) as events:
                async for event in events:
                    match event:
                        case Reply():
                            raise CheckFailed(f"the endpoint answers {event.because}")
                        case Broken(because):
                            raise CheckFailed(f"the answer was cut off: {because}")
                        case Delta():
                            deltas.append(event)
                            screen.show(event)
        finally:
            screen.end()
        answer = join(deltas)
        for call in answer.tool_calls:
            err().print(call_line(call), style="cyan", emoji=False)
        usage = usage_line(answer, time.monotonic() - started_s, self.options["max_tokens"])
        err().print(usage, style="dim", emoji=False)
        return answer


class Screen:
    """Shows one answer while it comes: reasoning dimmed on stderr, content on stdout, each ended by a newline."""

    def __init__(self) -> None:
        self._pieces = {err(): SafePieces(), out(): SafePieces()}
        self._open: Console | None = None
        """Where a line is not ended yet."""

    def show(self, delta: Delta) -> None:
        self._write(err(), delta.reasoning)
        self._write(out(), delta.content)

    def end(self) -> None:
        for console, pieces in self._pieces.items():
            self._print(console, pieces.flush())
        self._turn_to(None)

    def _write(self, console: Console, text: str) -> None:
        if text and self._open not in (None, console):
            self._print(self._open, self._pieces[self._open].feed(""))
        self._print(console, self._pieces[console].feed(text) if text else "")

    def _print(self, console: Console, text: str) -> None:
        if text:
            self._turn_to(console)
            console.print(text, end="", style="dim" if console is err() else "", emoji=False)

    def _turn_to(self, console: Console | None) -> None:
        if self._open not in (None, console):
            self._open.print()
        self._open = console
