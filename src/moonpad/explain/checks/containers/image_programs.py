"""A command behind an image that starts its program by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines import image_names
from moonpad.engines.image_names import OUTSIDE_PATH
from moonpad.engines.surrounding_names import WITHOUT_SERVER
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import has_started
from moonpad.explain.commands import Script, Word, Wrapper
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.programs import base_name, runs_python, served_by_image
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.shell.container_scripts import is_script, script_behind
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import order, since

_RELEASE: Final = re.compile(
    r"(?::v?\d+\.\d+[\w.-]*|:latest|:(?:\w+-)?nightly[\w.-]*|:server[\w.-]*|/[\w.-]+)$", re.ASCII
)


_COMMAND: Final = "CMD"
_RUNNERS: Final = frozenset({"docker", "podman", "nerdctl", "sudo"})
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})
_MOST: Final = 100
_LONGEST: Final = 1000
_SETS_PATH: Final = re.compile(
    r"\bPATH[\"']?[ \t]*[=:]|\bname:[ \t]*[\"']?PATH\b|\bln[ \t]+-\w*s|/usr/(?:local/)?bin|/app/?:"
)
"""Lines by which a program may be found after all: its folder in PATH, or a link to it."""
_ENTRYPOINT: Final = re.compile(r"entrypoint", re.IGNORECASE)
_WITHOUT_SHELL: Final = re.compile(
    r"[ \t-]*[\"']?(?:services|containers|initContainers|containerDefinitions)[\"']?[ \t]*:"
    r"|[ \t-]*[\"']?container[\"']?[ \t]*:[ \t]*(?:$|[{&#])"
)
"""Lines of Compose, of a pod or of ECS, which hand the words of `command` on; another tool may run them in a shell."""
_FEWEST: Final = 3
"""Options: with fewer, a line without a program is not known as a command again."""
_SERVES: Final = "serve"
"""Without the program, where the image is started as the command that it has by itself."""


def started_twice(case: Case) -> Iterator[Remark]:
    """`vllm serve MODEL` as the arguments of an image whose entrypoint is `vllm serve`: published releases have it. It
    is certain where each tag of the image has that entrypoint."""
    for number, command in enumerate(case.commands):
        for wrapper in command.wrappers:
            image = wrapper.image
            if wrapper.kind != "docker run" or image is None or wrapper.has("--entrypoint"):
                continue
            before = sum(len(each.words) for each in command.wrappers)
            at_once = command.prefix[before:] or command.argv[:1]
            if not command.prefix[before:] and (not at_once or at_once[0].text != _SERVES):
                continue
            is_last = wrapper is command.wrappers[-1]
            if not is_last or not at_once or runs_python(at_once):
                continue
            always = image_names.STARTS_SERVER.fullmatch(image.text) is not None
            if not always and not _RELEASE.search(image.text):
                continue
            if _is_of_another_tool(wrapper, at_once[0], case):
                continue
            behind = command.argv if command.prefix[before:] else command.argv[1:]
            if served_by_image(image.text) != command.program or _is_made(at_once, behind):
                continue
            words = " ".join(word.text for word in at_once)
            message = f"the image starts its server by itself, and {words} would be arguments of it: it refuses them"
            first = command.argv[0].text if command.argv and not command.argv[0].text.startswith("-") else ""
            begins = shortened(first) if first and at_once[0] is not command.argv[0] else "the model"
            remedy = f"leave {words} out, and begin with {begins}"
            severity = Severity.ERROR if always and not has_started(command, by_words=True) else Severity.WARNING
            remark = make_remark(severity, Code.INVALID_VALUE, words, message, remedy, word=at_once[0])
            options = sum(word.text.startswith("-") for word in command.argv)
            own = command.argv[:1] == at_once[:1] and not command.prefix[before:]
            edits = (Edit(0, 1, ()),) if own and options >= _FEWEST else ()
            around = () if own else tuple((word, ()) for word in at_once)
            found = Remark(remark.finding, command=number, word=at_once[0], edits=edits, ends_start=own and not edits)
            yield replace(found, around=around, read_as_meant=bool(around) and severity is Severity.ERROR)


def behind_entrypoint(case: Case) -> Iterator[Remark]:
    """`CMD ["python", "app.py"]` of an image whose entrypoint is a server: a shell or Python, which no server takes."""
    script = case.script
    if not is_first(case.commands, script):
        return
    for command in script.commands[:_MOST]:
        for number, wrapper in enumerate(command.wrappers):
            image = wrapper.image
            if wrapper.kind != "docker run" or image is None or wrapper.has("--entrypoint"):
                continue
            if wrapper.words and base_name(wrapper.words[0]) not in _RUNNERS:
                continue
            inner = command.wrappers[number + 1 : number + 2]
            before = sum(len(each.words) for each in command.wrappers)
            script_word = script_behind(inner[0]) if inner else None
            behind = inner[0].words if inner else (*command.prefix[before:], *command.argv)
            behind = (script_word,) if script_word is not None else behind
            runs = behind and (is_script(behind[0]) or runs_python(behind) or base_name(behind[0]) in _SHELLS)
            if not runs:
                continue
            if not starts_its_server(image.text):
                continue
            first = behind[0]
            if _is_of_another_tool(wrapper, first, case):
                continue
            line = script.lines[first.line - 1].lstrip() if 0 < first.line <= len(script.lines) else ""
            message = (
                f"{script.where(first.line)}: {shortened(image.text, 60)} has an entrypoint, its server, and "
                f"{first.text} with what follows would be arguments of it: it refuses them"
                if not is_script(first)
                else f"{script.where(first.line)}: {shortened(image.text, 60)} has an entrypoint, its server, and "
                f"{first.text} would be an argument of it: it is not run"
            )
            if line.upper().startswith(_COMMAND):
                where, remedy = _COMMAND, f"write ENTRYPOINT [] above {_COMMAND}"
            elif wrapper.words:
                where, remedy = first.text, f"name it in front of the image: --entrypoint {first.text}"
            else:
                where, remedy = first.text, "write it as the entrypoint: `entrypoint` in Compose, `command` in a pod"
            finding = make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy).finding
            yield Remark(finding, command=None, word=first, stops=True)
            return


def starts_its_server(image: str) -> bool:
    """Whether it is a published image whose entrypoint is a server."""
    return _RELEASE.search(image) is not None and served_by_image(image) != ""


def _is_of_another_tool(wrapper: Wrapper, first: Word, case: Case) -> bool:
    return is_of_another_tool(wrapper, first, case.script)


def is_of_another_tool(wrapper: Wrapper, first: Word, script: Script) -> bool:
    """Whether the words are of a file that neither Docker nor Kubernetes reads, as the values of a chart: what makes of
    them may run them in a shell, or instead of the entrypoint."""
    lines = script.lines
    line = lines[first.line - 1].lstrip() if 0 < first.line <= len(lines) else ""
    if wrapper.words or line.upper().startswith(_COMMAND):
        return False
    script.budget.work(len(lines), "its containers")
    return not is_in_lines(_WITHOUT_SHELL, lines, _LONGEST)


def options_without_program(case: Case) -> Iterator[Remark]:
    """`docker run IMAGE --model-path …` of an image that starts no server by itself: the option is run as a program."""
    for number, command in enumerate(case.commands):
        wrapper = command.wrappers[-1] if command.wrappers else None
        if wrapper is None or wrapper.kind != "docker run" or wrapper.image is None or wrapper.has("--entrypoint"):
            continue
        before = sum(len(each.words) for each in command.wrappers)
        first = next(iter((*command.prefix[before:], *command.argv)), None)
        if first is None or not first.text.startswith("--") or first.unresolved or command.custom or command.more:
            continue
        images, program = image_names.WITHOUT_PROGRAM.get(case.engine.name, (WITHOUT_SERVER, ""))
        without = any(each.fullmatch(wrapper.image.text) for each in (images, WITHOUT_SERVER))
        if not without or _is_made((first,), command.argv[1:]) or _is_of_another_tool(wrapper, first, case):
            continue
        lines = case.script.lines
        case.script.budget.work(len(lines), "its containers")
        if any(_ENTRYPOINT.search(line[:_LONGEST]) for line in lines):
            continue
        message = (
            f"{shortened(wrapper.image.text, 60)} starts no server by itself: {first.text} is run as a program, and "
            "the container ends"
        )
        remedy = f"write {program or 'the program'} in front of it"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, first.text, message, remedy, word=first)
        yield Remark(remark.finding, command=number, word=first)


def outside_path(case: Case) -> Iterator[Remark]:
    """`llama-server …` by its bare name, in a shell or as the entrypoint, where the image has it in /app alone, or
    `vllm serve …`, where it is in an environment of its own."""
    for number, command in enumerate(case.commands):
        container, written = command.container, [word for word in command.prefix[-2:] if word.text in OUTSIDE_PATH]
        at_home = OUTSIDE_PATH.get(written[0].text) if written else None
        if at_home is None or container is None or container.kind != "docker run" or container.image is None:
            continue
        images, folder = at_home
        if not images.fullmatch(container.image.text) or not container.has("--entrypoint"):
            continue
        case.script.budget.work(len(case.script.lines), "its containers")
        if any(_SETS_PATH.search(line[:_LONGEST]) for line in case.script.lines):
            continue
        name = written[0].text
        message = f"{shortened(container.image.text, 60)} has {name} in {folder}, which is not in its PATH: "
        message += f"{name} is not found, and the container ends"
        remark = make_remark(
            Severity.WARNING, Code.INVALID_VALUE, name, message, f"write {folder}/{name}", word=written[0]
        )
        yield Remark(remark.finding, command=number, word=written[0])


def sound_without_libraries(case: Case) -> Iterator[Remark]:
    """A model that hears, in an official image that does not bring what reads sound."""
    first, last = image_names.WITHOUT_AUDIO_IN
    version = case.base_version
    if not version or not since(version, first) or order(version) > order(last):
        return
    if case.first.model is None or not image_names.HEARING_MODELS.search(case.first.model):
        return
    lines = [line[:_LONGEST] for line in case.script.lines]
    case.script.budget.work(2 * len(lines), "its containers")
    image = next((match[0] for line in lines if (match := image_names.WITHOUT_AUDIO.search(line))), "")
    if not image or any(image_names.ADDS_AUDIO.search(line) for line in lines):
        return
    message = (
        f"{shortened(image, 60)} has no libraries that read sound: the server starts, and each request with sound "
    )
    message += "ends in an ImportError"
    remedy = "install librosa and soundfile in an image of your own"
    yield make_remark(Severity.WARNING, Code.CONFLICT, image, message, remedy)


def _is_made(program: Sequence[Word], arguments: Sequence[Word]) -> bool:
    """Whether the program's words are not in the text: a chart makes the command of its keys. The words of a text that
    YAML folds have one place."""
    if arguments and arguments[0].pieces and not any(word.pieces for word in program):
        return True  # the name of the model alone is in the text
    places = [(word.line, word.column) for word in (*program, *arguments)]
    return len(set(places[: len(program) + 1])) <= len(program) and len(set(places)) > 1
