"""Run by the engine's own Python: what SGLang's parser and its resolver say of command lines, without starting any.

On standard input a list of argument lists, those behind `sglang.launch_server`; on standard output, in their order, ""
for each that is taken, else `parser: …` or `configuration: …`.
"""

import moonpad_sglang_cpu  # noqa: F401 - what the wheel lacks on a processor
from judging import answer, refusal  # before the engine: what is imported then logs
from sglang.srt.server_args import prepare_server_args


def judge(argv: list[str]) -> str:
    """A device that is not here must be named: SGLang asks the machine otherwise."""
    if "--device" not in argv:
        argv = [*argv, "--device", "cuda"]
    return refusal("parser", lambda: prepare_server_args(argv)) or refusal(
        "configuration", lambda: prepare_server_args(argv).resolve_once()
    )


answer(judge)
