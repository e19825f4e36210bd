"""The recorded options of a program, as the readers and the writers use them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from moonpad.catalog.options import OptionSet, option_set
from moonpad.engines.base import API
from moonpad.values.deployment import Deployment, Gang, Process
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Plan
from moonpad.values.references import Arg


def recorded(program: str, version: str | None, base: str = "") -> OptionSet:
    """The options of that version or of the nearest older one, without a version the newest.

    Where nothing is recorded of the program, a fork, they are the newest ones of its `base`.

    Raises:
        LookupError: nothing is recorded of either.
    """
    options = option_set(program, version or None) or option_set(base)
    if options is None:
        raise LookupError(f"no options are recorded for {program!r}")
    return options


@lru_cache(maxsize=512)
def has_option(program: str, version: str, flag: str) -> bool:
    """Whether that version, the newest if it is "", has the flag; True where nothing is recorded."""
    options = option_set(program, version or None)
    return options is None or options.named(flag) is not None


def deployment_of(
    plan: Plan, program: str, processes: tuple[Process, ...], ours: Sequence[Process] | None = None
) -> Deployment:
    """The processes as one gang, when the version that they are for takes every flag and choice in them (fault 18).

    Asked only of a version that is named and recorded; the user's own arguments are the user's. `ours` are the
    processes that run the program, where others run something else.

    Raises:
        PreflightRefused: with one finding a flag.
    """
    deployment = Deployment((Gang(plan.name, processes),), API, plan.serving.served_name)
    options = option_set(program, plan.engine_version) if plan.engine_version else None
    if options is None or not options.exact:
        return deployment
    findings: dict[str, Finding] = {}
    said: dict[tuple[str, Arg], None] = {}  # once, though every node says it
    for process in processes if ours is None else ours:
        words = process.argv[: len(process.argv) - len(plan.extra_args)]
        pairs = pairwise((*words, ""))
        said |= {(word, value): None for word, value in pairs if isinstance(word, str) and word.startswith("--")}
    for word, value in said:
        flag = word.partition(".")[0]
        option = options.named(flag)
        if option is None:
            findings[flag] = _finding(plan, Code.UNKNOWN_FLAG, flag, f"has no {flag}")
        elif option.choices and isinstance(value, str) and value not in option.choices:
            findings[flag] = _finding(plan, Code.INVALID_VALUE, flag, f"does not take {flag} {value}")
    if findings:
        what = f"{plan.engine} {plan.engine_version}"
        raise PreflightRefused(f"{what} cannot be told all of this plan", findings=tuple(findings.values()))
    return deployment


def _finding(plan: Plan, code: Code, flag: str, what: str) -> Finding:
    message = f"{plan.engine} {plan.engine_version} {what}"
    return Finding(Severity.ERROR, code, flag, message, "use a version that does, or leave out what asks for it")
