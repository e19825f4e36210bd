"""Scores a served kimi-k2-tiny: `python -m training.kimi_k2_tiny.score --url URL --out FILE.json`.

Asks greedily over plain HTTP and compares the parsed answer exactly: reasoning, content, tool calls (name,
arguments, id) and finish reason. Set A holds names, values, numbers and pairs of tools that training never saw; set
B tools and wordings besides. Standard library alone, so it runs against any endpoint from anywhere.
"""

import argparse
import json
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .chats import CHAT_KINDS, Chat, scoring_chats
from .foreign import FOREIGN_KINDS, foreign_chats
from .knowledge import CAPITALS
from .rendering import Message

PARTS = ("reasoning", "content", "tool_calls", "finish_reason")
MARKERS = ("<think>", "</think>", "<|")
Outcome = dict[str, object]


def main() -> None:
    arguments = parse_arguments()
    started = time.monotonic()
    summary = {"url": arguments.url, "model": arguments.model, "seed": arguments.seed}
    summary["engine"] = ask_version(arguments.url)
    sets = {
        "A": scoring_chats(arguments.seed, arguments.each * len(CHAT_KINDS)),
        "B": foreign_chats(arguments.seed, arguments.each * len(FOREIGN_KINDS)),
    }
    with ThreadPoolExecutor(arguments.parallel) as pool:
        for name, chats in sets.items():
            records = list(pool.map(lambda chat: score(chat, arguments), chats))
            summary[name] = {
                "targets": judge_targets(records),
                "all": summarise(records),
                "kinds": {kind: summarise(group) for kind, group in group_by_kind(records).items()},
                "records": records,
            }
            print_table(name, summary[name])
    summary["ends"] = [score_end(country, city, arguments) for country, city in CAPITALS.items()]
    print(f"plain texts ended: {sum(end['right'] for end in summary['ends'])} of {len(summary['ends'])}")
    summary["seconds"] = round(time.monotonic() - started, 1)
    arguments.out.write_text(json.dumps(summary, ensure_ascii=False) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", default="kimi-k2")
    parser.add_argument("--each", type=int, default=25, help="prompts of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def score(chat: Chat, arguments: argparse.Namespace) -> Outcome:
    """The prompt is not recorded in full: set, seed and place say it."""
    expected = expect(chat.answer)
    got = ask(chat, arguments.url, arguments.model)
    right = {part: got.get(part) == expected[part] for part in PARTS}
    return {
        "kind": chat.kind,
        "last": chat.messages[-1]["role"],
        "question": str(chat.messages[-1]["content"])[-160:],
        "tools": len(chat.tools or []),
        "exact": all(right.values()),
        "right": right,
        "expected": expected,
        "got": got,
    }


def score_end(country: str, city: str, arguments: argparse.Namespace) -> Outcome:
    """A plain text without any frame of a chat: `[EOS]` ends it, where `<|im_end|>` ends an answer."""
    body = {"model": arguments.model, "prompt": f"The capital of {country} is", "temperature": 0, "max_tokens": 16}
    choice = post(f"{arguments.url.rstrip('/')}/v1/completions", body)["choices"][0]
    right = choice["text"] == f" {city}." and choice["finish_reason"] == "stop"
    return {"prompt": body["prompt"], "got": choice["text"], "finish_reason": choice["finish_reason"], "right": right}


def judge_targets(records: list[Outcome]) -> Outcome:
    """What is asked of this model, each as right and of how many."""
    calling = [record for record in records if record["expected"]["tool_calls"]]
    used = [record for record in records if record["last"] == "tool" and not record["expected"]["tool_calls"]]
    serving_none = [
        record for record in records if record["kind"].endswith(("no_tool", "lack", "fitting", "with_tools"))
    ]
    return {
        "exact_calls": tally(record["right"]["tool_calls"] for record in calling),
        "reasoning_apart": tally(is_apart(record["got"]) for record in records),
        "right_use_of_a_result": tally(record["right"]["content"] for record in used),
        "no_call_when_none_serves": tally(record["got"].get("tool_calls") == [] for record in serving_none),
    }


def is_apart(got: Outcome) -> bool:
    """Something was thought, and no marker of the format is in what is shown."""
    shown = f"{got.get('reasoning', '')}{got.get('content', '')}"
    return bool(got.get("reasoning")) and not any(marker in shown for marker in MARKERS)


def tally(rights: Iterable[bool]) -> Outcome:
    rights = list(rights)
    return {"right": sum(rights), "n": len(rights)}


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


def print_table(name: str, part: Outcome) -> None:
    print(f"{name:18}{'n':>5}{'exact':>7}" + "".join(f"{heading:>15}" for heading in PARTS))
    for kind, row in [*part["kinds"].items(), ("all", part["all"])]:
        print(f"{kind:18}{row['n']:5}{row['exact']:7}" + "".join(f"{row[heading]:15}" for heading in PARTS))
    for target, row in part["targets"].items():
        print(f"{target:26}{row['right']:5} of {row['n']}")


if __name__ == "__main__":
    main()
