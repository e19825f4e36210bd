"""Remedies in the options of the engine that the command starts."""

from __future__ import annotations

import pytest

from moonpad.engines import ENGINES
from moonpad.explain.own_flags import in_own_flags


@pytest.mark.parametrize(
    ("engine", "remedy", "own"),
    [
        ("vllm", "set tp = 4, and use the others", "set --tensor-parallel-size 4, and use the others"),
        ("sglang", "set tp = 4", "set --tp-size 4"),
        ("vllm", 'set kv_cache_dtype = "bfloat16"', "set --kv-cache-dtype bfloat16"),
        ("vllm", "set ep = 1", "leave --enable-expert-parallel out"),
        ("sglang", "set ep = 1", "set --ep-size 1"),
        ("vllm", "set enforce_eager = false, or pp = 1", "leave --enforce-eager out, or --pipeline-parallel-size 1"),
        ("vllm", "take devices of another kind", "take devices of another kind"),
        ("vllm", "set start_timeout = 20", "set start_timeout = 20"),
    ],
)
def test_settings_become_options(engine: str, remedy: str, own: str) -> None:
    assert in_own_flags(remedy, ENGINES[engine].command_line) == own
