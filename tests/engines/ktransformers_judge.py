"""Run by the engine's own Python: what the parser of KTransformers' SGLang says of command lines. As sglang_judge.py,
without the resolver."""

import argparse

from judging import answer, refusal  # before the engine: what is imported then logs
from sglang.srt.server_args import ServerArgs


def judge(argv: list[str]) -> str:
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    return refusal("parser", lambda: parser.parse_args(argv))


answer(judge)
