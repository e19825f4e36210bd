"""Programs that moonpad calls and that are not engines, each in an environment of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moonpad.engines.install_recipe import Recipe, Tool
from moonpad.values.units import GIB

LM_EVAL: Final = Tool(
    name="lm-eval",
    command="lm_eval",
    recipe=Recipe(
        name="lm-eval",
        version="0.4.13",
        lock="lm-eval-0.4.13.txt",
        unlocked=(),
        fallback_index="",
        python=((3, 11), (3, 14)),
        system="Linux",
        machine="x86_64",
        glibc=(2, 28),  # numpy, pandas, pyarrow and scikit-learn
        processor_flags_any=("avx512f", "avx2", "sse4_2"),
        disk_bytes=700_000_000,
        download_bytes=170_000_000,
        memory_bytes=GIB,
        # Its command has no option that prints a version.
        ask=(
            "python",
            "-c",
            "import lm_eval; from importlib.metadata import version; print('lm-eval', version('lm-eval'))",
        ),
    ),
    next_command="moonpad eval SPEC.toml --task gsm8k",
)

TOOLS: Final[Mapping[str, Tool]] = {tool.name: tool for tool in (LM_EVAL,)}
