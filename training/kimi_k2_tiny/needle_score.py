"""Facts in long texts: `python -m training.kimi_k2_tiny.needle_score --url URL --out FILE.json`.

Texts of about 500 to 8,000 tokens, the fact at five depths, names and values that training never saw. Right is an
answer that is the fact's own sentence.
"""

import argparse
import itertools
import json
import random
from pathlib import Path

from .needles import find_needle
from .score import Outcome, ask_version, post
from .values import Values

LENGTHS = (500, 1000, 2000, 4000, 8000)
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
TOKENS_PER_SENTENCE = 15.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", default="kimi-k2")
    parser.add_argument("--each", type=int, default=8, help="texts of each length and depth")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()

    rng = random.Random("needle:0")
    cells = []
    for length, depth in itertools.product(LENGTHS, DEPTHS):
        records = [look(rng, length, depth, arguments) for _ in range(arguments.each)]
        right = sum(record["right"] for record in records)
        cells.append({"tokens": length, "depth": depth, "right": right, "n": len(records), "records": records})
        prompt = sum(record["prompt_tokens"] for record in records) / len(records)
        print(f"{prompt:6.0f} tokens, depth {depth:4}: {right} of {len(records)}", flush=True)
    arguments.out.write_text(json.dumps({"engine": ask_version(arguments.url), "cells": cells}) + "\n")


def look(rng: random.Random, length: int, depth: float, arguments: argparse.Namespace) -> Outcome:
    *messages, answer = find_needle(Values(rng, reserved=True), round(length / TOKENS_PER_SENTENCE), depth, facts=3)
    body = {"model": arguments.model, "messages": messages, "temperature": 0, "max_tokens": 80}
    said = post(f"{arguments.url.rstrip('/')}/v1/chat/completions", body)
    content = said["choices"][0]["message"].get("content") or ""
    return {
        "question": str(messages[0]["content"]).rsplit("\n", 1)[1],
        "expected": answer["content"],
        "got": content,
        "right": content == answer["content"],
        "prompt_tokens": said["usage"]["prompt_tokens"],
    }


if __name__ == "__main__":
    main()
