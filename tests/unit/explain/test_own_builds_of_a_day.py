"""Builds that are known by a day or an option alone, parts of a diff, and parsers of models that are not known: what no
release has is no error there."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SGLANG = "python3 -m sglang.launch_server --model-path some-lab/Big-NVFP4 --tp 2 --cuda-graph-max-bs 16"


def found(text: str, word: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if word in f"{each.where} {each.message}"]


def severities(text: str, word: str) -> set[Severity]:
    return {each.severity for each in found(text, word)}


def test_the_last_release_that_has_the_other_options_is_none_that_is_named() -> None:
    assert severities(f"{SGLANG} --enable-oneshot-reduce-over-pcie", "--enable-oneshot") == {Severity.WARNING}


def test_a_slip_stays_one() -> None:
    assert severities(f"{SGLANG} --mem-fraction-statik 0.8", "--mem-fraction-statik") == {Severity.ERROR}


@pytest.mark.parametrize(
    ("name", "severity"), [("own_lab", Severity.WARNING), ("qwen33", Severity.WARNING), ("mistrall", Severity.ERROR)]
)
def test_a_parser_of_a_model_that_is_not_known(name: str, severity: Severity) -> None:
    text = f"vllm serve some-lab/Own-v2-70B --tensor-parallel-size 4 --reasoning-parser {name}"
    assert severities(text, "has no parser") == {severity}


def test_a_parser_beside_a_model_with_another_one_is_an_error() -> None:
    text = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --reasoning-parser own_lab"
    assert severities(text, "has no parser") == {Severity.ERROR}


PARTS = """# Notes

```diff
@@ -183,6 +183,7 @@ NCCL_DEBUG=INFO sglang serve \\
+  --disable-custom-all-reduce \\
@@ -201,6 +202,11 @@ sglang serve \\
+  --speculative-algorithm EAGLE \\
   --tp 8 \\
   --model-path some-lab/Big-NVFP4
```
"""


def test_the_head_of_a_part_is_no_argument_of_the_part_before() -> None:
    assert found(PARTS, "-201,6") == []


IMAGE = """docker run --gpus all somebody/vllm:glm-port-k432-20260502 -lc 'vllm serve some-lab/Big-NVFP4 \\
  --tensor-parallel-size 8 --attention-backend OWN_MLA_SPARSE'
"""


def test_a_backend_that_no_release_has_may_be_of_somebodys_image() -> None:
    assert Severity.ERROR not in severities(IMAGE, "OWN_MLA_SPARSE")
