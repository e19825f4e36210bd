"""Which program a command line runs, once its wrappers are off."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.wrapper_options import PYTHON, scan

MODULES: Final[Mapping[str, str]] = {
    "sglang.launch_server": "sglang",
    "moonpad_sglang_cpu": "sglang",
    "sglang.bench_serving": "sglang bench",
    "sglang_router.launch_server": "sglang-router",
    "sglang_router.launch_router": "sglang-router",
    "sglang.srt.disaggregation.launch_lb": "sglang-pdlb",
    "sglang.srt.disaggregation.mini_lb": "sglang-pdlb",
    "vllm.entrypoints.openai.api_server": "vllm serve",
    "ktransformers.server.main": "ktransformers-legacy",
    "tensorrt_llm.commands.serve": "trtllm-serve",
    "lm_eval": "lm_eval",
}
FILES: Final[Mapping[str, str]] = {
    "ktransformers/server/main.py": "ktransformers-legacy",
    "vllm/entrypoints/openai/api_server.py": "vllm serve",
    "sglang/launch_server.py": "sglang",
}
EXECUTABLES: Final[Mapping[tuple[str, ...], str]] = {
    ("vllm", "bench", "serve"): "vllm bench serve",
    ("vllm", "serve"): "vllm serve",
    ("sglang", "serve"): "sglang",
    ("sglang-router", "launch"): "sglang-router",
    ("sglang-router",): "sglang-router",
    ("smg", "launch"): "sglang-router",
    ("kt", "run"): "kt run",
    ("ktransformers",): "ktransformers-legacy",
    ("trtllm-serve", "disaggregated"): "trtllm-disaggregated",
    ("trtllm-serve", "serve"): "trtllm-serve",
    ("trtllm-serve",): "trtllm-serve",
    ("lm_eval",): "lm_eval",
    ("lm-eval",): "lm_eval",
    ("ray",): "ray",
}
_AS_MODULE: Final = {"vllm": "vllm", "vllm.entrypoints.cli.main": "vllm", "sglang": "sglang", "ray": "ray"}
"""Modules that are the executable of the same package, subcommands and all."""
_PYTHON: Final = re.compile(r"python[0-9]?(?:\.[0-9]{1,2})?", re.ASCII)
_LONGEST: Final = max(len(names) for names in EXECUTABLES)


def base_name(word: Word) -> str:
    return word.text.rstrip("/").rpartition("/")[2]


def is_python(word: Word) -> bool:
    """`python3`, `/usr/bin/python3.12`, and `$PYTHON`, which nothing else would be called."""
    return bool(_PYTHON.fullmatch(base_name(word))) or any("PYTHON" in name.upper() for name in word.unresolved[:1])


def identify(words: Sequence[Word]) -> tuple[str, int] | None:
    """The program and the place of its first argument; None for every other."""
    if not words:
        return None
    if is_python(words[0]):
        return _python(words)
    return _executable(base_name(words[0]), words, 1)


def _executable(name: str, words: Sequence[Word], behind: int) -> tuple[str, int] | None:
    for length in range(_LONGEST, 0, -1):
        names = (name, *(word.text for word in words[behind : behind + length - 1]))
        if len(names) == length and (program := EXECUTABLES.get(names)):
            return program, behind + length - 1
    return None


def _python(words: Sequence[Word]) -> tuple[str, int] | None:
    _, position = scan(words, 1, PYTHON)
    if position >= len(words):
        return None
    text = words[position].text
    if text == "-m" and position + 1 < len(words):
        module = words[position + 1].text
        if module in _AS_MODULE:
            return _executable(_AS_MODULE[module], words, position + 2)
        return (MODULES[module], position + 2) if module in MODULES else None
    for ending, program in FILES.items():
        if text == ending or text.endswith(f"/{ending}"):
            return program, position + 1
    # A console script called by its path: `python .venv/bin/vllm serve …`.
    return _executable(base_name(words[position]), words, position + 1)
