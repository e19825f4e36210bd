"""Run by the engine's own Python: what SGLang's parser makes of command lines, without starting any.

On standard input a list of [arguments, [names]]; on standard output, in their order, the error, or the values under
those names.
"""

import contextlib
import io
import json
import os
import sys

import moonpad_sglang_cpu  # noqa: F401 - what the wheel lacks on a processor
from judging import STDOUT  # before the engine: what is imported then logs
from sglang.srt.server_args import prepare_server_args


def parse(argv: list[str], names: list[str]) -> "dict[str, object] | str":
    stderr = io.StringIO()
    try:
        with contextlib.redirect_stderr(stderr):
            parsed = prepare_server_args(argv)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it is the answer
        lines = stderr.getvalue().strip().splitlines()
        return lines[-1] if lines else str(error)
    return {name: getattr(parsed, name) for name in names}


answers = [parse(argv, names) for argv, names in json.load(sys.stdin)]
with os.fdopen(STDOUT, "w") as out:
    json.dump(answers, out)
