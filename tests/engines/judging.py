"""What the judges share. Run by an engine's own Python: command lines on standard input, answers on standard output."""

import json
import os
import sys

STDOUT = os.dup(1)  # engines log to it
os.dup2(2, 1)


def refusal(stage, do):
    """What `do` says against it, as `stage: …`; "" where it says nothing, or where the parser alone is asked."""
    if stage == "configuration" and os.environ.get("PARSER_ALONE"):
        return ""
    try:
        do()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it is the answer
        return f"{stage}: {type(error).__name__}: {error}"
    return ""


def answer(judge):
    verdicts = [judge(argv) for argv in json.load(sys.stdin)]
    with os.fdopen(STDOUT, "w") as out:
        json.dump(verdicts, out)
