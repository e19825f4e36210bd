"""Calls of tools that a text says to fail, of a server that was started without a reader of calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.serving_flags import of_family
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_CALLS: Final = r"(?:(?:tool|function)[ -]?(?:calls?|calling|use)|mcp tools?|tools)"
_FAILS: Final = (
    r"(?:(?:always |still |just )?fail(?:s|ed|ing|ure)?\b|(?:do(?:es)?|did|is|are|was|were|can)(?:n[’']t| ?not)\s+"
    r"(?:be\s+)?(?:work|trigger|call|function|happen|support|recogni[sz]|detect|pars|invok|execut)\w*"
    r"|not working|never (?:work|call|trigger)\w*|unable to)"
)
_FAILING: Final = re.compile(
    rf"\b{_CALLS}\s+(?:\w+\s+){{0,3}}?{_FAILS}"
    r"|\b(?:unable to|can(?:not|[’']t)|fail(?:s|ed)? to)\s+(?:\w+\s+){0,2}?(?:call|use|invoke|trigger)\s+"
    r"(?:\w+\s+){0,2}?(?:tools?|functions?)\b"
    r"|(?:工具|函数)调用(?:总是|一直|会|都)?(?:失败|不成功|不生效|无效|报错|没反应)"
    r"|(?:不能|无法|没法|不会)(?:够)?(?:成功|正常|正确)?(?:地)?调用(?:工具|函数)",
    re.IGNORECASE,
)
_LONGEST: Final = 2000


def calls_that_fail(case: Case) -> Iterator[Remark]:
    """`工具调用失败` above a `vllm serve` without --enable-auto-tool-choice. The Kimi family is told of it anyhow."""
    line, first = case.engine.command_line, case.first
    if not line.auto_tools or not line.tool_parser or first.serving.auto_tool_choice or case.open_ended:
        return
    command, name = case.commands[0], case.checkpoint.name if case.checkpoint else first.model
    if is_fragment(command) or not is_server(command.program) or of_family(name) or first.serving.tool_parser:
        return
    case.script.budget.once("calls that fail", 3 * len(case.script.lines), "the text around its engine commands")
    if not is_in_lines(_FAILING, case.script.lines, _LONGEST):
        return
    message = "the text says that calls of tools fail, and this start has no reader of them: requests with tools are "
    message += "refused"
    remedy = f"add {line.auto_tools} with the {line.tool_parser} of the model's family"
    yield replace(make_remark(Severity.WARNING, Code.MISSING_FLAG, line.tool_parser, message, remedy), complained=True)
