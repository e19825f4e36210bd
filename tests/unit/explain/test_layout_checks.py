"""Layouts and sizes that a model cannot have, where the devices are not known or the model is not planned."""

from __future__ import annotations

import pytest

from moonpad.catalog.other_models import as_published, other_model
from moonpad.explain.results import Judged
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one, codes

ERROR, WARNING = Severity.ERROR, Severity.WARNING


def found(one: Judged, code: Code) -> list[tuple[Severity, str]]:
    return [(finding.severity, finding.where) for finding in one.findings if finding.code is code]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("vllm serve deepseek-ai/DeepSeek-R1 -tp 32", [(ERROR, "--tensor-parallel-size")]),
        ("vllm serve /models/DeepSeek-R1 -tp 32", [(WARNING, "--tensor-parallel-size")]),
        ("vllm serve /share/deepseek-ai/DeepSeek-R1 -tp 32", [(WARNING, "--tensor-parallel-size")]),
        ("vllm serve deepseek-ai/DeepSeek-R1 -tp 16", []),
        ("vllm serve deepseek-ai/DeepSeek-R1 -tp 12", [(ERROR, "--tensor-parallel-size")]),
        ("vllm serve unsloth/DeepSeek-R1-BF16 -tp 32", []),
        ("vllm serve moonshotai/Kimi-K2-Thinking -tp 12", [(ERROR, "--tensor-parallel-size")]),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 32", [(ERROR, "--tensor-parallel-size")]),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp $TP", []),
        ("sglang serve --model-path deepseek-ai/DeepSeek-V3 --tp 12", [(ERROR, "--tp-size")]),
        (
            "sglang serve --model-path deepseek-ai/DeepSeek-V3 --tp 32 --dp 32 --ep 32 --enable-dp-attention",
            [],
        ),
        ("vllm serve deepseek-ai/DeepSeek-V4-Flash -tp 3", [(ERROR, "--tensor-parallel-size")]),
        ("vllm serve /data/deepseek_v4_flash_w8a8 -tp 12", [(ERROR, "--tensor-parallel-size")]),
        ("vllm serve /data/deepseek_v4_flash_pruned -tp 12", []),
        ("vllm serve deepseek-ai/DeepSeek-V4-Pro -tp 8", []),
    ],
)
def test_slices(command: str, expected: list[tuple[Severity, str]]) -> None:
    assert found(ask_one(command, ""), Code.ILLEGAL_LAYOUT) == expected


@pytest.mark.parametrize(
    ("command", "on", "expected"),
    [
        ("vllm serve deepseek-ai/DeepSeek-V3.2 -tp 8", "8xH100", [ERROR]),
        ("vllm serve deepseek-ai/DeepSeek-V3.2 -tp 8", "8xH200", []),
        ("vllm serve deepseek-ai/DeepSeek-V3.2", "", [WARNING]),
        ("vllm serve deepseek-ai/DeepSeek-V3.2 ...", "", []),
        ("vllm serve /models/DeepSeek-V3.2 -tp 8", "8xH100", [WARNING]),
        ("vllm serve /models/DeepSeek-V3.2-AWQ -tp 8", "8xH100", []),
        ("vllm serve deepseek-ai/DeepSeek-V3.2 -tp 8 --cpu-offload-gb 40", "8xH100", []),
        ("vllm serve deepseek-ai/DeepSeek-V3.2 -tp 8 -dp 2 --enable-expert-parallel", "2x8xH100", []),
        ("vllm serve deepseek-ai/DeepSeek-V3.2 -tp $TP", "8xH100", []),
    ],
)
def test_weights_of_models_that_are_not_planned(command: str, on: str, expected: list[Severity]) -> None:
    assert [severity for severity, _ in found(ask_one(command, on), Code.DOES_NOT_FIT)] == expected


@pytest.mark.parametrize(("fraction", "expected"), [("0.85", [ERROR]), ("0.93", [])])
def test_a_fraction_below_what_the_log_says_of_the_weights(fraction: str, expected: list[Severity]) -> None:
    log = "Load weight end. type=X, dtype=torch.bfloat16, avail mem=12.00 GB, mem usage=118.00 GB."
    command = f"sglang serve --model-path vendor/some-model --tp 8 --mem-fraction-static {fraction}"
    (other,) = [ask_one(f"```bash\n{command}\n```\n\n```\n{log}\n```\n", "")]
    assert [severity for severity, _ in found(other, Code.DOES_NOT_FIT)] == expected
    assert not found(ask_one(command, ""), Code.DOES_NOT_FIT)


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("deepseek-ai/DeepSeek-V3.2-Exp", "DeepSeek-V3.2"),
        ("/hub/models--deepseek-ai--DeepSeek-V4-Pro/snapshots/abc", "DeepSeek-V4-Pro"),
        ("vllm-ascend/DeepSeek-V3.2-W8A8", "DeepSeek-V3.2"),
        ("/m/DeepSeek-V3.2-w8a8-mtp-QuaRot/", "DeepSeek-V3.2"),
        ("DeepSeek-V4-Flash-0731", "DeepSeek-V4-Flash"),
        ("/data/models/DeepSeek-V3.2-prune", None),
        ("deepseek-ai/DeepSeek-V4.1-Flash", None),
        ("", None),
    ],
)
def test_names(written: str, key: str | None) -> None:
    known = other_model(written)
    assert (known.title if known else None) == key


def test_a_format_in_the_name_says_that_others_made_the_weights() -> None:
    assert as_published("deepseek-ai/DeepSeek-V3.2-Exp")
    assert not as_published("/m/DeepSeek-V3.2-w8a8-mtp-QuaRot/")
    assert not as_published("QuantTrio/DeepSeek-V3.2-AWQ")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("""vllm serve deepseek-ai/DeepSeek-R1 -tp 8 --speculative-config '{"method":"deepseek_mtp"}'""", True),
        ("""vllm serve deepseek-ai/DeepSeek-R1 -tp 8 --speculative-config '{"method":"ngram"}'""", False),
        ("""vllm serve moonshotai/Kimi-K2.5 -tp 8 --speculative-config '{"method":"mtp"}'""", False),
        ("sglang serve --model-path deepseek-ai/DeepSeek-R1 --tp-size 8 --speculative-algorithm NEXTN", True),
        (
            "sglang serve --model-path deepseek-ai/DeepSeek-R1 --tp-size 8 --speculative-algorithm EAGLE "
            "--speculative-draft-model-path lmsys/DeepSeek-R1-NextN",
            True,
        ),
        (
            "sglang serve --model-path deepseek-ai/DeepSeek-R1 --tp-size 8 --speculative-algorithm EAGLE "
            "--speculative-draft-model-path vendor/draft",
            False,
        ),
        ("vllm serve deepseek-ai/DeepSeek-R1 -tp 8", False),
    ],
)
def test_the_layer_that_proposes_tokens(command: str, expected: bool) -> None:
    one = ask_one(command, "8xH200")
    assert any("multi-token prediction takes about" in finding.message for finding in one.findings) == expected


def test_a_format_that_the_engine_does_not_read_beside_a_layout_that_nothing_has() -> None:
    text = "vllm serve /models/k2 --pipeline-parallel-size 4 --decode-context-parallel-size 8\n"
    judged = ask_one(f"# vLLM-Ascend 0.23.0\n{text}", on="16xA3", model="unsloth/DeepSeek-R1-GGUF:UD-IQ1_M")
    assert {Code.ILLEGAL_LAYOUT, Code.UNSUPPORTED_FORMAT} <= codes([judged])
    assert judged.memory is None
    assert "dp" not in judged.unknown
