"""How texts of other tools name the programs of the engines, and the variables that hold their options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

MODEL_FIRST: Final = r"(?:vllm[ \t]+serve|trtllm-serve(?:[ \t]+serve)?)"
"""A regular expression for the programs that take the model as their first argument."""
IN_A_LIST: Final = re.compile(
    r"\[\s*\"(?:[\w./-]*/)?(?:vllm|trtllm-serve|sglang|llama-server|python3?\"\s*,\s*\"-m\"\s*,\s*\"(?:sglang|vllm)\.[\w.]+)\""
)
"""The beginning of a list in JSON that holds a whole command."""
BEHIND_A_SENTENCE: Final = r"(?:python3?[ ]-m|vllm[ ]serve|sglang[ ]serve|trtllm-serve|llama-server|docker[ ]run)\b"
"""A regular expression for how a command begins that a sentence leads to without a blank."""
SERVER_ALONE: Final = re.compile(
    r"(?:vllm[ \t]+serve|sglang[ \t]+serve|-m[ \t]+(?:sglang\.launch_server|vllm\.entrypoints\.\S+)|trtllm-serve"
    r"|llama-server(?:\.exe)?)\Z"
)
"""How a line ends that starts a server and goes on in the next one."""
HIDDEN_PROGRAM: Final = re.compile(
    r"\$\([^)]{0,200}(?:vllm|sglang|trtllm|llama-server|ktransformers)[^)]{0,200}\)"
    r"|\$\{?[A-Z_]{0,40}(?:SERVER|COMMAND|CMD|BIN|ENGINE)[A-Z_]{0,40}(?:\[@\])?\}?"
)
"""A program that a function or a variable holds."""
OPTION_VARIABLE: Final = re.compile(r"(?:VLLM|SGLANG|SERVER|ENGINE|LLAMA|TRTLLM)_(?:\w+_)?(?:ARGS|FLAGS|OPTIONS|OPTS)")
"""Variables that hold options."""
READ: Final = "moonpad explain reads vLLM, SGLang, TensorRT-LLM, KTransformers and llama.cpp"
MACHINES: Final = "--nnodes"
MEETING: Final = "--dist-init-addr"
"""Of the engine whose machines meet at one address with its port."""
OTHER_MACHINES: Final = frozenset({"--num-nodes", "--node-count", "--n-nodes", "--number-of-nodes"})
OTHER_MEETING: Final = ("--master-addr", "--master-port")
"""What others call the same: the address, and the port of its own."""
LAUNCHERS_OF_ENGINES: Final[Mapping[str, str]] = {
    "xinference launch": "Xinference",
    "openllm serve": "OpenLLM",
    "swift deploy": "ms-swift",
    "llamafactory-cli api": "LLaMA-Factory",
}
"""Programs of others that start an engine by options of their own."""
ENGINES_BY_WORD: Final[Mapping[str, str]] = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "llama.cpp": "llama.cpp",
    "lmdeploy": "LMDeploy",
    "transformers": "Transformers",
    "pt": "Transformers",
}
PACKAGES_ALONE: Final[Mapping[str, tuple[str, str]]] = {
    "vllm": ("vllm serve", "vllm.entrypoints.cli.main serve"),
    "sglang": ("sglang serve", "sglang.launch_server"),
}
"""Packages without a `__main__.py`, which `python -m` refuses (cannot be directly executed): none of vLLM's releases
has one, nor does SGLang. The program to start in its place, and the module that does the same."""

STARTING_SCRIPT: Final = re.compile(
    r"(?:^|[-_.])(?:serve|serving|server|start|launch\w*|run|deploy|entrypoint|vllm|sglang|trtllm|llama)(?=$|[-_.])",
    re.IGNORECASE,
)
"""In the name of a script that starts an engine, where the script is not at hand."""
