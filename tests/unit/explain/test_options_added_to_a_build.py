"""Options alone, which a guide adds to its command above: they are of that command's build."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

HOST = "--kt-method RAWINT4 --kt-weight-path /srv/Kimi-K2.6 --kt-cpuinfer 64 --kt-num-gpu-experts 30"
ADDED = (
    "  --speculative-algorithm EAGLE \\\n  --speculative-num-steps 2 \\\n"
    "  --speculative-eagle-topk 1 \\\n  --speculative-num-draft-tokens 3\n"
)


@pytest.mark.parametrize(("options", "engine"), [(HOST, "ktransformers"), ("--mem-fraction-static 0.9", "sglang")])
def test_they_are_of_the_build_that_the_command_starts(options: str, engine: str) -> None:
    command = f"python -m sglang.launch_server --model /srv/Kimi-K2.6 --tensor-parallel-size 4 {options}"
    text = f"# Serve\n\n```bash\n{command}\n```\n\nAdd these to the command above:\n\n```bash\n{ADDED}```\n"
    assert [each.engine for each in ask(text, on="")] == [engine, engine]
