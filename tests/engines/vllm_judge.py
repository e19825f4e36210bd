"""Run by the engine's own Python: what vLLM's parser and its configuration say of command lines, without starting any.

On standard input a list of argument lists, those behind `vllm serve`; on standard output, in their order, "" for each
that is taken, else `parser: …` or `configuration: …`.
"""

import json
import os
import sys

stdout = os.dup(1)  # vLLM logs to it
os.dup2(2, 1)

from vllm.engine.arg_utils import AsyncEngineArgs  # noqa: E402
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args  # noqa: E402
from vllm.utils.argparse_utils import FlexibleArgumentParser  # noqa: E402


def judge(argv: list[str]) -> str:
    try:
        parsed = make_arg_parser(FlexibleArgumentParser()).parse_args(argv)
        parsed.model = parsed.model_tag or parsed.model  # as `vllm serve` does
        validate_parsed_serve_args(parsed)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it is the answer
        return f"parser: {type(error).__name__}: {error}"
    try:
        AsyncEngineArgs.from_cli_args(parsed).create_engine_config()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it is the answer
        return f"configuration: {type(error).__name__}: {error}"
    return ""


said = [judge(argv) for argv in json.load(sys.stdin)]
with os.fdopen(stdout, "w") as out:
    json.dump(said, out)
