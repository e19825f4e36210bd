"""Which parser of tool calls and of reasoning belongs to which family of models, and which certainly does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from moonpad.catalog.cached_names import repository_of
from moonpad.catalog.options import values_of
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.plan.parsers import PARSER, parser_name
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_OPTION: Final = re.compile(r"--(?:dyn-)?(?:(?P<tool>tool[-_](?:call[-_])?)|(?P<reasoning>reasoning[-_]))parser")
_PLUGIN: Final = re.compile(r"--(?:tool|reasoning)[-_]parser[-_]plugin|--(?:custom[-_]jinja|chat)[-_]template(?![-_])")
_OF_OPTIONS: Final = re.compile(r"(?<![\w.])--?[a-z][\w-]*(?:[= ][^\s`]+)?", re.IGNORECASE)
"""An option with its value, which is not the name of a model."""
_MODEL_NAME: Final = re.compile(r"[a-z0-9][\w.-]{3,80}[a-z0-9]", re.IGNORECASE | re.ASCII)
_LONGEST: Final = 2000
_ENDS: Final = r"(?![a-z0-9])"


class Family(Struct, frozen=True):
    """`named` is what its models' names hold; `tools` and `reasoning` are the beginnings of the parsers that may be
    right, `*` for all but ours, none where nothing is judged; `writes` are the names to write, of which an engine has
    one."""

    named: re.Pattern[str]
    tools: tuple[str, ...]
    reasoning: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    foreign: frozenset[str] = frozenset()
    """Parsers of tool calls that begin as the right ones, and are those of an older or a younger model."""


def _family(named: str, tools: str, reasoning: str = "", writes: str = "", foreign: str = "") -> Family:
    rights = tuple(tools.split()), tuple(reasoning.split()), tuple(writes.split())
    return Family(re.compile(named), *rights, frozenset(foreign.split()))


_V3: Final = "deepseek_v3 deepseekv3"
_V31: Final = "deepseek_v31 deepseekv31"
_V32: Final = "deepseek_v32 deepseekv32"
_V4: Final = "deepseek_v4 deepseekv4"

FAMILIES: Final = (
    _family(rf"kimi[-_ ]?k3{_ENDS}|^k3$", "kimi_k3 kimi-k3", "kimi_k3 kimi-k3", "kimi_k3"),
    _family(
        r"kimi[-_ ]?k2(?![0-9]{2})|^k2(?:\.[5-9])?(?:-(?:instruct|thinking|code)){0,2}(?:-0905)?$",
        "kimi_k2 kimi-k2",
        "",
        "kimi_k2",
    ),
    _family(r"kimi[-_ ]?linear", "kimi_k2 kimi-k2", "", "kimi_k2"),
    _family(r"deepseek[-_ ]?v4", "deepseek", "", "deepseek_v4 deepseekv4", f"{_V3} {_V31} {_V32}"),
    _family(r"deepseek[-_ ]?v3[._]2[-_ ]?exp", "deepseek", "", "deepseek_v32 deepseekv32"),
    _family(r"deepseek[-_ ]?v3[._]2(?![-_ ]?exp)", "deepseek", "", "deepseek_v32 deepseekv32", f"{_V3} {_V31} {_V4}"),
    _family(r"deepseek[-_ ]?v3[._]1", "deepseek", "", "deepseek_v31 deepseekv31", f"{_V3} {_V32} {_V4}"),
    _family(
        r"deepseek[-_ ]?(?:v3|r1)(?![._]?[0-9]{1,2}(?![0-9]))",
        "deepseek",
        "",
        "deepseek_v3 deepseekv3",
        f"{_V31} {_V32} {_V4}",
    ),
    # https://huggingface.co/zai-org/GLM-4-9B-0414: the name of a function on a line of its own, and JSON below it.
    _family(r"glm[-_ ]?(?:4|z1)[-_ ](?:9b|32b)", "glm"),
    _family(r"glm[-_ ]?(?:4[._][56])(?![0-9])", "glm", "", "glm45 glm4_moe"),
    _family(r"glm[-_ ]?(?:4[._][7-9]|5)", "glm", "", "glm47"),
    _family(r"minimax[-_ ]?m1", "minimax", "", "minimax", "minimax_m2 minimax-m2 minimax_m3 minimax-m3"),
    _family(r"minimax[-_ ]?m2", "minimax", "", "minimax_m2 minimax-m2", "minimax minimax_m3 minimax-m3"),
    _family(r"minimax[-_ ]?m3", "minimax", "", "minimax_m3 minimax-m3", "minimax minimax_m2 minimax-m2"),
    # https://huggingface.co/LGAI-EXAONE/EXAONE-4.0-32B and /K-EXAONE-236B-A23B
    _family(r"exaone[-_ ]?4|k[-_]exaone", "hermes", "deepseek", "hermes"),
    _family(r"gpt[-_ ]?oss", "openai gpt harmony", "", "openai gpt-oss"),
    _family(rf"qwen[-_ ]?3[-_ ]?coder|qwen[-_ ]?3[._][5-9]{_ENDS}", "qwen", "", "qwen3_coder qwen3_xml", "qwen25 qwen"),
    _family(r"kimi[-_ ]?dev", "qwen hermes", "", "", "qwen3_coder qwen3_xml"),
    _family(
        rf"qwen[-_ ]?2|qwen[-_ ]?3(?![-_ ]?coder|[._][0-9]){_ENDS}",
        "qwen hermes",
        "",
        "hermes qwen25",
        "qwen3_coder qwen3_xml",
    ),
    # https://docs.vllm.ai/en/latest/features/tool_calling.html: gemma4 alone reads its calls.
    _family(r"gemma[-_ ]?4(?![0-9])", "gemma", "", "gemma4"),
    _family(
        r"llama[-_ ]?[1-4]|mi[sx]tral|gemma(?![-_ ]?4(?![0-9]))",
        "*",
        foreign=f"{_V3} {_V31} {_V32} {_V4} openai gpt-oss glm45 glm47 glm4_moe minimax minimax_m2 minimax-m2",
    ),
    _family(r"ernie|hunyuan|internlm|phi[-_ ]?[34]|seed[-_ ]?oss|step[-_ ]?3", "*"),
)
_MADE_OF: Final = re.compile(r"distill|merge|chimera|abliterat|hermes|tiny|dspark|eagle|draft")
_OF_A_FAMILY: Final = re.compile(
    r"(?:hermes|deepseek|qwen|llama|mistral|pythonic|glm|granite|internlm|interns1|jamba|phi4|xlam|hunyuan|minimax|step3"
    r"|seed_oss|ernie|longcat|olmo|gpt-oss|openai|mimo|gemma|kimi_k|kimi-k)"
)
"""Parsers that are made for the models of one family."""
_NO_REASONING_OF: Final = re.compile(r"kimi[_-]k3|openai_gptoss|gpt[-_]oss")
"""A parser of reasoning that no other family's model fits; `<think>` is that of many."""


def family_of(name: str) -> Family | None:
    """By the last part of a path or a repository that names one."""
    for part in reversed(name.casefold().replace("--", "/").rstrip("/").split("/")):
        if _MADE_OF.search(part):
            return None
        named = [each for each in FAMILIES if each.named.search(part)]
        if named:
            return named[0] if len({each.tools for each in named}) == 1 else None
    return None


def own_parser(name: str) -> str:
    """The engines' name for the parser of tool calls and of reasoning of a model of ours, by its name."""
    family = family_of(name)
    return family.writes[0] if family and family.writes else parser_name(name)


def parser_family(case: Case) -> Iterator[Remark]:
    """A parser that is made for another family: calls or thoughts stay in the text of the answer."""
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        name = next((each for each in (reading.model, reading.served_name or "") if each and family_of(each)), "")
        if not name and is_fragment(command):
            name = _name_in_text(case)
        family = family_of(name)
        if family is None or unresolved(name) or any(_PLUGIN.match(word.text) for word in command.argv):
            continue
        for at, length, option, kind, given in _given(command):
            if not _is_foreign(family, kind, given):
                continue
            shown = shortened(repository_of(name).rstrip("/").rpartition("/")[2], 40)
            what = "tool calls stay" if kind == "tool" else "thoughts stay"
            message = f"{shortened(given, 40)} is not the parser of {shown}: {what} in the text of the answer"
            right = _right(case, family, option) if kind == "tool" or family.reasoning else ""
            remedy, edits = "take the parser of the model, or leave it out", []
            if right:
                remedy = f"write {option} {right}"
                edits = [Edit(at, length, (option, right) if length == 2 else (f"{option}={right}",))]
            severity, code = Severity.WARNING, Code.CONFLICT
            yield replace(make_remark(severity, code, option, message, remedy, at=at, edits=edits), command=number)


def _name_in_text(case: Case) -> str:
    """The one model that the words around options alone name; "" where they name none, or models of two families."""
    case.script.budget.work(len(FAMILIES) * len(case.script.lines), "the text around its engine commands")
    lines = (_OF_OPTIONS.sub(" ", line[:_LONGEST]) for line in case.script.lines)
    named = {match[0] for line in lines for match in _MODEL_NAME.finditer(line) if family_of(match[0])}
    families = {family.tools for name in named if (family := family_of(name))}
    return max(sorted(named), key=len) if len(families) == 1 else ""


def _given(command: Command) -> Iterator[tuple[int, int, str, str, str]]:
    """The place of each such option, how many words it takes, its name, its kind and its value."""
    for at, word in enumerate(command.argv):
        option, equals, value = word.text.partition("=")
        match = _OPTION.fullmatch(option)
        if match is None:
            continue
        kind = "tool" if match["tool"] else "reasoning"
        if equals:
            yield at, 1, option, kind, value
        elif at + 1 < len(command.argv):
            yield at, 2, option, kind, command.argv[at + 1].text


def _is_foreign(family: Family, kind: str, given: str) -> bool:
    plain = given.casefold()
    if kind == "tool" and "*" in family.tools:
        return plain.startswith("kimi") or plain in family.foreign
    if kind == "tool" and plain in family.foreign:
        return True
    if kind == "tool":
        return _OF_A_FAMILY.match(plain) is not None and not plain.startswith(family.tools)
    if family.reasoning:
        return _OF_A_FAMILY.match(plain) is not None and not plain.startswith(family.reasoning)
    return _NO_REASONING_OF.match(plain) is not None and not plain.startswith(family.tools or ("*",))


def _right(case: Case, family: Family, option: str) -> str:
    """The name that this release has for it; "" where it is not known to have one."""
    dest = option.removeprefix("--").replace("-", "_")
    if dest.startswith("dyn_"):
        return family.writes[0] if family.writes else ""
    known = values_of(case.engine.program, case.version or None, dest)
    return next((name for name in family.writes if name in known or (name == PARSER and not known)), "")
