"""Which parsers of tool calls and of reasoning a version of an engine has for the family."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moonpad.catalog.options import option_set, values_of, versions
from moonpad.catalog.reasoning_parsers import without_thoughts
from moonpad.engines.base import Engine
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.versions import since

PARSER: Final = "kimi_k2"
OTHERS: Final = {"kimi-k3": "kimi_k3"}
"""Beginnings of models' names → parsers of their own."""
OTHER_FAMILY: Final = ("deepseek", "kimi_vl")
"""How the types of models begin whose parsers differ by the model, or who have none: none is chosen for them."""
# What the engines call the option: vLLM and SGLang, then TensorRT-LLM.
TOOLS: Final = ("tool_call_parser", "tool_parser")
REASONING: Final = ("reasoning_parser",)


def parser_name(model: str) -> str:
    """The engines' name for the parser of tool calls and of reasoning, by the name or the type of a model."""
    name = model.rpartition("/")[2].casefold().replace("_", "-")
    return next((parser for beginning, parser in OTHERS.items() if name.startswith(beginning)), PARSER)


def parser_for(engine: Engine, version: str, options: tuple[str, ...], model: str) -> str | None:
    """The parser to name; None where that version is known not to have it, or the engine is told none."""
    if engine.facts.parsers_built_in or model.startswith(OTHER_FAMILY):
        return None
    return parser_of(engine.program, version, options, parser_name(model))


def reasoning_parser_for(engine: Engine, version: str, kind: str, model: str) -> str | None:
    """None too for a model that never thinks: vLLM's parser would take its whole answer for thoughts (vllm 0.32.0,
    parser/kimi_k2.py: it begins in the state of reasoning, and waits for the end mark). `kind` as for `parser_for`,
    the name or the type of the model, `model` its name."""
    return None if without_thoughts(model) else parser_for(engine, version, REASONING, kind)


@lru_cache(maxsize=64)
def parser_of(program: str, version: str, options: tuple[str, ...], parser: str = PARSER) -> str | None:
    """The parser's name, None where that version is known not to have it."""
    recorded = option_set(program, version) if version else None
    if recorded and recorded.exact and all(option.dest not in options for option in recorded.options):
        return None
    known = [name for option in options for name in values_of(program, version or None, option)]
    return parser if not known or parser in known else None


def missing_parsers(engine: Engine, version: str, model: str, *, thinks: bool = True) -> Iterator[Finding]:
    """A warning for each parser that the version lacks, with the first one that has it."""
    if engine.facts.parsers_built_in or model.startswith(OTHER_FAMILY):
        return
    name, program, parser = engine.name, engine.program, parser_name(model)
    for what, options in (("tool calls stay", TOOLS), ("reasoning stays", REASONING)):
        if (thinks or options is TOOLS) and parser_of(program, version, options, parser) is None:
            later = (release for release in versions(program) if not since(version, release))
            first = next((release for release in later if parser_of(program, release, options, parser)), None)
            yield Finding(
                Severity.WARNING,
                Code.MISSING_FLAG,
                options[0],
                f"{name} {version} has no {options[0]} {parser}: {what} in the text of the answer",
                f"take {name} {first} or newer" if first else "parse the text yourself",
            )
