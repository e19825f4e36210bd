"""Reports that a command line alone can match: data/known_reports*.toml."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain

import pytest

from moonpad.catalog.known_reports import KnownReport, known_reports
from moonpad.catalog.options import option_set, versions
from moonpad.engines import ENGINES
from moonpad.engines.ktransformers_read import LEGACY
from moonpad.values.finding import Code, Finding
from moonpad.values.versions import order, parse
from tests.unit.explain.judging import ask

ROWS = known_reports()


def reported(text: str, on: str = "", version: str = "") -> list[Finding]:
    found = chain.from_iterable(judged.findings for judged in ask(text, on, version))
    return [finding for finding in found if finding.code in (Code.KNOWN_REPORT, Code.MENDED_LATER)]


def can_match(row: KnownReport) -> bool:
    for pattern in (row.models, row.image, row.text, *row.options.values(), *row.variables.values()):
        re.compile(pattern)
    row.message.format(model="M", device="D", version="V")
    row.remedy.format(model="M", device="D", version="V")
    return bool(
        row.engines
        and set(row.engines) <= set(ENGINES)
        and row.provenance.source.startswith("https://")
        and (row.models or row.options or row.variables or row.image or row.text or row.devices[:1] == ("<7.5",))
        and not (row.until and row.last)
        and all(parse(release) for release in (row.since, row.until, row.last) if release)
        and (not row.until or not row.since or order(row.since) < order(row.until))
    )


def test_each_row_can_match() -> None:
    """One test for all: there are more than a thousand."""
    assert [key for key, row in ROWS.items() if not can_match(row)] == []


@cache
def is_flag(engine: str, flag: str) -> bool:
    """Of some release that is recorded."""
    programs = [ENGINES[engine].program, *([LEGACY] if engine == "ktransformers" else [])]
    recorded = (option_set(program, version) for program in programs for version in (*versions(program), None))
    return any(release and release.named(flag) for release in recorded)


def test_the_flags_of_each_row_are_flags_of_its_engines() -> None:
    unknown = {
        (key, engine, flag)
        for key, row in ROWS.items()
        for engine in (*row.engines, *row.forks)
        for flag in (*row.flags, *row.lacks)
        if not is_flag(engine, flag)
    }
    assert unknown == set()


K25 = "moonshotai/Kimi-K2.5"
EAGLE = "--speculative-algorithm EAGLE3 --speculative-draft-model-path AQ-MedAI/Kimi-K25-eagle3"


@pytest.mark.parametrize(
    ("text", "on", "version", "where", "severity"),
    [
        (f"vllm serve {K25} -tp 8 --tool-call-parser kimi_k2", "", "0.19.1", "--tool-call-parser", "note"),
        (f"vllm serve {K25} -tp 8 -pp 8", "", "0.18.0", "-pp", "warning"),
        (f"sglang serve --model-path {K25} --tp 8 {EAGLE}", "", "0.5.10", "--speculative-algorithm", "warning"),
        (f"sglang serve --model-path {K25} --tp 8 {EAGLE}", "", "", "--speculative-algorithm", "note"),
        (
            "VLLM_ENABLE_K3_LATENT_MOE_TAIL_FUSION=1 vllm serve moonshotai/Kimi-K3 -tp 16",
            "2x8xH200",
            "",
            "VLLM_ENABLE_K3_LATENT_MOE_TAIL_FUSION",
            "warning",
        ),
        (
            "vllm serve moonshotai/Kimi-K2.7-Code -tp 8 --kv-cache-dtype fp8",
            "8xRTX-PRO-6000",
            "",
            "--kv-cache-dtype",
            "note",
        ),
        (
            f"python -m sglang.launch_server --model {K25} --kt-weight-path w --kt-num-gpu-experts 0",
            "",
            "",
            "--kt-num-gpu-experts",
            "note",
        ),
    ],
)
def test_a_report_is_a_warning(text: str, on: str, version: str, where: str, severity: str) -> None:
    assert (where, severity) in [(finding.where, str(finding.severity)) for finding in reported(text, on, version)]


@pytest.mark.parametrize(
    ("text", "on", "version"),
    [
        (f"vllm serve {K25} -tp 8 --tool-call-parser kimi_k2", "", "0.20.0"),
        (f"vllm serve {K25} -tp 8", "", "0.18.0"),
        (f"sglang serve --model-path {K25} --tp 8 {EAGLE}", "", "0.5.18"),
        (f"sglang serve --model-path {K25} --tp 8 {EAGLE}-mla", "", "0.5.20"),
        ("VLLM_ENABLE_K3_LATENT_MOE_TAIL_FUSION=1 vllm serve moonshotai/Kimi-K3 -tp 8", "16xB200", ""),
        ("VLLM_ENABLE_K3_LATENT_MOE_TAIL_FUSION=1 vllm serve moonshotai/Kimi-K3 -tp 8", "", ""),
        ("VLLM_ENABLE_K3_LATENT_MOE_TAIL_FUSION=$ON vllm serve moonshotai/Kimi-K3 -tp 16", "2x8xH200", ""),
        ("vllm serve moonshotai/Kimi-K2.7-Code -tp 8 --kv-cache-dtype $KIND", "8xRTX-PRO-6000", "0.33.0"),
        ("vllm serve Qwen/Qwen3-8B --kv-cache-dtype fp8", "8xRTX-PRO-6000", ""),
    ],
)
def test_what_a_report_is_not_about(text: str, on: str, version: str) -> None:
    assert reported(text, on, version) == []


def test_what_nobody_found_the_cause_of_is_a_note() -> None:
    (found,) = [
        each
        for each in reported("vllm serve deepseek-ai/DeepSeek-R1 -tp 8 -pp 2 --max-model-len 3500", "2x8xH100", "0.8.4")
        if "NCCL 2.21" in each.message
    ]
    assert found.severity.value == "note"
