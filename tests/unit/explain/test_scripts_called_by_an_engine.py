"""Programs that are not at hand: which engine their names tell of, and which only measure a server."""

from __future__ import annotations

import pytest

from moonpad.explain.missing_engine import missing_engine
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

OPTIONS = '--model "zai-org/GLM-4.5-Air-FP8" --mem 0.85 --max-tokens 20000 --extra-args "--reasoning-parser glm45"'


@pytest.mark.parametrize(
    ("start", "engine"),
    [
        ('exec "${ROOT}/vllm.sh"', "vllm"),
        ("./tools/run-vllm.sh", "vllm"),
        ("./start_sglang_node.sh", "sglang"),
    ],
)
def test_the_file_has_the_engine_in_its_name(start: str, engine: str) -> None:
    (judged,) = ask(f"#!/bin/bash\n{start} {OPTIONS}\n")
    assert judged.engine == engine


@pytest.mark.parametrize("start", ["kubectl exec -it deployment/llm -- ", "oc exec llm-0 -- ", ""])
def test_what_measures_is_no_start(start: str) -> None:
    measured = "python3 vllm/benchmarks/benchmark_serving.py --model zai-org/GLM-4.5-Air --backend vllm --port 8100"
    text = f"{start}{measured} --max-concurrency 32\n"
    script = read_script(text)
    assert not script.commands or all(command.program == "other" for command in script.commands)
    assert missing_engine(script)[0].startswith("it starts no engine that moonpad knows")
