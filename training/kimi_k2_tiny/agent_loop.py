"""One agent, many tool calls: `python -m training.kimi_k2_tiny.agent_loop --url URL --calls 300 --out FILE.json`.

The tool names the next page, the model opens it, and so on; what the model says goes back to it as it came, with its
thinking. A turn drifts when anything is not as it should be: one call, its name, its id counted on, its argument, the
thinking, the finish reason. The first such turn ends the loop; after the last page comes the answer.
"""

import argparse
import json
import random
import time
from pathlib import Path

from .chains import FINAL_THOUGHT, FOLLOW, NEXT, draw_page
from .score import Outcome, ask_version, post, read_call
from .tools import declare
from .values import Values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", default="kimi-k2")
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()

    started = time.monotonic()
    turns, drift = run(arguments)
    report = {
        "engine": ask_version(arguments.url),
        "calls": arguments.calls,
        "seed": arguments.seed,
        "first_drift": drift,
        "prompt_tokens": turns[-1]["prompt_tokens"],
        "seconds": round(time.monotonic() - started, 1),
        "turns": turns,
    }
    arguments.out.write_text(json.dumps(report) + "\n")
    print(f"{len(turns)} turns, {report['prompt_tokens']} tokens, first drift: {drift or 'none'}")


def run(arguments: argparse.Namespace) -> tuple[list[Outcome], Outcome | None]:
    values = Values(random.Random(f"loop:{arguments.seed}"), reserved=True)
    tool = declare(FOLLOW, values, disguised=False)
    pages = [draw_page(values) for _ in range(arguments.calls)]
    messages: list[Outcome] = [{"role": "user", "content": FOLLOW.asks[0].format(pages[0])}]
    turns: list[Outcome] = []
    for number, page in enumerate(pages):
        wanted = {
            "reasoning": FOLLOW.thought.format(page),
            "finish_reason": "tool_calls",
            "calls": [{"id": f"functions.{tool.name}:{number}", "name": tool.name, "arguments": {tool.keys[0]: page}}],
        }
        message, got = ask(messages, tool.schema, arguments)
        turns.append(got)
        if drift := differs(wanted, got, number + 1):
            return turns, drift
        last = number == len(pages) - 1
        result = "end" if last else NEXT.format(pages[number + 1])
        messages += [message, {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": result}]
    wanted = {
        "reasoning": FINAL_THOUGHT,
        "finish_reason": "stop",
        "calls": [],
        "content": FOLLOW.answer.format(pages[-1]),
    }
    _, got = ask(messages, tool.schema, arguments)
    turns.append(got)
    return turns, differs(wanted, got, len(pages) + 1)


def ask(messages: list[Outcome], schema: Outcome, arguments: argparse.Namespace) -> tuple[Outcome, Outcome]:
    """The message to send back, and what is judged."""
    body = {"model": arguments.model, "messages": messages, "tools": [schema], "temperature": 0, "max_tokens": 200}
    said = post(f"{arguments.url.rstrip('/')}/v1/chat/completions", body)
    choice = said["choices"][0]
    message = choice["message"]
    calls = message.get("tool_calls") or []
    reasoning = message.get("reasoning") or message.get("reasoning_content") or ""
    content = message.get("content") or ""
    back = {"role": "assistant", "content": content, "reasoning": reasoning, "tool_calls": calls}
    return back, {
        "reasoning": reasoning,
        "content": content,
        "finish_reason": choice["finish_reason"],
        "calls": [read_call(call) for call in calls],
        "prompt_tokens": said["usage"]["prompt_tokens"],
    }


def differs(wanted: Outcome, got: Outcome, turn: int) -> Outcome | None:
    if wrong := {key: [value, got[key]] for key, value in wanted.items() if got[key] != value}:
        return {"turn": turn, "wanted_and_got": wrong}
    return None


if __name__ == "__main__":
    main()
