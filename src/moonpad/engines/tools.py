"""Programs that moonpad calls and that are not engines, each in an environment of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moonpad.engines.install_recipe import Tool, tool_recipe

LM_EVAL: Final = Tool(
    name="lm-eval",
    command="lm_eval",
    # Its command has no option that prints a version. The C library is that of numpy, pandas, pyarrow and scikit-learn.
    recipe=tool_recipe(
        "lm-eval", "0.4.13", glibc=(2, 28), module="lm_eval", disk_bytes=700_000_000, download_bytes=170_000_000
    ),
    next_command="moonpad eval SPEC.toml --task gsm8k",
)

TOOLS: Final[Mapping[str, Tool]] = {tool.name: tool for tool in (LM_EVAL,)}
