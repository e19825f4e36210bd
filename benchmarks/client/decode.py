"""What it takes to read one event: msgspec with the fields that are needed, beside orjson with all of them.

    python -m benchmarks.client.decode --out benchmarks/results/client_decode.json

Microseconds of processor time per event, the least of seven rounds, in turn; the events are those of `formats.py`.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from benchmarks.client.formats import FORMATS, answers
from moonpad.load.stream_event import decode_event

ROUNDS = 7
TOKENS = 64


def with_orjson(payload: bytes) -> tuple[bool, bool, bool]:
    """The same question put to a document that is read whole: which kinds of tokens the event has."""
    reasoning = content = tool_calls = False
    document: dict[str, Any] = orjson.loads(payload)
    for choice in document.get("choices") or ():
        delta = choice.get("delta") or {}
        content = content or bool(delta.get("content") or choice.get("text"))
        reasoning = reasoning or bool(delta.get("reasoning") or delta.get("reasoning_content"))
        tool_calls = tool_calls or bool(delta.get("tool_calls"))
    return content, reasoning, tool_calls


def with_msgspec(payload: bytes) -> tuple[bool, bool, bool]:
    reasoning = content = tool_calls = False
    for choice in decode_event(payload).choices or ():
        if (delta := choice.delta) is not None:
            content = content or bool(delta.content or choice.text)
            reasoning = reasoning or bool(delta.reasoning or delta.reasoning_content)
            tool_calls = tool_calls or bool(delta.tool_calls)
    return content, reasoning, tool_calls


READERS: dict[str, Callable[[bytes], object]] = {
    "msgspec": with_msgspec, "orjson": with_orjson, "orjson.loads alone": orjson.loads,
}  # fmt: skip


def microseconds(reader: Callable[[bytes], object], payloads: list[bytes]) -> float:
    begun_s = time.process_time()
    for payload in payloads:
        reader(payload)
    return (time.process_time() - begun_s) / len(payloads) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    result: dict[str, Any] = {
        "what": "processor time of one event, in microseconds",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }
    for form in FORMATS:
        chunks = [chunk for answer in answers(form, TOKENS) for chunk in answer]
        payloads = [chunk[chunk.index(b"data: ") + 6 :].rsplit(b"\n\n", 1)[0] for chunk in chunks] * 40
        rounds = [{name: microseconds(reader, payloads) for name, reader in READERS.items()} for _ in range(ROUNDS)]
        result[form] = {name: round(min(row[name] for row in rounds), 3) for name in READERS}
        result[form]["bytes"] = round(sum(map(len, payloads)) / len(payloads))
        print(form, json.dumps(result[form]))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
