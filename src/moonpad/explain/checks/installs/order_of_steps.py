"""Steps that come too late for what they are for, or go into an environment that the server is not started from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.torch_of_releases import torch_of
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_ENDPOINT: Final = "HF_ENDPOINT"
_SETS_ENDPOINT: Final = re.compile(rf"(?<![\w$-])(?:export[ ]+)?{_ENDPOINT}[\"']?\]?[ ]*=[ ]*[\"']?(?:https?:|\$)")
_EXPORTS_ENDPOINT: Final = re.compile(rf"(?:^|[\s;&|`])export[ ]+{_ENDPOINT}=[\"']?(?P<value>https?://[^\s\"';|&`]+)")
_DOWNLOAD: Final = re.compile(
    r"\b(?:huggingface-cli|hf)[ ]+download[ ]+[\"']?(?P<repository>[\w.-]+/[\w.-]+)|\bsnapshot_download\("
)
_AGAIN: Final = re.compile(
    r"\b(?:again|retry|fails?|failed|error|stuck|timed? ?out|otherwise|if )\b|重试|失败|超时", re.I
)
"""Words of a text that sets the mirror because the first attempt did not succeed."""

_MAKES_ENVIRONMENT: Final = re.compile(
    r"\b(?:python3?(?:\.\d+)?[ ]+-m[ ]+venv|virtualenv|uv[ ]+venv)(?:[ ]+-[\w-]+(?:[ =](?:3\.\d+|python[\d.]*))?)*"
    r"[ ]+[\"']?(?P<folder>[\w./~${}-]+)"
)
_ENTERS: Final = re.compile(
    r"/activate\b|\bconda[ ]+activate|\bPATH[\"']?[ ]*[=:]|\bpipx\b|\buv[ ]+run\b|VIRTUAL_ENV|\bln[ ]+-\w*s|\bdirenv\b"
    r"|\balias[ ]|\bpoetry\b|\bcd[ ]+\S*/bin\b"
)
_PIP_OF: Final = re.compile(
    r"(?<![\w./~$-])[\"']?(?P<folder>[\w./~${}-]+)/bin/(?:pip3?|python3?(?:\.\d+)?[ ]+-m[ ]+pip)[\"']?[ ]+install[ ]"
    r"(?P<packages>[^#;|&]*)"
)

_INSTALLS: Final = re.compile(r"(?:\buv[ ]+)?\bpip3?[\"']?[ ]+install\b(?P<words>[^#;|&\n]*)")
_PINNED: Final = r"(?<![\w.-]){name}(?:\[[\w,-]*\])?==v?(?P<version>\d+\.\d+(?:\.\d+)?)"
_TORCH: Final = re.compile(_PINNED.format(name="torch"))
_BUILDS: Final = re.compile(
    r"use_existing_torch|--no-build-isolation|setup\.py|pip3?[ ]+install[ ]+(?:-\S+[ ]+)*-?e?[ ]*\."
)


def endpoint_after_download(case: Case) -> Iterator[Remark]:
    """`hf download …`, and below it `export HF_ENDPOINT=…`: the download had gone to the hub itself."""
    script = case.script
    if not is_first_server(case.commands, script) or not is_in_lines(_EXPORTS_ENDPOINT, script.lines, 1000):
        return
    lines = list(whole_lines(script))
    sets = [number for number, text in lines if _SETS_ENDPOINT.search(text)]
    downloads = [(number, match) for number, text in lines if (match := _DOWNLOAD.search(text)) is not None]
    exports = [(number, match) for number, text in lines if (match := _EXPORTS_ENDPOINT.search(text)) is not None]
    if len(sets) != 1 or len(exports) != 1 or not downloads or exports[0][0] <= downloads[-1][0]:
        return
    (number, match), (before, _) = exports[0], downloads[-1]
    between = script.lines[before - 1 : number]
    if any(_AGAIN.search(line[:1000]) for line in between):
        return
    message = f"{script.where(number)} sets {shortened(match['value'], 50)} below the download of "
    message += f"{script.where(before)}, which has asked huggingface.co before that"
    remark = make_remark(Severity.WARNING, Code.DEAD_ENV, _ENDPOINT, message, f"export {_ENDPOINT} above the download")
    yield replace(remark, command=None)


def other_environment(case: Case) -> Iterator[Remark]:
    """`/opt/v/bin/pip install ENGINE` of an environment that nothing enters, and the engine by its bare name."""
    script, command = case.script, case.commands[0]
    if command.container is not None or not command.prefix or not is_in_lines(_PIP_OF, script.lines, 1000):
        return
    program = command.prefix[0].text
    if "/" in program or "$" in program or not is_first_server(case.commands, script):
        return
    lines = [(number, text) for number, text in whole_lines(script) if number <= command.line]
    if any(_ENTERS.search(text) for _, text in lines):
        return
    made = {match["folder"].rstrip("/") for _, text in lines if (match := _MAKES_ENVIRONMENT.search(text)) is not None}
    package = re.compile(rf"(?<![\w./-]){re.escape(case.engine.program.split()[0])}(?![\w/-])")
    calls = [(number, text) for number, text in lines for call in _INSTALLS.finditer(text) if package.search(call[1])]
    found = [(number, match["folder"]) for number, text in calls if (match := _PIP_OF.search(text)) is not None]
    if len(calls) != 1 or len(found) != 1 or found[0][1] not in made:
        return
    number, folder = found[0]
    message = f"{script.where(number)} installs the engine into {shortened(folder, 50)}, which nothing activates, and "
    message += f"{program} is looked for in PATH: it is not found, or another one is started"
    remedy = f"write {shortened(folder, 50)}/bin/{program}, or activate the environment above it"
    yield make_remark(Severity.WARNING, Code.CONFLICT, program, message, remedy, word=command.prefix[0])


def torch_replaced(case: Case) -> Iterator[Remark]:
    """`pip install ENGINE==X`, and then `pip install torch==Y`, another one than the wheel was built for."""
    script, engine = case.script, case.engine.name
    if not is_in_lines(_TORCH, script.lines, 1000) or not is_first_server(case.commands, script):
        return
    wheel = re.compile(_PINNED.format(name=re.escape(engine)))
    known: tuple[int, str, str] | None = None
    lines = list(whole_lines(script))
    if any(_BUILDS.search(text) for _, text in lines):
        return
    for number, text in lines:
        for call in _INSTALLS.finditer(text):
            pinned, torch = wheel.search(call["words"]), _TORCH.search(call["words"])
            if pinned is not None and torch is None and (needed := torch_of(engine, pinned["version"])):
                known = number, pinned["version"], needed
            elif pinned is not None:
                known = None
            elif torch is not None and known is not None and number < case.commands[0].line:
                first, version, needed = known
                if torch["version"].split(".")[:2] == needed.split(".")[:2]:
                    continue
                message = f"{script.where(number)} puts torch {torch['version']} in the place of {needed}, for which "
                message += f"the wheel of {case.engine.facts.title} {version} ({script.where(first)}) is built: its "
                message += "compiled parts do not load (undefined symbol)"
                remark = make_remark(
                    Severity.WARNING, Code.CONFLICT, f"torch=={torch['version']}", message, "leave that line out"
                )
                yield replace(remark, command=None)
                return
