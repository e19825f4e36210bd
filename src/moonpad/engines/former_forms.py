"""How options were written in releases that are not recorded, and what says the same today."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

_SWITCHES: Final[Mapping[tuple[str, str], str]] = {("llama-server", "--flash-attn"): "on"}
"""Switches of a program that take a value now, and the value that says the same: b6325 of August 2025 was the first
(https://github.com/ggml-org/llama.cpp/pull/15434)."""
_CHANGED: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("llama-server", flag): ("b6325", "2025-08-30") for flag in ("--flash-attn", "-fa")
}
"""The first build that takes a value there, and its day."""
WITHOUT_WORDS: Final[Mapping[str, str]] = {"llama-server": "--model"}
"""Programs that take options alone in every build, for a word beside them ends the start (invalid argument) → the
option that names the weights."""
WEIGHTS_FILE: Final = re.compile(r"\S+\.gguf", re.IGNORECASE)
WITHOUT_EQUALS: Final = frozenset({"llama-server"})
"""Programs whose parser looks a word up as a whole, so that a value stands behind a blank alone (common/arg.cpp)."""
OVERRIDES: Final[Mapping[str, str]] = {"llama-server": "--override-tensor"}
"""The option that says which tensors lie where: `pattern=CPU`, `pattern=CUDA0`, joined by commas."""
BUFFERS: Final = ("CPU", "CUDA", "ROCm", "Vulkan", "SYCL", "Metal", "CANN", "OpenCL")
"""How the names of places begin; letters count."""
_TO_FILL: Final = r"\$\{[^{}=]{1,100}\}|\$[A-Za-z_]\w{0,60}|\{[A-Za-z_][\w.]{0,60}\}|<[A-Za-z][^<>=]{0,60}>"
_COUNT: Final = rf"(?:[a-z_]{{1,30}}|{_TO_FILL})=(?:[0-9]{{1,9}}|{_TO_FILL})"
_COUNTS: Final = re.compile(rf"{_COUNT}(?:,{_COUNT}){{0,9}}", re.ASCII)
"""`image=5,video=2` of vLLM's --limit-mm-per-prompt, before it was JSON; `${kind}=${limit}`, whatever the two hold."""


def former_switch(program: str, names: Iterable[str]) -> str:
    """The value that says what the option said alone, "" where it never did."""
    return next((value for name in names if (value := _SWITCHES.get((program, name)))), "")


def form_changed(program: str, written: str) -> tuple[str, str] | None:
    """The build from which on the option takes a value, and its day; None where that is not known."""
    return _CHANGED.get((program, written))


def as_object(text: str) -> str:
    """The JSON object of `name=number,…`, in which what stands in for a name or a number is left as it is; "" for every
    other text."""
    if not _COUNTS.fullmatch(text):
        return ""
    pairs = (pair.partition("=") for pair in text.split(","))
    return "{" + ", ".join(f"{json.dumps(name)}: {value.lstrip('0') or value}" for name, _, value in pairs) + "}"


READS_TRUTHS: Final = frozenset({"ktransformers-legacy"})
"""Programs whose releases have read `true` behind an option that is a switch in others."""
FIRST_WITHOUT_TRUTHS: Final[Mapping[str, str]] = {"vllm serve": "0.9.0"}
"""From which release on a program refuses `true` behind each of its switches: vllm/engine/arg_utils.py of 0.9.0 makes
all of them by argparse.BooleanOptionalAction, and 0.8 reads it behind --enable-chunked-prefill."""
TRUTHS_TAKEN: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("vllm serve", "--enable-chunked-prefill"): ("0.7.3", "0.8.5"),
}
"""Switches of a program behind which releases have read `true` and `false`: the last one that was read and does, and
the first that refuses them (vllm/engine/arg_utils.py of 0.5.3.post1, 0.7.3 and 0.8.5: StoreBoolean, later
argparse.BooleanOptionalAction)."""
