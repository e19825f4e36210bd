"""Settings that all ranks of one engine must share, where the nodes' commands differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Reading
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.mended_lines import program_words
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_SHARED: Final = (
    *("--speculative-config", "--speculative-algorithm", "--speculative-num-steps", "--speculative-eagle-topk"),
    *("--speculative-num-draft-tokens", "--speculative-draft-model-path"),
    *("--kv-cache-dtype", "--block-size", "--page-size", "--max-model-len", "--context-length", "--dtype"),
    *("--quantization", "--revision", "--decode-context-parallel-size", "--prefill-context-parallel-size"),
    *("--dcp-size", "--expert-parallel-size", "--ep-size", "--enable-expert-parallel", "--enable-dp-attention"),
    *("--enable-dp-lm-head", "--moe-a2a-backend", "--all2all-backend", "--moe-dense-tp-size", "--attention-backend"),
    *("--chunked-prefill-size", "--max-prefill-tokens", "--max-running-requests", "--max-num-batched-tokens"),
    *("--max-num-seqs", "--schedule-policy", "--disable-radix-cache", "--enable-mixed-chunk", "--enforce-eager"),
    *("--disable-overlap-schedule", "--disable-cuda-graph"),
    *("--disaggregation-mode", "--enable-eplb", "--eplb-config", "--ep-num-redundant-experts"),
)
_MOST: Final = 5
_MODULES: Final = "dynamo."


def unlike_ranks(case: Case) -> Iterator[Remark]:
    """`num_speculative_tokens` of 1 on the first node and of 3 on the second."""
    if len(case.commands) < 2 or case.open_ended or is_fragment(case.commands[0]):
        return
    if any(command.more for command in case.commands):
        return
    case.script.budget.work(len(_SHARED) * len(case.commands), "its engine commands")
    found = 0
    for flag in _SHARED:
        first = _values(case.first, flag)
        for number, reading in enumerate(case.readings[1:], 1):
            other = _values(reading, flag)
            key = next((each for each in {**first, **other} if first.get(each) != other.get(each)), None)
            if key is None or _is_open(first.get(key, "")) or _is_open(other.get(key, "")) or found == _MOST:
                continue
            found += 1
            name = f"{key} of {flag}" if key else flag
            here, there = (_said(values.get(key)) for values in (other, first))
            message = f"{name}: {here} here, {there} on the first node, and all ranks of one engine must agree on it"
            remedy = "give all nodes the same"
            at = _place(reading, flag)
            remark = make_remark(
                Severity.WARNING, Code.CONFLICT, flag, message, remedy, at=at.index if at is not None else None
            )
            yield replace(remark, command=number)
            break


def unlike_modules(case: Case) -> Iterator[Remark]:
    """One node starts another module of the same worker: `dynamo.x` on the first, `dynamo.x.decode_worker` here."""
    names = [next((word for word in program_words(each) if word.startswith(_MODULES)), "") for each in case.commands]
    for number, name in enumerate(names):
        if number and name != names[0] and (name or names[0]) and not is_fragment(case.commands[number]):
            message = f"{name or 'another program'} here, and {names[0] or 'another program'} on the first node: the "
            message += "ranks of one worker are started by the same module"
            remark = make_remark(
                Severity.WARNING, Code.CONFLICT, name or names[0], message, "start the same on all nodes"
            )
            yield replace(remark, command=number)
            return


def _place(reading: Reading, flag: str) -> Occurrence | None:
    return reading.parsed.occurrence(flag)


def _values(reading: Reading, flag: str) -> Mapping[str, str]:
    """The option's value under "", or each key of an object; empty where it is not given."""
    place = _place(reading, flag)
    if place is None or place.problem is not None:
        return {}
    value: object = place.value
    if isinstance(value, str):
        text = value.strip("'\"")
        inner = as_json(value.strip("'")) if text.startswith("{") else None
        if isinstance(inner, Mapping):
            return {str(key): str(each) for key, each in inner.items()}
        return {"": text}
    return {"": " ".join(value) if isinstance(value, tuple) else str(value)}


def _is_open(text: str) -> bool:
    return bool(text) and unresolved(text)


def _said(value: str | None) -> str:
    return "not given" if value is None else "given" if value == "True" else shortened(value, 40)
