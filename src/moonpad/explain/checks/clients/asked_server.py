"""Which requests of a text surely go to the server that it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.documents.answers import is_answer
from moonpad.explain.documents.client_calls import ClientCall, client_calls
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment

BETWEEN: Final = re.compile(
    r"nginx|\bproxy|proxy_|router|gateway|litellm|tunnel|ssh\s.*-L|socat|port-forward|traefik|envoy|haproxy|ingress|"
    r"caddy|ngrok|cloudflare",
    re.IGNORECASE,
)
"""What may stand between a client and the server."""
HOSTED: Final = re.compile(
    r"api\.(?:openai|moonshot|deepseek|together|fireworks|anthropic|groq|novita|siliconflow)\.\w+|openrouter\.ai|"
    r"dashscope|bigmodel\.cn|integrate\.api\.nvidia"
)
"""Services of others, whose requests are none of the server's."""
_FAILS: Final = re.compile(
    r"\b(?:4(?:00|01|04|05|15)|50[0-4])\b|unauthori[sz]ed|refused|rejected|\bfail(?:s|ed)?\b|\bwrong\b|\berrors?\b|"
    r"错误|拒绝|失败|报错",
    re.IGNORECASE,
)
_NUMBERS: Final = re.compile(
    r"--[\w-]{1,60}[= ]\d+"
    r"|\b\w{0,30}(?:tokens?|len\w{0,3}|size|limit|timeout|concurrency)\\?[\"']?\s{0,3}[=:]\s{0,3}\d+"
)
"""Settings whose numbers must not be read as an HTTP status: `--num-prompts 500`, `max_tokens=500`."""
_EXPECTED: Final = re.compile(
    r"\bexpect|\bshould\b|\bmust\b|\bverif|\bcheck that\b|\bnegative\b|\breject|(?<![Cc]onnection )\brefuse|\bwill\b"
    r"|\btest that\b|\bensure|\bas (?:designed|intended)\b|\bfix(?:ed)?\b|\bsolution\b|\binstead\b|预期|应|验证|解决",
    re.IGNORECASE,
)
"""Words by which a text shows a request on purpose that fails, or says itself what is wrong with it."""
_NEAR: Final = 3
_LONGEST: Final = 2000


def own_port(case: Case) -> str:
    """The port on the machine where the server is asked, "" where it is not known."""
    command = case.commands[0]
    place, container = case.option("--port"), command.container
    port = case.text("--port").strip("'\"") if place is not None else str(case.engine.command_line.port or "")
    if not port.isdigit() or unresolved(port) or command.embedded or command.more:
        return ""
    if container is None:
        return port
    published = [value.split(":") for value in container.values("--publish")]
    inside = {parts[-1].removesuffix("/tcp"): parts[-2] for parts in published if len(parts) > 1}
    return inside.get(port, "" if inside else port)


def calls_to(case: Case) -> Iterator[ClientCall]:
    """The requests of the text that the only server gets: those that name its port, and those of the library where
    each address in the text is the server's."""
    script = case.script
    port = own_port(case)
    if not port or not is_one_group(case) or is_fragment(case.commands[0]):
        return
    script.budget.once("requests of clients", 2 * len(script.lines), "the text around its engine commands")
    calls = client_calls(script.lines)
    if not calls:
        return
    addresses = {call.port for call in calls if call.kind == "client" and call.port}
    named = any(call.kind == "client" for call in calls)
    alone = (addresses <= {port} and (bool(addresses) or not named)) and not is_in_lines(HOSTED, script.lines, _LONGEST)
    alone = alone and not is_in_lines(BETWEEN, script.lines, _LONGEST)
    for call in calls:
        if call.port == port or (call.kind == "create" and alone):
            yield call


def stands_elsewhere(case: Case, port: str, first: int, last: int) -> bool:
    """Whether the number stands in another line than these: something of the text may listen there."""
    number = re.compile(rf"(?<!\d){port}(?!\d)")
    lines = enumerate(case.script.lines, 1)
    return any(number.search(text[:_LONGEST]) for at, text in lines if not first <= at <= last)


def is_named(case: Case, word: str) -> bool:
    """Whether the text speaks of an option or a variable anywhere: the server may be started with it."""
    return is_in_lines(_word(word), case.script.lines, _LONGEST)


@lru_cache(maxsize=64)
def _word(word: str) -> re.Pattern[str]:
    return re.compile(re.escape(word).replace("\\-", "[-_]"))


def is_shown_to_fail(case: Case, line: int, end: int = 0) -> bool:
    """Whether the text around a request speaks of an error: it is then shown as one that is refused. Who pastes the
    answer that he got, and says no more of it, does not know why."""
    lines = [text[:_LONGEST] for text in case.script.lines[max(0, line - _NEAR - 1) : max(line, end) + _NEAR]]
    fails = [text for text in lines if _FAILS.search(_NUMBERS.sub("", text))]
    if not any(map(is_answer, fails)):
        return bool(fails)
    return any(_EXPECTED.search(text) for text in lines if not is_answer(text))
