"""Scripts and programs of others that start an engine, where a text shows only how they are called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.engines.start_names import ENGINES_BY_WORD, LAUNCHERS_OF_ENGINES, STARTING_SCRIPT
from moonpad.explain.commands import Command, Script
from moonpad.explain.programs import base_name
from moonpad.explain.results import shortened

_BEFORE: Final = frozenset({"exec", "nohup", "sudo", "env", "time", "bash", "sh", "zsh", "source", ".", "setsid"})
_SCRIPT: Final = re.compile(r"[\w./~${}-]{1,200}\.(?:sh|bash)|(?:[\w.~${}-]{0,60}/)+(?:docker-)?entrypoint", re.ASCII)
_NO_START: Final = re.compile(
    r"(?:^|[-_.])(?:stop|verify|check|test\w*|bench\w*|eval\w*|install|build|setup|prep\w*|download|clean\w*|assert|client"
    r"|proxy|ray|train\w*|convert|quantize|docker[-_]?pull)(?=$|[-_.])",
    re.IGNORECASE,
)
_ENGINE: Final = ("--model-engine", "--infer_backend", "--infer-backend", "--backend", "-en")
_MODEL: Final = ("--model-name", "--model", "--model_name", "--model_id", "--model_name_or_path", "-n")
_SAID: Final[Mapping[str, str]] = {
    "--n-gpu": "{} devices",
    "--model-format": "format {}",
    "--quantization": "quantization {}",
    "--replica": "{} replicas",
}
_MOST: Final = 3


def handed_on(script: Script) -> tuple[str, str] | None:
    """What is called, and a remedy; None where nothing of the kind is."""
    for command in script.commands:
        if (told := _launcher(command, script)) is not None:
            return told
    called: dict[str, int] = {}
    for command in script.commands:
        if name := _script(command):
            called.setdefault(name, command.line)
    if not called:
        return None
    names = list(called)[:_MOST]
    first, *others = names
    all_named = " and ".join(shortened(name, 80) for name in names)
    return (
        f"{script.where(called[first])} runs {all_named}, which {'are' if others else 'is'} not at hand: what "
        f"{'they start' if others else 'it starts'} is not said",
        f"add the script with one more --file ({shortened(_last_of(first), 60)}), or put the command that it runs "
        "behind --",
    )


def _last_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _script(command: Command) -> str:
    """The script that a command calls, by whose name a server is started; "" for others."""
    words = [word.text for word in command.words]
    while words and (words[0] in _BEFORE or words[0].startswith("-")):
        del words[0]
    if not words or not _SCRIPT.fullmatch(words[0]):
        return ""
    name = _last_of(words[0])
    return words[0] if STARTING_SCRIPT.search(name) and not _NO_START.search(name) else ""


def _launcher(command: Command, script: Script) -> tuple[str, str] | None:
    """A program that starts engines by itself: `xinference launch --model-engine vllm`."""
    words = [word.text for word in command.words]
    title = next((LAUNCHERS_OF_ENGINES[name] for name in _names(command, words) if name in LAUNCHERS_OF_ENGINES), "")
    if not title:
        return None
    given = dict(_pairs(words))
    engine = next((given[name] for name in _ENGINE if given.get(name)), "")
    model = next((given[name] for name in _MODEL if given.get(name)), "")
    by = ENGINES_BY_WORD.get(engine.casefold(), "" if not engine or "$" in engine else engine)
    what = f"{shortened(model, 80)} by {by}" if model and by else shortened(model, 80) or by or "an engine"
    said = [
        form.format(shortened(given[name], 20))
        for name, form in _SAID.items()
        if given.get(name) and "$" not in given[name]
    ]
    known = f" ({', '.join(said)})" if said else ""
    return (
        f"{script.where(command.line)} lets {title} start {what}{known}: {title} chooses the options of the engine by "
        "itself, and its own are not recorded",
        f"put the command or the arguments that {title} logs behind --",
    )


def _names(command: Command, words: Sequence[str]) -> Sequence[str]:
    plain = [base_name(word) for word in command.words[:1]] + list(words[1:2])
    return " ".join(plain), plain[0] if plain else ""


def _pairs(words: Sequence[str]) -> Sequence[tuple[str, str]]:
    found = []
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name.startswith("-"):
            behind = words[number + 1] if number + 1 < len(words) else ""
            found.append((name, value if equals else "" if behind.startswith("-") else behind))
    return found
