"""What a command line says against itself, its model or its release. The evidence is in command_checks.toml.

What concerns a layout or settings is a rule of plan/rules: plan, up and render judge by those too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Final

from moonpad.explain.builds import of_own_variables
from moonpad.explain.checks.check_case import Case, Check
from moonpad.explain.remedy_edits import Started, with_remedy
from moonpad.explain.results import Remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_YAML: Final = r"""^[ \t]*(?:-[ ]+)?["']?[\w./-]+["']?[ \t]*:(?:[ \t]|$)|[{\[]"""
_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("models", "releases", "nodes", "memory", "options", "shell"), ()),
    "programs": (
        *(r"^(?:import|from) \w", "subprocess", r"os\.system", "model_loading_config", r"^[ \t]*!\w", "cell_type"),
    ),
    "starters": (
        *("^\t", r"^\w+[ ]*:=", "ansible", "hosts:", "become:", "register:", "runs-on", "pipeline", r"node[ ]*[({]"),
        *(r"\[program:", "cloud-?config", "runcmd", "user_data", "resource[ ]", r"\$env:", r"\b[A-Z]:\\", "powershell"),
        *("pwsh", "ps1", "```(?:cmd|bat)", "echo off", r"[ ]\^$", r"apps[\"']?[ ]*:"),
    ),
    "installs": (
        *("pip", "install", "clone", "huggingface", "download", "modelscope", "make", "build", "wget", "conda"),
        *("ARCH", r"\b(?:git|uv|hf|apt)\b", "nvidia-driver", "nvidia-dkms"),
    ),
    "dynamo": ("dynamo", "nvext", "NATS", "ETCD", "--connector", "--disaggregation-mode", r"serve\s+disagg"),
    "manifests": (_YAML, "kubectl", "helm", "docker", "podman", "nerdctl"),
    "containers": (
        *("docker", "podman", "nerdctl", "image", "tainer", "compose", "services:", "singularity", "enroot", "srun"),
        *("FROM ", r"-l?c\b"),
    ),
    "pools": (
        *("disagg", "transfer", "prefill", "decode", "router", "proxy", "nixl", "mooncake", "lmcache", "bootstrap"),
        *("pool", "ctx_", "gen_", "node", "launch_", "worker-url", "routing", "节点"),
    ),
    "clients": (
        *("curl", "http", "bench", "request", "openai", "litellm", "client", r"/v1\b", "localhost", "messages"),
        *("targets", "conda", "thinking", "choices", "wake_up", "env-file", "EnvironmentFile"),
        "concurren",
    ),
}
"""The folders of checks, and the signs in a text by one of which each is asked, always where there are none: to import
a folder takes some thousandths of a second, and a single command needs half of them."""


def check_id(check: Callable[..., object]) -> str:
    """`served_name` → `served-name`, its row of evidence."""
    return check.__name__.replace("_", "-")


def command_checks(case: Case) -> Iterator[Remark]:
    """What all checks find that the text asks for."""
    checks = checks_of(case.script.lines, tuple(word.text for command in case.commands for word in command.argv))
    own = sum(len(command.argv) for command in case.commands)
    case.script.budget.work(8 * len(checks) + own + 8 * len(case.script.commands), "its engine commands")
    started = Started(case.commands, case.readings, case.engine, case.version, case.cluster)
    for check in checks:
        for remark in check(case):
            remark = with_remedy(remark, started)
            yield replace(remark, finding=of_own_variables(remark.finding, case.commands[remark.command or 0]))


@lru_cache(maxsize=8)
def checks_of(lines: Sequence[str], words: Sequence[str] = ()) -> tuple[Check, ...]:
    """Those of the families that the lines of a text, or the words of its command, have a sign of."""
    in_text, own = _families_in(lines), "\n".join(words)
    return tuple(
        check
        for name, signs in _FAMILIES.items()
        if not signs or name in in_text or _has_sign(name, own)
        for check in _family(name)
    )


@lru_cache(maxsize=2)  # each engine command of a text asks
def _families_in(lines: Sequence[str]) -> frozenset[str]:
    text = "\n".join(lines)
    return frozenset(name for name in _FAMILIES if _has_sign(name, text))


def _has_sign(name: str, text: str) -> bool:
    return re.search("|".join(_FAMILIES[name]), text, re.IGNORECASE | re.MULTILINE) is not None


def all_checks() -> tuple[Check, ...]:
    return tuple(check for name in _FAMILIES for check in _family(name))


def _family(name: str) -> tuple[Check, ...]:
    family: tuple[Check, ...] = import_module(f"moonpad.explain.checks.{name}.family").FAMILY
    return family


def no_layout(remarks: Iterable[Remark]) -> str:
    """Why nothing can be laid out on the devices; "" where it can."""
    findings = (remark.finding for remark in remarks)
    wrong = (finding for finding in findings if finding.severity is Severity.ERROR)
    return next((finding.message for finding in wrong if finding.code is Code.ILLEGAL_LAYOUT), "")


ELSEWHERE: Final = ("underscores", "json-quotes", "file-of-pools", "router-addresses")
"""Ids of what is found where words are read, and has its evidence with these."""
