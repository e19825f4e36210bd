"""Two engines with the same checkpoint, greedily asked the same: how often they answer the same.

`python -m benchmarks.engines_agree --first URL --second URL --prompts 100 --out FILE.json`. The prompts are those that
kimi-k2-tiny is scored with. The same: reasoning, content, tool calls with names, arguments and ids, finish reason.
History carries the thinking under both names: vLLM reads `reasoning`, SGLang `reasoning_content`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from moonpad.values.records import replace
from training.kimi_k2_tiny.chats import Chat, scoring_chats
from training.kimi_k2_tiny.score import ask, expect


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", required=True)
    parser.add_argument("--second", required=True)
    parser.add_argument("--model", default="kimi-k2")
    parser.add_argument("--prompts", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()

    records = []
    for chat in map(under_both_names, scoring_chats(arguments.seed, arguments.prompts)):
        first, second = (ask(chat, url, arguments.model) for url in (arguments.first, arguments.second))
        record = {"kind": chat.kind, "same": first == second and "error" not in first, "first": first}
        record["first_right"], record["second_right"] = (answer == expect(chat.answer) for answer in (first, second))
        records.append(record if record["same"] else {**record, "second": second})
    same = sum(record["same"] for record in records)
    arguments.out.write_text(json.dumps({"same": same, "n": len(records), "records": records}, indent=1) + "\n")
    print(f"{same} of {len(records)} answers are the same")


def under_both_names(chat: Chat) -> Chat:
    messages = [
        message | {"reasoning_content": message["reasoning"]} if "reasoning" in message else message
        for message in chat.messages
    ]
    return replace(chat, messages=messages)


if __name__ == "__main__":
    main()
