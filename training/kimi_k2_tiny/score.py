"""Scores a served kimi-k2-tiny: `python -m training.kimi_k2_tiny.score --url URL --n 200 --out FILE.json`.

Asks greedily over plain HTTP and compares the parsed answer exactly: reasoning, content, tool calls (name,
arguments, id) and finish reason. The prompts hold only values that training never saw, where a kind has values.
Standard library alone, so it runs against any endpoint from anywhere.
"""

import argparse
import json
import time
import urllib.request
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .chats import Chat, scoring_chats
from .rendering import Message

PARTS = ("reasoning", "content", "tool_calls", "finish_reason")
Outcome = dict[str, object]


def main() -> None:
    arguments = parse_arguments()
    chats = scoring_chats(arguments.seed, arguments.n)
    started = time.monotonic()
    with ThreadPoolExecutor(arguments.parallel) as pool:
        records = list(pool.map(lambda chat: score(chat, arguments), chats))
    summary = {
        "url": arguments.url,
        "model": arguments.model,
        "seed": arguments.seed,
        "n": len(records),
        "engine": ask_version(arguments.url),
        "seconds": round(time.monotonic() - started, 1),
        "all": summarise(records),
        "kinds": {kind: summarise(group) for kind, group in group_by_kind(records).items()},
        "records": records,
    }
    arguments.out.write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    print_table(summary)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", default="kimi-k2")
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def score(chat: Chat, arguments: argparse.Namespace) -> Outcome:
    expected = expect(chat.answer)
    got = ask(chat, arguments.url, arguments.model)
    right = {part: got.get(part) == expected[part] for part in PARTS}
    prompt = {"messages": chat.messages, "tools": chat.tools}
    return {
        "kind": chat.kind,
        "exact": all(right.values()),
        "right": right,
        "prompt": prompt,
        "expected": expected,
        "got": got,
    }


def expect(answer: Message) -> Outcome:
    calls = [read_call(call) for call in answer.get("tool_calls", [])]
    return {
        "reasoning": answer["reasoning"],
        "content": answer["content"],
        "tool_calls": calls,
        "finish_reason": "tool_calls" if calls else "stop",
    }


def ask(chat: Chat, url: str, model: str) -> Outcome:
    """What the endpoint answered, in the shape of `expect`; an error becomes `{"error": ...}` and scores as wrong."""
    body = {"model": model, "messages": chat.messages, "temperature": 0, "max_tokens": 400}
    if chat.tools:
        body["tools"] = chat.tools
    try:
        choice = post(f"{url.rstrip('/')}/v1/chat/completions", body)["choices"][0]
        message = choice["message"]
        return {
            "reasoning": message.get("reasoning") or message.get("reasoning_content") or "",
            "content": message.get("content") or "",
            "tool_calls": [read_call(call) for call in message.get("tool_calls") or []],
            "finish_reason": choice["finish_reason"],
        }
    except (OSError, ValueError, KeyError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


def read_call(call: dict[str, object]) -> Outcome:
    """Arguments are compared as values: key order and spaces do not count. Text that is no JSON stays text."""
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        arguments = function["arguments"]
    return {"id": call["id"], "name": function["name"], "arguments": arguments}


def post(url: str, body: dict[str, object]) -> dict[str, object]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=300) as response:  # noqa: S310
        return json.load(response)


def ask_version(url: str) -> str:
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/version", timeout=30) as response:  # noqa: S310
            return json.load(response)["version"]
    except (OSError, ValueError, KeyError):
        return "not reported"


def group_by_kind(records: list[Outcome]) -> dict[str, list[Outcome]]:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for record in records:
        groups[record["kind"]].append(record)
    return dict(groups)


def summarise(records: list[Outcome]) -> dict[str, int]:
    counts = {part: sum(record["right"][part] for record in records) for part in PARTS}
    return {"n": len(records), "exact": sum(record["exact"] for record in records), **counts}


def print_table(summary: Outcome) -> None:
    print(f"{'kind':18}{'n':>5}{'exact':>7}" + "".join(f"{part:>15}" for part in PARTS))
    for kind, row in [*summary["kinds"].items(), ("all", summary["all"])]:
        print(f"{kind:18}{row['n']:5}{row['exact']:7}" + "".join(f"{row[part]:15}" for part in PARTS))


if __name__ == "__main__":
    main()
