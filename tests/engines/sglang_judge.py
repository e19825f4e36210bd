"""Run by the engine's own Python: what SGLang's parser and its resolver say of command lines, without starting any.

On standard input a list of argument lists, those behind `sglang.launch_server`; on standard output, in their order, ""
for each that is taken, else `parser: …` or `configuration: …`.
"""

import json
import os
import sys

stdout = os.dup(1)  # SGLang logs to it
os.dup2(2, 1)

import moonpad_sglang_cpu  # noqa: E402, F401 - what the wheel lacks on a processor
from sglang.srt.server_args import prepare_server_args  # noqa: E402


def judge(argv: list[str]) -> str:
    """A device that is not here must be named: SGLang asks the machine otherwise."""
    if "--device" not in argv:
        argv = [*argv, "--device", "cuda"]
    try:
        args = prepare_server_args(argv)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it is the answer
        return f"parser: {type(error).__name__}: {error}"
    try:
        args.resolve_once()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it is the answer
        return f"configuration: {type(error).__name__}: {error}"
    return ""


said = [judge(argv) for argv in json.load(sys.stdin)]
with os.fdopen(stdout, "w") as out:
    json.dump(said, out)
