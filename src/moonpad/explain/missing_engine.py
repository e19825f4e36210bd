"""What is said of a text in which no command of an engine was found."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.foreign_names import MENTION, OTHER_ENGINES
from moonpad.engines.start_names import HIDDEN_PROGRAM, READ
from moonpad.explain.checks.containers.image_programs import is_of_another_tool, starts_its_server
from moonpad.explain.commands import Command, Script, Word, Wrapper
from moonpad.explain.handed_on_starts import handed_on
from moonpad.explain.image_servers import is_bare_server, served_alone
from moonpad.explain.programs import base_name, is_waiting
from moonpad.explain.results import shortened
from moonpad.explain.shell.container_scripts import is_script
from moonpad.explain.solved_failures import solved_failures

_LONGEST: Final = 2000
_OPTIONS_BEHIND: Final = 3
"""Words of a command that is more than a name."""
_CLIENT: Final = re.compile(r"bench(?:mark)?_serving\w*\.py")
"""Programs that measure a server which runs already."""
_BEFORE: Final = frozenset({"exec", "nohup", "sudo", "env", "time"})


def missing_engine(script: Script) -> tuple[str, str]:
    """What it starts instead, or what is not at hand, and a remedy."""
    for command in script.commands:
        if (told := _another(command, script)) is not None:
            return told
    for command in script.commands:
        if is_waiting(command):
            return (
                f"{script.where(command.line)}: the container only waits; what is started in it later is not said",
                "add the script that is run in it with one more --file, or put that command behind --",
            )
    for command in script.commands:
        container = command.container
        if container is not None and container.image is not None and command.program == "docker":
            if (unread := _unread_script(command, container, container.image, script)) is not None:
                return unread
            if is_bare_server(command) and not is_of_another_tool(container, container.image, script):
                alone = served_alone(container.image.text)
                return (
                    f"{script.where(command.line)} starts the server of {container.image.text} without a model: "
                    f"then it serves {alone}",
                    "add the model, and what else it needs, behind the image: --model MODEL",
                )
            return (
                f"{script.where(command.line)} starts {container.image.text}; what that image runs is not said",
                "add the Dockerfile or the script that it starts with one more --file",
            )
    for command in script.commands:
        own = next((word for word in command.words[:3] if base_name(word).endswith((".py", ".sh"))), None)
        if own is None or _CLIENT.fullmatch(base_name(own)):
            continue
        if any(word.text.startswith("--") for word in command.words):
            return (
                f"{script.where(command.line)} runs {own.text}, which is not at hand: the engine is not known",
                f"add it with --file {own.text}, or put the command that it runs behind --",
            )
    if any(MENTION.search(line[:_LONGEST]) for line in script.lines):
        for command in script.commands:
            if hidden := _hidden(command):
                return (
                    f"{script.where(command.line)} starts {hidden}, which the text does not say in full",
                    "put the command that it runs behind --",
                )
    if (elsewhere := handed_on(script)) is not None:
        return f"{elsewhere[0]}{solved_failures(script)}", elsewhere[1]
    count = len(script.lines)
    lines = f"none of its {count:,} lines holds" if count > 1 else "its line does not hold"
    what = f"it starts no engine that moonpad knows: {lines} a command of one{solved_failures(script)}"
    return what, "moonpad explain --file SCRIPT, or put the command behind --"


def _unread_script(command: Command, container: Wrapper, image: Word, script: Script) -> tuple[str, str] | None:
    """A script behind an image that starts its server by itself."""
    first = next(iter(command.argv), None)
    if first is None or not is_script(first) or container.has("--entrypoint") or not starts_its_server(image.text):
        return None
    if is_of_another_tool(container, first, script):
        return None
    return (
        f"{script.where(first.line)}: {shortened(image.text, 60)} has an entrypoint, its server, and {first.text} "
        "would be an argument of it: it is not run, and what it starts is not at hand",
        f"make {first.text} the entrypoint, and add it with one more --file",
    )


def _another(command: Command, script: Script) -> tuple[str, str] | None:
    """An engine whose options are its own."""
    name = next((word.text for word in command.words[:6] if OTHER_ENGINES.fullmatch(word.text)), None)
    if name is None or not any(word.text.startswith("--") for word in command.words):
        return None
    return (
        f"{script.where(command.line)} starts {name}, an engine of its own: its options are not recorded",
        READ,
    )


def _hidden(command: Command) -> str:
    if len(command.words) < _OPTIONS_BEHIND:
        return ""
    for word in command.words[:4]:
        if HIDDEN_PROGRAM.fullmatch(word.text):
            return word.text
        if not word.text.startswith("$") and word.text not in _BEFORE:
            return ""
    return ""
