"""Single letters that are missing or too many: a dash of an option of Docker, the second half of a port or of a volume,
`-m` of a module, a sign of a requirement; and a download that is told to stay offline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Wrapper
from moonpad.explain.programs import base_name, program_table
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_LONG: Final = (
    "rm",
    "gpus",
    "ipc",
    "shm-size",
    "name",
    "entrypoint",
    "network",
    "runtime",
    "env",
    "volume",
    "privileged",
)
_PIP: Final = re.compile(r"\b(?:pip3?|uv pip)[ ]+install\b(?P<rest>.*)")
_EQUALS: Final = re.compile(r"(?<=[\s\"'])(?P<name>[A-Za-z][\w.-]*(?:\[[\w,-]+\])?)=(?P<version>\d[\w.]*)(?=[\s\"']|$)")
_HUB_OFFLINE: Final = re.compile(r"HF_HUB_OFFLINE=[\"']?(?P<value>\w*)")
_DOWNLOADS: Final = re.compile(r"(?:^|[ \t;&|])(?:hf|huggingface-cli)[ ]+download[ ]+[\"']?(?P<name>[\w.-]+/[\w.-]+)")
_NOT_NAMES: Final = ("-e", "--config-settings", "-C", "--global-option")
_ON: Final = ("1", "true", "yes", "on")
_VISIBLE: Final = "CUDA_VISIBLE_DEVICES"
_LONGEST: Final = 2000


def options_of_container(case: Case) -> Iterator[Remark]:
    """`-rm`, `-p 30000` and `-v /models` of a container that is started by hand."""
    command = case.commands[0]
    container = command.container
    if container is None or container.kind != "docker run" or not container.words:
        return
    if base_name(container.words[0]) not in ("docker", "podman", "sudo", "nerdctl"):
        return
    for word in container.words[1:]:
        name = word.text[1:].partition("=")[0]
        if word.text.startswith("-") and not word.text.startswith("--") and name in _LONG:
            message = f"{word.text} is read as options of one letter each, which are refused, or mean something else"
            yield make_remark(Severity.WARNING, Code.UNKNOWN_FLAG, word.text, message, f"write -{word.text}", word=word)
            return
    yield from _halves(case, container)


def tilde_of_mount(case: Case) -> Iterator[Remark]:
    """`-v "~/models:/models"`: in quotes ~ is no folder, and Docker takes it for the name of a volume."""
    container, script = case.commands[0].container, case.script
    if container is None or container.kind != "docker run" or script.objects or not container.words:
        return
    for option in container.given("--volume"):
        source = (option.value or "").strip("'\"").partition(":")[0]
        word = option.words[-1] if option.words else None
        if not source.startswith("~/") or word is None or not 0 < word.line <= len(script.lines):
            continue
        written = script.lines[word.line - 1][:_LONGEST]
        if re.search(rf"(?:[\"']|--volume=){re.escape(source)}:", written) is None:
            continue
        message = (
            f"in quotes, or behind --volume=, ~ is not the home folder: Docker takes {shortened(source, 60)} for the "
        )
        message += "name of a volume, and refuses it (includes invalid characters for a local volume name)"
        remedy = f"write $HOME{shortened(source[1:], 60)}"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "-v", message, remedy, word=word)
        return


def _halves(case: Case, container: Wrapper) -> Iterator[Remark]:
    model = case.first.model
    for option in container.options:
        value = (option.value or "").strip("'\"")
        word = option.words[-1] if option.words else None
        if option.name == "--publish" and value.isascii() and value.isdigit():
            message = f"{value} alone is the port of the container: Docker takes any free port of the host for it"
            yield make_remark(
                Severity.WARNING, Code.INVALID_VALUE, "-p", message, f"write -p {value}:{value}", word=word
            )
        inside = value.rstrip("/")
        within = bool(inside) and (model == inside or model.startswith(f"{inside}/"))
        if (
            option.name == "--volume"
            and value.startswith("/")
            and ":" not in value
            and within
            and not unresolved(value)
        ):
            message = f"{shortened(value, 60)} alone is a new and empty volume there, without the weights of the host"
            remedy = f"write -v FOLDER_OF_HOST:{shortened(value, 60)}"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "-v", message, remedy, word=word)


def module_as_file(case: Case) -> Iterator[Remark]:
    """`python3 sglang.launch_server`: without -m a file of that name is looked for."""
    modules = {word for words in program_table().commands for word in words[:1] if "." in word}
    for number, command in enumerate(case.commands):
        for first, second in zip(command.prefix, command.prefix[1:], strict=False):
            if second.text not in modules or not re.fullmatch(r"python[\d.]*", base_name(first)):
                continue
            message = f"without -m Python looks for a file that is called {second.text}: can't open file"
            remark = make_remark(
                Severity.WARNING,
                Code.INVALID_VALUE,
                second.text,
                message,
                f"write {first.text} -m {second.text}",
                word=second,
            )
            yield Remark(remark.finding, command=number, word=second)
            return


def lines_of_script(case: Case) -> Iterator[Remark]:
    """`pip install sglang=0.5.9`, and `HF_HUB_OFFLINE=1` in front of a download."""
    script = case.script
    if not is_first(case.commands, script) or script.objects:
        return
    offline, told = "", set[str]()
    for number, text in numbered(script, 1, len(script.lines)):
        line = text[:_LONGEST]
        if line.lstrip().startswith("#"):
            continue
        pip = _PIP.search(line) if "=" in line else None
        rest = pip["rest"].partition("`")[0] if pip is not None else ""
        found = _EQUALS.search(rest)
        if found is not None and "pip" not in told and not rest[: found.start()].rstrip().endswith(_NOT_NAMES):
            told.add("pip")
            message = f"{script.where(number)}: {found[0]} is no requirement: pip wants two signs (Invalid requirement)"
            remedy = f"write {found['name']}=={found['version']}"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "pip install", message, remedy)
            yield Remark(remark.finding, command=None)
        if (given := _HUB_OFFLINE.search(line)) is not None:
            exported = line.lstrip().startswith(("export ", "ENV "))
            own = given["value"].casefold() in _ON
            offline = ("HF_HUB_OFFLINE" if own else "") if exported else offline
            here = own and not exported
        else:
            here = False
        if "unset HF_HUB_OFFLINE" in line:
            offline = ""
        download = _DOWNLOADS.search(line) if "download" in line else None
        if download is not None and (here or (offline and given is None)) and "offline" not in told:
            told.add("offline")
            name = shortened(download["name"], 60)
            message = (
                f"{script.where(number)}: HF_HUB_OFFLINE is on, and the download of {name} ends, or gives what is in "
            )
            message += "the cache alone (OfflineModeIsEnabled)"
            remark = make_remark(
                Severity.WARNING,
                Code.CONFLICT,
                "HF_HUB_OFFLINE",
                message,
                "set it behind the download, for the server alone",
            )
            yield Remark(remark.finding, command=None)


def devices_with_blanks(case: Case) -> Iterator[Remark]:
    """`CUDA_VISIBLE_DEVICES='0 1 2 3'`, and a device that is named twice."""
    written = case.variable(_VISIBLE)
    if re.fullmatch(r"\d{1,2}(?:[ ;]+\d{1,2})+", written):
        message = f"{written}: CUDA takes numbers with commas between, and sees the first device alone, or none"
        remedy = f"write {','.join(re.findall(r'[0-9]+', written))}"
    elif re.fullmatch(r"\d{1,2}(?:,\d{1,2})+", written) and len({*written.split(",")}) < written.count(",") + 1:
        twice = next(each for each in written.split(",") if written.split(",").count(each) > 1)
        message = f"device {twice} is named twice, and CUDA shows none, or those before it alone"
        remedy = "name each device once"
    else:
        return
    yield make_remark(Severity.WARNING, Code.INVALID_VALUE, _VISIBLE, message, remedy)


PLAIN_SLIPS: Final = (options_of_container, tilde_of_mount, module_as_file, lines_of_script, devices_with_blanks)
