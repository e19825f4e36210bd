"""Stop strings."""

import re

from moonpad.load.wire import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import ask, greedy
from moonpad.verify.mend import FIELDS
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

QUESTION = "What is 84 * 3 / 2?"


async def run(api: Api) -> Outcome:
    whole = await ask(api, greedy(QUESTION))
    if isinstance(whole, Outcome):
        return whole
    word = stop_word(whole)
    if not word:
        return skipped("nothing in the answer stands in it once, so nothing can stop it there")
    stopped = await ask(api, greedy(QUESTION, stop=[word]))
    if isinstance(stopped, Outcome):
        return stopped
    expected = whole.content[: whole.content.index(word)]
    if word in stopped.content or len(stopped.content) > len(expected):
        message = f"stop={word!r} does not stop: the answer is {stopped.content[:120]!r}"
        return failed(Code.PARAMETER_IGNORED, "stop", message, "ask the engine itself: a gateway may drop `stop`")
    if stopped.finish_reason != "stop":
        message = f"finish_reason is {stopped.finish_reason!r} after a stop string, expected 'stop'"
        return failed(Code.WRONG_ANSWER, "finish_reason", message, "update the engine")
    if stopped.content.rstrip() != expected.rstrip():
        again = await ask(api, greedy(QUESTION))
        if isinstance(again, Outcome) or again.content != whole.content:
            return skipped("greedy answers to one question differ, so a stopped one has nothing to equal")
        message = f"before the stop string stands {stopped.content[-60:]!r}, without it {expected[-60:]!r}"
        return failed(Code.WRONG_ANSWER, "stop", message, "update the engine: text before a stop string is kept")
    return passed(f"the answer ends before {word!r}, with finish_reason stop")


def stop_word(answer: Message) -> str:
    """A piece of the content, as late as can be, that is nowhere before it: a stop string counts in the thinking too.

    A whole word where there is one, else any few characters.
    """
    places = [*reversed(list(re.finditer(r"[^\W_]{2,}|\d", answer.content)))]
    pieces = [(found.start(), found[0]) for found in places]
    pieces += [(at, answer.content[at : at + 6]) for at in range(len(answer.content) - 6, 0, -1)]
    for at, piece in pieces:
        if at > 0 and piece not in answer.reasoning and answer.content.index(piece) == at:
            return piece
    return ""


PROBE = Probe(
    id="stop",
    proves="an answer ends before a stop string, which is not shown",
    matters="agents and evaluations cut answers by it; one that is ignored runs on to the limit",
    mend=FIELDS,
    run=run,
)
