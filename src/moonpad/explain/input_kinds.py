"""Which kind of file a text is, and its reader: what is none of the others is a shell's."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.engines.log_lines import end_without_log, without
from moonpad.explain.commands import HereFile, Word
from moonpad.explain.documents.catalogues import read_catalogue
from moonpad.explain.documents.dockerfile import end_of_dockerfile, is_dockerfile, read_dockerfile
from moonpad.explain.documents.hcl import is_hcl, read_containers, scripts_of
from moonpad.explain.documents.makefile import is_makefile, read_makefile
from moonpad.explain.documents.pm2_apps import is_of_pm2, read_apps
from moonpad.explain.documents.source_strings import is_source, read_strings
from moonpad.explain.documents.supervisor_programs import is_of_supervisor, read_programs
from moonpad.explain.documents.systemd_unit import is_unit, read_unit, writes_units
from moonpad.explain.manifests.pod_description import is_pod_description, read_pod_description
from moonpad.explain.python.signs import is_python
from moonpad.explain.shell.env_files import DEFAULT
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.shell.terminal_session import without_prompts
from moonpad.explain.source_text import Source

_FIRST_KEY: Final = re.compile(
    r"""(?:[ \t]*(?:\#.*)?\n|---.*\n|%.*\n|[<]{7}.*\n|\{\{.*\}\}.*\n)*"""
    r"""[ \t]*(?:- )?["']?\$?[A-Za-z_][\w./-]*["']?[ ]*:(?:\s|$)"""
)
"""Files for compose and Kubernetes are YAML with a key in its first line."""
_LED: Final = re.compile(
    r"(?!#!)(?:(?!apiVersion:)(?![^\n]*(?:<<|`))[^\n]{0,300}\n){1,12}(?=apiVersion:[ ]\S[^\n]*\nkind:[ ]\S)"
)
"""Lines of a log above what a cluster has printed of an object: when it was, and what was asked."""
_LED_SERVICES: Final = re.compile(
    r"(?![#$ \t]|[\w./-]+:[ \t]*(?:\n|\[|\{))(?:(?![^\n]*(?:<<|`))[^\n]{0,1000}\n){1,40}?"
    r"(?=services:[ \t]*\n[ ]{1,8}[\w.-]+:[ \t]*\n)"
)
"""What a person writes above the services of Compose."""
_DOT_ENV: Final = re.compile(
    r"^[ \t#$*`]*(?:cat[ \t]+)?(?:\./)?\.env[ \t]*:?[*`]*[ \t]*\n(?:[ \t]*\n)?"
    r"(?P<text>(?:[A-Za-z_]\w*=[^\n]*\n|#[^\n]*\n)+)",
    re.MULTILINE,
)
_CONFIG_MAP: Final = re.compile(
    r"""["']?kind["']?:[ \t]*["']?(?:ConfigMap|Secret)\b|^(?:configMap|secret)Generator:""", re.MULTILINE
)
_NO_SCRIPT: Final = (".md", ".json", ".py")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""Half of a character in JSON, `\\ud83d\\ude80`, which YAML does not take."""
_BLANK: Final = r"\\u0020"
_JSON: Final = re.compile(r"\s*[\[{]\s*(?:[\[{\"\]}]|$)")


def is_program(text: str) -> bool:
    """A program in Python, whose texts may hold Markdown, or a notebook of Jupyter, whose cells may."""
    return _is_parsed(text) or (text.lstrip(" \t\n")[:1] == "{" and '"nbformat"' in text and '"cells"' in text)


_MANIFEST: Final = re.compile(
    r"(?:[ \t]*(?:#[^\n]*|---[ \t]*)?\n){0,40}"
    r"(?:apiVersion:[ ]\S+[ \t]*\nkind:[ ]\S|kind:[ ]\S+[ \t]*\napiVersion:[ ]\S"
    r"|services:[ \t]*\n[ ]{1,8}[\w.-]+:[ \t]*\n"
    r"|[A-Za-z][\w.-]*:[ \t]*\n[ ]{1,8}(?:-[ ])?[A-Za-z][\w.-]*:(?:[ \t]|\n))"  # of Helm
)


def is_file(text: str) -> bool:
    """Whether a block is none of the shell's, whatever language it names: manifests stand in fences of `shell` too."""
    return (
        is_unit(text)
        or is_of_supervisor(text)
        or is_dockerfile(text)
        or is_program(text)
        or _MANIFEST.match(text) is not None
    )


_OBJECT: Final = ("apiVersion:", "#")
"""How an object begins that stands in another one, moved in as a whole."""


def _is_parsed(text: str) -> bool:
    if not is_python(text):
        return False
    from moonpad.explain.python.text import parsed  # with all that reads Python

    return parsed(text) is not None


_RUNS: Final = (
    rf"(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*(?:{SPEAKING.pattern}"
    r"|(?:curl|docker|podman|export|ray[ ]+start|python3?[ ]+-m)[ \t])"
)
_LABELLED: Final = re.compile(rf"\s*[A-Z][\w ()-]{{0,40}}:[ \t]*\n[ \t]*\n(?: {{4,}}|\t)(?:\$[ ])?{_RUNS}")
"""`Start:`, an empty line and a command that is set off by blanks: a post, and no YAML."""
_LABEL_LINE: Final = re.compile(rf"(?P<label>[A-Za-z][\w-]{{0,30}}):[ \t]+(?:\$[ ])?{_RUNS}")
_FEW: Final = 40


def _is_post(text: str) -> bool:
    """Whether its labels stand before commands: also `Node1: ray start …` on each line, one of them twice."""
    if _LABELLED.match(text):
        return True
    lines = [line for line in text[:8000].split("\n") if line.strip()]
    labels = [match["label"] for line in lines[:_FEW] if (match := _LABEL_LINE.match(line))]
    return 1 < len(labels) == len(lines[:_FEW]) and len({*labels}) < len(labels)


def read_kind(text: str, start: int, state: ScriptState) -> bool:
    """Reads a file that describes what is started, which begins at the offset `start` of the whole text.

    False where it is none: a script then.
    """
    if is_dockerfile(text):
        ends = end_of_dockerfile(text)
        read_dockerfile(text[:ends], start, state)
        if (rest := text[ends:]).strip() and not read_kind(rest, start + ends, state):
            Shell(state, Source.block(state.text, start + ends, without_prompts(rest))).read()
        return True
    if is_makefile(text):
        read_makefile(text, start, state)
        return True
    if is_unit(text):
        before = len(state.commands)
        read_unit(text, start, state)
        started = any(command.program not in ("other", "docker") for command in state.commands[before:])
        # Where a script writes the unit of another program, or of a container, the rest of it may start the engine.
        if started or not writes_units(text):
            return True
    if is_pod_description(text):
        read_pod_description(text, start, state)
        return True
    if is_python(text):
        from moonpad.explain.python.text import read_python

        if read_python(text, start, state):
            return True
    if is_hcl(text) and _read_hcl(text, start, state):
        return True
    if is_of_supervisor(text) and read_programs(text, start, state):
        return True
    if is_of_pm2(text) and read_apps(text, start, state):
        return True
    if is_source(text) and not _is_parsed(text) and read_strings(text, start, state):
        return True
    if _JSON.match(text) and read_catalogue(text, start, state):
        return True
    if (_FIRST_KEY.match(text) and not _is_post(text)) or _JSON.match(text):
        from moonpad.explain.manifests.manifest_reader import read_manifest  # it needs PyYAML

        return read_manifest(_SURROGATE.sub(_BLANK, _without_log(text)), start, state)
    services = _LED_SERVICES.match(text)
    if led := _LED.match(text) or (services if services and not SPEAKING.search(services[0]) else None):
        _keep_variables(led[0], start, state)
        return read_kind(text[led.end() :], start + led.end(), state)
    return False


def _keep_variables(above: str, start: int, state: ScriptState) -> None:
    """The file .env that a person shows above the services, by its name on a line of its own."""
    shown = _DOT_ENV.search(above)
    if shown is not None and DEFAULT not in state.files:
        line = state.text.clean.count("\n", 0, start + shown.start("text")) + 1
        state.files[DEFAULT] = HereFile(DEFAULT, shown["text"], line)


def _without_log(text: str) -> str:
    """Blank where a log, or what a cluster printed of the object, was pasted below it."""
    lines = text.split("\n")
    return without(lines, range(end_without_log(lines), len(lines)), {})


def _read_hcl(text: str, start: int, state: ScriptState) -> bool:
    """False where neither a script nor a container in it starts anything that is known."""
    before = len(state.commands)
    for word in scripts_of(text, start, state):
        read_word(word, state)
    started = any(command.program != "other" for command in state.commands[before:])
    return read_containers(text, start, state) or started


def gather_config_maps(text: str, start: int, state: ScriptState) -> None:
    """What the ConfigMaps in a text hold, before what uses them is read."""
    if _CONFIG_MAP.search(text):
        from moonpad.explain.manifests.config_maps import gather

        gather(text, start, state)


def read_word(word: Word, state: ScriptState) -> None:
    """A file that stands in another: what a ConfigMap holds, or a heredoc writes; there with its variables as they are
    written, where it is no script."""
    exact = len(word.pieces) == 1 and word.pieces[0].exact
    start = word.pieces[0].source_start if word.pieces else 0
    text = word.text if exact else state.text.clean[start : word.pieces[-1].source_end] if word.pieces else ""
    line_start = state.text.clean.rfind("\n", 0, start) + 1
    if not exact and word.text.startswith(_OBJECT) and not state.text.clean[line_start:start].strip():
        text, start = f"{state.text.clean[line_start:start]}{text}", line_start
    if text and read_kind(text, start, state):
        return
    Shell(state, Source.inside(word, state.text)).read()


def read_unused_scripts(state: ScriptState) -> None:
    """Those of ConfigMaps that no command of the text runs."""
    for name, word in list(state.scripts.items()):
        if name in state.ran_scripts or word.text.lstrip()[:1] in ("{", "[") or name.endswith(_NO_SCRIPT):
            continue
        state.ran_scripts.add(name)
        read_word(word, state)
    for name, word in list(state.programs.items()):
        if name not in state.ran_scripts:
            from moonpad.explain.python.programs import read_code  # with all that reads Python

            state.ran_scripts.add(name)
            read_code(word, state)
