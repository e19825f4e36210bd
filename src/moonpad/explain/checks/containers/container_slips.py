"""What a container is given and does not take, or not as it was meant: the image of another engine, shared memory in
bytes, devices with a bare comma, and shells that do not run what stands behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import image_names
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command, Script, Word
from moonpad.explain.programs import base_name, program_table
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

_GPUS: Final = "--gpus"
_SIZE: Final = re.compile(r"\d+(?:\.\d+)*[ ]?(?:[kmgtp])?i?b?", re.IGNORECASE | re.ASCII)
"""As Docker reads a size: its docker/go-units, RAMInBytes."""
_SMALLEST: Final = 1 << 20
_TAG: Final = re.compile(r":v?(\d+\.\d+[\w.]*)")
_SEVERAL: Final = re.compile(r"device=[\w-]+(?:,[\w-]+)+", re.ASCII)
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})
_PYTHON: Final = r"python[\d.]*"
_MOST: Final = 100
_LONGEST: Final = 2000


def image_of_another(case: Case) -> Iterator[Remark]:
    """The server of one engine in the published image of another, where nothing installs it."""
    command = case.commands[0]
    container = command.container
    image = container.image if container is not None else None
    if image is None or image.unresolved or case.engine.name not in image_names.ENGINES_OF_IMAGES:
        return
    own = next((name for pattern, name in image_names.OF_ENGINE if pattern.fullmatch(image.text)), "")
    if own in ("", case.engine.name) or ((case.engine.name, own) == image_names.ALSO_BROUGHT and _is_old(image.text)):
        return
    case.script.budget.work(len(case.script.lines), "its containers")
    adds = re.compile(rf"(?:install|clone|wheel|COPY|ADD)\b.*{image_names.ENGINES_OF_IMAGES[case.engine.name]}", re.I)
    if any(adds.search(line[:_LONGEST]) for line in case.script.lines):
        return
    message = (
        f"{shortened(image.text, 70)} brings {_title(own)} and not {_title(case.engine.name)}: the program is not found"
    )
    remedy = f"take an image of {_title(case.engine.name)}, or start {_title(own)}"
    yield make_remark(Severity.WARNING, Code.CONFLICT, "image", message, remedy, word=image)


def memory_in_bytes(case: Case) -> Iterator[Remark]:
    """`--shm-size 32`: a number without a unit counts bytes."""
    container = case.commands[0].container
    given = container.given("--shm-size") if container is not None and container.kind == "docker run" else []
    value = (given[-1].value or "").strip("'\"") if given else ""
    if not value or unresolved(value) or container is None:
        return
    word = given[-1].words[-1] if given[-1].words else None
    number = whole(value)
    if number is not None and 0 < number < _SMALLEST and container.value("--ipc") != "host":
        message = (
            f"{value} without a unit is {value} bytes: the ranks find no room in /dev/shm (No space left on device)"
        )
        remedy = f"write {value}g"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "--shm-size", message, remedy, word=word)
    elif container.words and value[0].isdigit() and not _SIZE.fullmatch(value):
        message = f"{shortened(value, 20)} is not a size as Docker reads it (invalid size): a number with k, m, g or t"
        remedy = "write 16g, or what is meant"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "--shm-size", message, remedy, word=word)


def devices_with_comma(case: Case) -> Iterator[Remark]:
    """`--gpus device=0,1` without quotes that reach Docker, which takes the comma for the next setting."""
    container = case.commands[0].container
    given = container.given("--gpus") if container is not None and container.kind == "docker run" else []
    if container is None or not given or not any(base_name(word) == "docker" for word in container.words[:3]):
        return
    value = given[-1].value or ""
    if not _SEVERAL.fullmatch(value):
        return
    message = "Docker parts this at its commas, and takes what follows the first one for a number of devices: the "
    message += "container is not started (cannot set both Count and DeviceIDs on device request)"
    word = given[-1].words[-1] if given[-1].words else None
    remedy = f"""write {_GPUS} '"{shortened(value, 60)}"', with both kinds of quotes"""
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, _GPUS, message, remedy, word=word)
    whole = f'"{value}"' if word is not None and word.text == value else f'{_GPUS}="{value}"'
    yield replace(remark, around=((word, (whole,)),)) if word is not None else remark


def shell_without_text(case: Case) -> Iterator[Remark]:
    """`sh python3 …` reads python3 as a script, and `bash -c python3 -m …` runs python3 alone."""
    script = case.script
    if not is_first(case.commands, script):
        return
    if (of_container := next(shells_of_containers(script), None)) is not None:
        yield of_container
        return
    first = "|".join(map(re.escape, sorted(program_table().first_words - {"docker"})))
    program = rf"(?:{_PYTHON}|{first})"
    shells = r"(?<![\w'\"-])(?:/(?:usr/)?bin/)?(?:ba|z)?sh"
    plain = re.compile(rf"{shells}[ \t]+-[il]?c[ \t]+({program})[ \t]+[\w./-]")
    quote, folder = r"[\"']?", r"(?:/(?:usr/)?bin/)?"
    listed = rf"[\[,][ \t]*{quote}{folder}(?:ba|z)?sh{quote},[ \t]*{quote}-[il]?c{quote},[ \t]*"
    in_list = re.compile(rf"{listed}{quote}({program}){quote}[ \t]*,")
    script.budget.work(2 * len(script.lines), "its shells")
    for number, line in enumerate(script.lines, 1):
        text = line[:_LONGEST]
        match = (plain.search(text) or in_list.search(text)) if "c" in text and "sh" in text else None
        if match is None or text.lstrip().startswith("#") or (script.markdown and "`" in text):
            continue
        message = (
            f"{script.where(number)}: the shell runs the one text behind -c, which is {match[1]} here: what follows "
        )
        message += "is not part of it"
        remark = make_remark(
            Severity.WARNING, Code.INVALID_VALUE, "-c", message, "put the whole command into one pair of quotes"
        )
        yield Remark(remark.finding, command=None)
        return


def shells_of_containers(script: Script) -> Iterator[Remark]:
    """Those that are given a program for the file of a script."""
    for command in script.commands[:_MOST]:
        if (found := _behind_shell(command)) is not None:
            shell, word = found
            message = (
                f"{script.where(word.line)}: {shell.text} without -c reads {shortened(word.text, 40)} as the file of a "
            )
            message += "script: no such file, or a program that it cannot read"
            remedy = f"write {shell.text} -c with the whole command as one text, or leave {shell.text} out"
            if base_name(word) in _SHELLS:
                remedy = f"leave {word.text} out: {shell.text} is the entrypoint already"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, shell.text, message, remedy, word=word)
            yield Remark(remark.finding, command=None)


def _behind_shell(command: Command) -> tuple[Word, Word] | None:
    """A shell that is the program of a container, and the program that it is given for a script."""
    if command.container is None or len(command.argv) < 2 or command.wrappers[-1] is not command.container:
        return None
    shell, word = command.argv[:2]
    if base_name(shell) not in _SHELLS or word.unresolved or word.text.startswith("-"):
        return None
    first = word.text.split(" ", 1)[0]
    known = re.fullmatch(_PYTHON, first) is not None or first in program_table().first_words
    known = known or (base_name(word) in _SHELLS and len(command.argv) > 2 and command.argv[2].text.startswith("-"))
    return (shell, word) if known else None


def _is_old(image: str) -> bool:
    """Whether it may be of a time when it brought the other engine too."""
    tag = _TAG.search(image)
    return tag is None or not since(tag[1], image_names.ALSO_BROUGHT_BEFORE) or "rocm" in image


def _title(engine: str) -> str:
    return image_names.TITLES[engine]


CONTAINER_SLIPS: Final = (image_of_another, memory_in_bytes, devices_with_comma, shell_without_text)
