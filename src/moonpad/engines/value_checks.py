"""Whether a text can be the value of an option, and what it says. Nothing here raises."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Final

from moonpad.engines.former_forms import as_object

_PLACEHOLDER: Final = re.compile(
    r"\$|<[^<>]*>|\{\{|\.\.\.|…|\*\*\*"
    r"|%\([A-Za-z_]\w*\)[sd]"  # of supervisord
    r"|\{[A-Za-z_]\w*(?:\.\w+|\[\w+\])*(?::[\d.]*[defgs])?\}"  # of Python: `{port}`, `{args.port}`, `{port:d}`
    r"|\A(?:%[A-Za-z]\w*%|__[A-Za-z]\w*?__|@{1,2}[A-Za-z]\w*@{1,2}|!\w+!|[Yy]our[-_]?[A-Za-z][\w-]*"
    r"|(?:server|my|the|some)[-_](?:port|host|ip|address|number))\Z"
)
_BRACKETED: Final = re.compile(r"(?:\d+[*x])?\[{1,2}[A-Za-z][\w-]*\]{1,2}")
"""`[port]`, `4*[concurrency]`; of JSON it may be a list that lost its quotes."""
_DEEPEST: Final = 64
_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{\]}]', re.S)
_LARGEST: Final = 2**63 - 1

_HUMAN: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<suffix>[kKmMgGtT]i?)?\Z", re.ASCII)
_THOUSANDS: Final = {"k": 1, "m": 2, "g": 3, "t": 4}
SWITCHED: Final = re.compile(
    r"(?:\$\([ ]*(?:\[{1,2}[ ][^\]]{1,200}[ ]\]{1,2}|test[ ][^&|;]{1,200})[ ]*&&[ ]*(?:echo|printf)[ ]+[\"']?"
    r"|\$\{[A-Za-z_]\w{0,60}:\+)(?P<switch>--[a-z][a-z-]*)(?:[ ]--(?:data-parallel-start|node)-rank[ =]\d{1,4})?"
    r"(?:[\"']?[ ]*\)|\})"
)
"""`$( [ "$RANK" != 0 ] && echo --headless )`, `${WORKER:+--headless}`: a switch, or nothing. The rank of the
node may be with it."""
ENDPOINT: Final = re.compile(
    r"\$\{[A-Za-z_]\w{0,60}:\+"
    r"(?:[ ]?--(?:host|port|api-key|log-level|uvicorn-log-level|api-server-count)[ =][^\s${}]{1,80}"
    r"|[ ]?--(?:enable-metrics|enable-log-requests|disable-log-requests|log-requests)(?![\w-])){1,6}\}"
)
"""`${SERVER_ARGS:+--host 0.0.0.0 --port 8000}`, as the first of several nodes has it: with it or without, layout and
context are the same."""
_SUBSTITUTED: Final = re.compile(r"`[^`\n]{1,200}`")
"""The output of a command, in the older form of `$(...)`."""


def unresolved(text: str) -> bool:
    """Whether something stands in for the value: a shell variable that is not set, `<YOUR_MODEL_DIR>`, a template."""
    return bool(_PLACEHOLDER.search(text) or _BRACKETED.fullmatch(text) or _SUBSTITUTED.search(text))


def fits(kind: str, choices: tuple[str, ...], text: str, check: Callable[[str], bool] | None = None) -> bool:
    """Whether the option's own parser takes the text. A placeholder is never judged."""
    if (unresolved(text) and kind != "json") or (kind == "json" and "{%" in text):
        return True
    if check is not None:
        return check(text)
    if choices:
        return text in choices
    if kind == "int":
        return whole(text) is not None
    if kind == "float":
        return number(text) is not None
    if kind == "json":
        value = as_json(text)  # a number alone or `true` is JSON, but no option of an engine takes it
        stands_in = _PLACEHOLDER.search(text) is not None and not as_object(text)
        return stands_in or isinstance(value, dict | list | str) or text.strip() == "null"
    return True


def whole(text: str) -> int | None:
    """The whole number that `int()` reads, within 64 bits."""
    try:
        value = int(text)
    except ValueError:  # also for more digits than Python converts
        return None
    return value if -_LARGEST <= value <= _LARGEST else None


def number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def as_json(text: str) -> object | None:
    """What the JSON says; None for null, for what is no JSON, and for nesting beyond all reason."""
    if text.count("[") + text.count("{") > _DEEPEST and _depth(text) > _DEEPEST:
        return None
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return value


@lru_cache(maxsize=16)
def _depth(text: str) -> int:
    """How deep lists and objects are nested, counted before anything is built of them."""
    signs = (1 if sign in "[{" else -1 for sign in _BRACKETS.findall(text) if sign in "[{]}")
    return max(accumulate(signs), default=0)


def vllm_tokens(text: str) -> int | None:
    """vLLM's human-readable whole numbers: 1k is 1000, 1K is 1024, 25.6k is 25,600; 25.6K is refused.

    -1 for `-1` and `auto`. As the help of `--max-model-len` of vLLM 0.32.0 says.
    """
    if text in ("auto", "-1"):
        return -1
    match = _HUMAN.match(text)
    if match is None or len(match["suffix"] or "") > 1:
        return whole(text)
    suffix = match["suffix"] or ""
    return _scaled(match["number"], suffix, binary=suffix.isupper())


def sglang_tokens(text: str) -> int | None:
    """SGLang's: k, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024; suffixes are case-sensitive.

    As the help of `--context-length` of SGLang 0.5.23 says.
    """
    match = _HUMAN.match(text)
    if match is None:
        return whole(text)
    suffix = match["suffix"] or ""
    if suffix not in ("", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"):
        return None
    return _scaled(match["number"], suffix, binary=suffix.endswith("i"))


def _scaled(digits: str, suffix: str, *, binary: bool) -> int | None:
    if len(digits) > 30 or ("." in digits and (binary or not suffix)):
        return None
    power = _THOUSANDS.get(suffix[:1].lower(), 0)
    value = float(digits) if "." in digits else int(digits)
    scaled = round(value * (1024 if binary else 1000) ** power)
    return scaled if scaled <= _LARGEST else None
