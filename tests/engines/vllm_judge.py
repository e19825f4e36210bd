"""Run by the engine's own Python: what vLLM's parser and its configuration say of command lines, without starting any.

On standard input a list of argument lists, those behind `vllm serve`; on standard output, in their order, "" for each
that is taken, else `parser: …` or `configuration: …`.
"""

from argparse import Namespace

from judging import answer, refusal  # before the engine: what is imported then logs
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.utils.argparse_utils import FlexibleArgumentParser


def parse(argv: list[str]) -> Namespace:
    parsed = make_arg_parser(FlexibleArgumentParser()).parse_args(argv)
    parsed.model = parsed.model_tag or parsed.model  # as `vllm serve` does
    validate_parsed_serve_args(parsed)
    return parsed


def judge(argv: list[str]) -> str:
    return refusal("parser", lambda: parse(argv)) or refusal(
        "configuration", lambda: AsyncEngineArgs.from_cli_args(parse(argv)).create_engine_config()
    )


answer(judge)
