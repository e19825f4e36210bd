"""Variables that do not reach the engine, or not as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moonpad.catalog.options import ever_known_environment
from moonpad.engines.foreign_names import OF_LIBRARIES, OWN_VARIABLES, VARIABLES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import block_of, is_first, numbered, span_of
from moonpad.values.finding import Code, Finding, Severity

_SHOWN: Final = 4
_INDENTED: Final = 200
_LONGEST: Final = 2000
_ASSIGNED: Final = r"(?:[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s;&|<>()\"'`]*)(?:[ \t]+|(?=[\\\s]|\Z)))"
_ONLY_ASSIGNED: Final = re.compile(rf"[ \t]*{_ASSIGNED}{{1,40}}(?:\\|[ \t]#.*)?[ \t]*")
_OPENS_ARRAY: Final = re.compile(r"[A-Za-z_]\w*\+?=\([^)]*$")
"""`env_args=(`, whose members look like assignments."""
_TORN: Final = re.compile(r"[\w./:-]+[ \t]+[A-Za-z_]\w*=\S")
"""The rest of a value that a line break tore apart, with more assignments behind it: said of that line."""
_NAME: Final = re.compile(r"(?<![\w\"'$-])([A-Za-z_]\w*)=")
_IN_QUOTES: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_EXPORTS: Final = re.compile(r"\bset[ \t]+-[a-z]*a|allexport|^[ \t]*(?:import|from|def)[ \t]+\w", re.MULTILINE)
_UNIT_FILE: Final = re.compile(r"[ \t]*EnvironmentFile=-?[\"']?(?P<path>[^\s\"']+)|--env-file[= ](?P<other>[^\s\"']+)")
_WITH_COMMENT: Final = re.compile(r"[ \t]*(?P<name>[A-Za-z_]\w*)=(?P<value>[^\s\"'#][^\"'#\n]*?)(?P<rest>[ \t]+#.*)")
_DOCKER_RUN: Final = re.compile(r"\bdocker[ \t]+(?:run|exec|create)\b")
_NEAR: Final = 40
_OF_FILE: Final = re.compile(r"[ \t]*(?:[A-Za-z_]\w*=.*|[#;].*|`{3}.*|~{3}.*)?")
_OPEN_MPI: Final = frozenset({"-x", "-mca", "--mca", "--allow-run-as-root", "--map-by", "--hostfile", "-hostfile"})
_OVER_HOSTS: Final = frozenset({"--hostfile", "-hostfile", "--machinefile", "-machinefile"})
_OPEN_LIST: Final = re.compile(r"\$\{?[A-Za-z_]\w*(?:\[[@*]\])?\}?|\$\(.*\)", re.DOTALL)
"""A whole word that is not known: it may be a list of `-x`."""
_HANDED_ON: Final = re.compile(r"POD_|OMPI_|PMIX_|PRTE_|PATH$|LD_LIBRARY_PATH$|HOME$|PWD$|USER$|SLURM_")
_DIRECTIVE: Final = re.compile(r"[ \t]*#SBATCH[ \t]+(?P<option>--?[A-Za-z-]+)[^#]*?(?P<name>\$\{?[A-Za-z_]\w*\}?)")
_HEADER: Final = re.compile(r"[ \t]*(?:#.*)?$")
_FENCE: Final = re.compile(r"[ \t]*(?:`{3}|~{3})")
_OF_SCRIPT: Final = re.compile(r"\w+_(?:INDEX(?:_URL)?|URL|VER(?:SION)?|TAG|WHEELS?|REPO|IMAGE|MODEL)")
"""What a script downloads or starts, not how a library works: `TORCH_INDEX`, `CUDA_VER`."""
_CONTENT: Final = re.compile(
    r"\b(?:env(?:ironment)?|variables)[ -]file\b|\bfile of (?:the )?variables\b", re.IGNORECASE
)
"""Words above assignments that are the content of a file."""
_NO_CARET: Final = ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")


def not_exported(case: Case) -> Iterator[Remark]:
    """Assignments on lines of their own, which no process gets."""
    script, line = case.script, case.commands[0].line
    if is_fragment(case.commands[0]):
        return  # what sets them and the options is read by a script that starts the server
    start, end = block_of(case.commands, script)
    if any(low <= line <= high for low, high in script.objects):
        start = max(start, _scalar_of(script.lines, line))
    lines = list(numbered(script, start, end))
    text = "\n".join(text for _, text in lines)
    if _EXPORTS.search(text) or _is_file_of_unit(script.lines, lines):
        return
    reached = {name for command in case.commands for name in command.env}
    lost: dict[str, int] = {}
    open_names: dict[str, int] = {}  # on lines that go on: of the command behind them, if there is one
    continued = in_array = False
    for number, written in lines:
        in_array = not written.strip().endswith(")") if in_array else _OPENS_ARRAY.search(written) is not None
        alone = _ONLY_ASSIGNED.fullmatch(written) is not None and not continued and not in_array
        continued = written.rstrip().endswith("\\") and not alone
        goes_on = alone and written.rstrip().endswith("\\")
        broken = number == line - 1 and _TORN.match(script.lines[number]) is not None
        if alone and number < line and not broken:
            open_names |= dict.fromkeys(_NAME.findall(_IN_QUOTES.sub('""', written)), number)
        if not goes_on:
            for name, at in open_names.items() if alone else ():
                lost.setdefault(name, at)
            open_names = {}
    names = [
        name
        for name in lost
        if (VARIABLES.fullmatch(name) or OF_LIBRARIES.fullmatch(name))
        and name not in reached
        and _is_declared(case, name)
        and not re.search(rf"\$\{{?{name}\b|\b(?:export|-x)[ \t][^\n]*\b{name}\b|-e[ \t]+{name}\b", text)
        and not _is_used_below(name, end, script)
    ]
    if names:
        first = lost[names[0]]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        verb, them = ("are", "them") if len(names) > 1 else ("is", "it")
        listed = f"{', '.join(names[:_SHOWN])}{more}"
        message = f"{listed} {verb} set without export ({script.where(first)}): the server does not see {them}"
        finding = Finding(Severity.WARNING, Code.DEAD_ENV, names[0], message, "put export in front of each")
        sets = tuple(_values(names, text))
        numbers = range(len(case.commands)) if len(sets) == len(names) else ()
        yield Remark(finding, command=0 if numbers else None, sets=sets if numbers else ())
        yield from (Remark(finding, command=number, sets=sets) for number in numbers[1:])


def _is_file_of_unit(all_lines: Sequence[str], lines: Sequence[tuple[int, str]]) -> bool:
    """Whether the assignments are those of a file which its unit or its container reads: a line above them names it,
    `# /etc/kimi.env`, and another one has it read."""
    read = {
        (match["path"] or match["other"]).rpartition("/")[2]
        for text in all_lines
        if len(text) < _LONGEST and (match := _UNIT_FILE.search(text)) is not None
    }
    for at, (_, text) in enumerate(lines):
        if _ONLY_ASSIGNED.fullmatch(text):
            above = [each for _, each in lines[max(0, at - 2) : at]]
            shown = (each for each in above if not _UNIT_FILE.search(each))
            return bool(read) and any(
                _CONTENT.search(each) or any(map(each.__contains__, read - {""})) for each in shown
            )
    return False


def _values(names: Iterable[str], text: str) -> Iterator[tuple[str, str]]:
    """Those that are written as they stand."""
    for name in names:
        written = re.compile(rf"(?<![\w$]){name}=(\"[^\"\n]*\"|'[^'\n]*'|\S+)")
        values = {match[1].strip("'\"") for match in written.finditer(text)}
        if len(values) == 1 and not any(sign in (value := next(iter(values))) for sign in "$`<"):
            yield name, value


def _is_used_below(name: str, end: int, script: Script) -> bool:
    """Whether lines behind the server's use it: it is the script's own."""
    script.budget.once(f"uses of {name}"[:_INDENTED], len(script.lines), "the text around its engine commands")
    used = re.compile(rf"\$\{{?{name}\b")
    return any(used.search(text[:_LONGEST]) for text in script.lines[end:])


def _is_declared(case: Case, name: str) -> bool:
    """What looks like an engine's variable and is none, `VLLM_ROOT`, is the script's own."""
    program = case.engine.program
    of_library = not name.startswith(OWN_VARIABLES) and not _OF_SCRIPT.fullmatch(name)
    return of_library or name in ever_known_environment(program)


def _scalar_of(lines: Sequence[str], line: int) -> int:
    """The first line of the script that a value of YAML holds: above it the indentation is less."""
    own = lines[line - 1][:_INDENTED]
    indent = len(own) - len(own.lstrip())
    while line > 1:
        above = lines[line - 2][:_INDENTED]
        if above.strip() and len(above) - len(above.lstrip()) < indent:
            break
        line -= 1
    return line


def env_file_comment(case: Case) -> Iterator[Remark]:
    """A comment behind a value, or quotes around it, in a file whose reader takes them for a part of the value."""
    script = case.script
    if not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    text_of = dict(lines)
    named = [
        match
        for number, text in lines
        if (match := _UNIT_FILE.search(text))
        and (match["path"] or _of_docker([text_of[n] for n in range(max(1, number - _NEAR), number + 1)]))
    ]
    readers = {
        (match["path"] or match["other"]).rpartition("/")[2]: "systemd" if match["path"] else "docker"
        for match in named
        if "$" not in match[0]
    }
    for name, reader in readers.items():
        inside, begun = False, False
        for number, text in lines:
            file = script.place(number)[0].rpartition("/")[2]
            if file != name and name in text and not _UNIT_FILE.search(text):
                inside, begun = True, False
                continue
            if file != name and inside:
                inside = _OF_FILE.fullmatch(text) is not None and not (begun and _FENCE.match(text))
                begun = begun or _FENCE.match(text) is not None or "=" in text
            if (file == name or inside) and (match := _WITH_COMMENT.fullmatch(text)):
                value = f"{match['value']}{match['rest']}"
                message = (
                    f'{script.where(number)}: {reader} does not strip the comment: the value is "{shortened(value)}"'
                )
                code, remedy = Code.INVALID_VALUE, "put the comment on a line of its own"
                remark = make_remark(Severity.WARNING, code, match["name"], message, remedy)
                yield Remark(remark.finding, command=None)


def _of_docker(lines: Sequence[str]) -> bool:
    """Whether the last of these lines, which names a file of variables, belongs to a `docker run`: compose and others
    have readers of their own."""
    first = len(lines) - 1
    while first > 0 and lines[first - 1].rstrip().endswith("\\"):
        first -= 1
    return _DOCKER_RUN.search(" ".join(lines[first:])) is not None


def not_handed_on(case: Case) -> Iterator[Remark]:
    """Exports that Open MPI does not take along to other hosts."""
    for number, command in enumerate(case.commands):
        wrapper = next((each for each in command.wrappers if each.kind == "mpirun"), None)
        if wrapper is None:
            continue
        options = {option.name for option in wrapper.options}
        if not options & _OPEN_MPI or not (options & _OVER_HOSTS or len(wrapper.hosts) > 1):
            continue
        if any("mca_base_env_list" in word.text or _OPEN_LIST.fullmatch(word.text) for word in wrapper.words):
            continue
        start = wrapper.words[0].line if wrapper.words else command.line
        given = {value.partition("=")[0] for value in wrapper.values("-x")}
        lost = [
            name
            for name, word in command.env.items()
            if name not in given and 0 < word.line < start and not _HANDED_ON.match(name)
        ]
        if lost:
            more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
            hosts = "mpirun passes only the variables named by -x to other hosts"
            message = f"{hosts}, which do not get {', '.join(lost[:_SHOWN])}{more}"
            remedy = f"add {' '.join(f'-x {name}' for name in lost[:_SHOWN])}"
            yield Remark(Finding(Severity.WARNING, Code.DEAD_ENV, lost[0], message, remedy), command=number)


def slurm_header(case: Case) -> Iterator[Remark]:
    """Variables in the header of a batch script, which Slurm reads as they are written."""
    script, header = case.script, True
    first, last = span_of(case.commands, script)
    name = script.place(first)[0]
    for number, text in numbered(script, 1, last):
        if script.place(number)[0] != name or _FENCE.match(text):
            name, header = script.place(number)[0], True
            continue
        header = header and _HEADER.match(text) is not None
        if header and number >= first and (match := _DIRECTIVE.match(text)):
            message = f"{script.where(number)}: Slurm expands no variables there: {match['name']} is taken literally"
            where, remedy = match["option"], "write the value, or give the option to sbatch"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy)
            yield Remark(remark.finding, command=None)


def interface_caret(case: Case) -> Iterator[Remark]:
    """`^lo` leaves interfaces out for some libraries, and is a name for others."""
    for number, command in enumerate(case.commands):
        for name in _NO_CARET:
            word = command.env.get(name)
            value = word.text.removeprefix(f"{name}=").strip("'\"") if word else ""
            if value.startswith("^"):
                message = f"{shortened(value)} is read as the name of an interface: only NCCL and HCCL have exclusions"
                remedy = "name the interface to use"
                finding = Finding(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy)
                yield Remark(finding, command=number, variable=name)
