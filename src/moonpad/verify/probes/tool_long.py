"""Long arguments."""

from typing import Final

from moonpad.load.wire import Message, read_json
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import TOOL_PARSERS
from moonpad.verify.probe import Outcome, Probe, failed, passed
from moonpad.verify.tools import PARSER, refused, tool, wrong_calls

WRITE: Final = tool(
    "write_file",
    "Write a text to a file.",
    ("path", "text"),
    path={"type": "string"},
    text={"type": "string"},
)
LINES: Final = 1600
"""Of 40 characters each: 64 KB."""


async def run(api: Api) -> Outcome:
    lines = [f"line {number:05d} {'abcdefghijklmnopqrstuvwxyz':.26s}" for number in range(LINES)]
    text = "\n".join(lines)
    question = f"Write exactly this text to list.txt:\n{text}"
    answer = await api.chat(
        greedy(question, tools=[WRITE], tool_choice="auto", max_tokens=40_000), answer_s=api.deadlines.stream_s
    )
    if not isinstance(answer, Message):
        return refused(answer) or no_answer(api, answer)
    if not answer.tool_calls:
        return failed(Code.TOOL_CALL_LOST, PARSER, f"no call: {answer.content[:120]!r}", "look at the whole answer")
    if fault := wrong_calls(answer, [WRITE]):
        return fault
    arguments = read_json(answer.tool_calls[0].arguments)
    written = arguments.get("text") if isinstance(arguments, dict) else None
    if not isinstance(written, str) or len(written) < 0.98 * len(text):
        size = len(written) if isinstance(written, str) else 0
        message = f"{len(text)} characters were to be written, the call has {size}"
        return failed(Code.TOOL_CALL_LOST, PARSER, message, "update the engine: parsers cut arguments (vllm#34442)")
    return passed(f"{len(answer.tool_calls[0].arguments)} characters of arguments, whole")


PROBE = Probe(
    id="tool_long",
    proves="arguments of 64 KB arrive whole",
    matters="agents write files by calls; parsers have cut arguments at 8 KB",
    mend=TOOL_PARSERS,
    known=("vllm#34442",),
    run=run,
    needs_able_model=True,
)
