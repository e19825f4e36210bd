"""Each option against what the engine's parser knew in that version."""

from __future__ import annotations

import random

import pytest

from moonpad.catalog.options import known_environment, option_set, programs, versions
from moonpad.engines.argv_reader import parse
from moonpad.engines.ktransformers_read import run_grammar
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.commands import Word
from moonpad.explain.flags import env_remarks, flag_remarks
from moonpad.explain.manifests.option_sources import rulebook
from moonpad.explain.mended_lines import mended
from moonpad.explain.results import Remark
from moonpad.explain.target_detection import Version
from tests.unit.explain.judging import ask_one

EVERY = [(program, version) for program in programs() for version in versions(program)]
VALUES = {"int": "1", "float": "0.5", "json": "{}"}


def remarks(program: str, line: str, version: str = "") -> list[Remark]:
    book = rulebook(program, Version(version, ""))
    assert book is not None
    words = line.split()
    return list(flag_remarks(words, parse(words, Grammar(book.options)), book))


def rows(program: str, line: str, version: str = "") -> list[tuple[str, str, str]]:
    findings = [remark.finding for remark in remarks(program, line, version)]
    return [(str(finding.severity), str(finding.code), finding.where) for finding in findings]


def corrected(program: str, line: str, version: str = "") -> str:
    edits = [edit for remark in remarks(program, line, version) for edit in remark.edits]
    return " ".join(mended(line.split(), edits))


@pytest.mark.parametrize(("program", "version"), EVERY)
def test_an_option_of_a_version_is_never_unknown_to_it(program: str, version: str) -> None:
    options = option_set(program, version)
    assert options is not None
    dice = random.Random(f"{program} {version}")
    for option in dice.sample(options.options, min(60, len(options.options))):
        for name in (*option.names, *option.negations):
            value = option.choices[0] if option.choices else VALUES.get(option.kind, "x")
            many = int(option.nargs) if option.nargs.isdecimal() else 1
            line = name if name in option.negations else " ".join((name, *[value] * many))
            codes = {code for severity, code, _ in rows(program, line, version) if severity != "note"}
            assert not codes & {"unknown-flag", "prefix-flag", "invalid-value"}, line


@pytest.mark.parametrize(
    ("program", "version", "line", "expected", "right"),
    [
        # What the release notes and parsers of the engines say, by version.
        ("vllm serve", "0.10.0", "m --disable-log-requests", [("note", "renamed-flag")], None),
        ("vllm serve", "0.11.0", "m --disable-log-requests", [("warning", "renamed-flag")], "m"),
        ("vllm serve", "0.32.0", "m --disable-log-requests", [("error", "removed-flag")], "m"),
        ("vllm serve", "0.33.0", "m --disable-log-requests", [("note", "redundant-flag")], "m"),
        ("vllm serve", "0.33.0", "m --no-enable-log-requests", [], None),
        ("vllm serve", "0.33.0", "m --quantization fp8", [], None),
        ("vllm serve", "0.33.0", "m --load-format compressed-tensors", [("error", "invalid-value")], "m"),
        ("vllm serve", "0.33.0", "m --load-format=compressed-tensors", [("error", "invalid-value")], "m"),
        ("vllm serve", "0.33.0", "m --load-format auto", [], None),
        ("vllm serve", "0.11.0", "--model m", [("error", "removed-flag")], "m"),
        ("vllm serve", "0.33.0", "--model m", [("warning", "renamed-flag")], "m"),
        ("vllm serve", "0.33.0", "-tp 8 --model m", [("warning", "renamed-flag")], "m -tp 8"),
        ("vllm serve", "0.33.0", "m --tensor_parallel_size 8", [], None),
        (
            "vllm serve",
            "0.33.0",
            "m --tensor-parallel-siz 8",
            [("warning", "prefix-flag")],
            "m --tensor-parallel-size 8",
        ),
        ("vllm serve", "0.33.0", "m --tensor-parallel-size x", [("error", "invalid-value")], None),
        ("vllm serve", "0.33.0", "m --tensor-parallel-size", [("error", "invalid-value")], None),
        ("vllm serve", "0.33.0", "m --data-parallel", [("error", "prefix-flag")], None),
        ("vllm serve", "0.33.0", "m --bogus 1", [("error", "unknown-flag")], None),
        ("vllm serve", "0.99.0", "m --bogus 1", [("note", "unknown-flag")], None),
        ("vllm bench serve", "0.33.0", "--random-input 1 --num-prompt 2", [("warning", "prefix-flag")] * 2, None),
        ("vllm bench serve", "", "--random-output 1", [("warning", "prefix-flag")], "--random-output-len 1"),
        ("sglang", "0.5.23", "--model-path m --tp 16", [("note", "prefix-flag")], "--model-path m --tp-size 16"),
        ("sglang", "0.5.23", "--tp=16", [("note", "prefix-flag")], "--tp-size 16"),
        ("sglang", "0.5.2", "--enable-deepep-moe", [("warning", "renamed-flag")], "--moe-a2a-backend deepep"),
        ("sglang", "0.5.23", "--enable-deepep-moe", [("error", "removed-flag")], "--moe-a2a-backend deepep"),
        ("sglang", "0.5.23", "--cuda-graph-bs 480", [("error", "prefix-flag")], "--cuda-graph-bs-decode 480"),
        ("sglang", "0.5.19", "--cuda-graph-bs 480", [("warning", "renamed-flag")], "--cuda-graph-bs-decode 480"),
        ("sglang", "0.4.9", "--cuda-graph-bs 480", [("note", "renamed-flag")], None),
        ("sglang", "0.5.23", "--dp-size 32 --enable-dp-attention", [("warning", "renamed-flag")], "--attn-dp-size 32"),
        ("sglang", "0.5.23", "--enable-dp-attention", [("warning", "renamed-flag")], "--enable-dp-attention"),
        ("sglang", "0.5.23", "--kv-cache-dtype fp8", [("error", "invalid-value")], "--kv-cache-dtype fp8_e4m3"),
        ("sglang", "0.5.23", "--kv-cache-dtype fp8_e4m3", [], None),
        ("trtllm-serve", "1.2.1", "m --extra_llm_api_options f", [("warning", "renamed-flag")], "m --config f"),
        ("trtllm-serve", "1.1", "m --extra_llm_api_options f", [("note", "renamed-flag")], None),
        ("trtllm-serve", "1.2.1", "m --config f", [], None),
        ("trtllm-serve", "1.2.1", "--model m", [("error", "unknown-flag")], "m"),
    ],
)
def test_what_changed(
    program: str, version: str, line: str, expected: list[tuple[str, str]], right: str | None
) -> None:
    assert [row[:2] for row in rows(program, line, version)] == expected
    if right is not None:
        assert corrected(program, line, version) == right


def test_kt_run_passes_on_what_it_does_not_know() -> None:
    book = rulebook("kt run", Version("", ""))
    assert book is not None
    words = ["m", "--gpu-experts", "8", "--page-size", "64"]
    assert list(flag_remarks(words, parse(words, run_grammar(None)), book)) == []


@pytest.mark.parametrize(
    ("version", "dead"),
    [
        ("0.10.0", ["SAFETENSORS_FAST_GPU"]),
        ("0.11.1", ["SAFETENSORS_FAST_GPU", "VLLM_USE_TRITON_FLASH_ATTN", "VLLM_USE_V1"]),
        (
            "0.33.0",
            ["SAFETENSORS_FAST_GPU", "VLLM_ATTENTION_BACKEND", "VLLM_USE_TRITON_FLASH_ATTN", "VLLM_USE_V1"],
        ),
    ],
)
def test_variables_that_nothing_reads(version: str, dead: list[str]) -> None:
    book = rulebook("vllm serve", Version(version, ""))
    assert book is not None
    given = ["VLLM_USE_V1", "SAFETENSORS_FAST_GPU", "VLLM_USE_TRITON_FLASH_ATTN", "VLLM_ATTENTION_BACKEND", "PATH"]
    assert sorted(remark.finding.where for remark in env_remarks(dict.fromkeys(given, Word("")), book)) == dead


@pytest.mark.parametrize(
    ("program", "version", "slip", "meant"),
    [
        ("sglang", "0.5.23", "SGLANG_DISAGREGATION_WAITING_TIMEOUT", "SGLANG_DISAGGREGATION_WAITING_TIMEOUT"),
        ("vllm serve", "0.32.0", "VLLM_ENGINE_READY_TIMEOUT", "VLLM_ENGINE_READY_TIMEOUT_S"),
    ],
)
def test_a_slip_in_the_name_of_a_variable(program: str, version: str, slip: str, meant: str) -> None:
    """No engine complains of it: the variable is simply not read."""
    book = rulebook(program, Version(version, ""))
    assert book is not None
    (remark,) = env_remarks(dict.fromkeys([slip, meant, "PATH", "VLLM_OF_A_PLUGIN", "SGLANG_X"], Word("")), book)
    assert remark.variable == slip
    assert remark.finding.remedy == f"did you mean {meant}?"


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("--no-enable-perfix-caching", "--no-enable-prefix-caching"),
        ("--enable-perfix-caching", "--enable-prefix-caching"),
        ("--node-rnk", "--node-rank"),
        ("--no-enable-chunked-prefil1", "--no-enable-chunked-prefill"),
    ],
)
def test_a_slip_in_a_negated_option_is_not_turned_round(slip: str, meant: str) -> None:
    """https://github.com/vllm-project/vllm-ascend/pull/14267 corrects the first in a guide."""
    (remark,) = remarks("vllm serve", f"vllm serve m {slip}", "0.32.0")
    assert remark.finding.remedy == f"did you mean {meant}?"


def test_variables_of_a_guide_are_declared() -> None:
    """Seed 4's, of SGLang's prefill and decode nodes."""
    book = rulebook("sglang", Version("0.5.23", ""))
    assert book is not None
    names = [
        "SGLANG_DISAGGREGATION_HEARTBEAT_INTERVAL",
        "SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT",
        "SGLANG_DISAGGREGATION_WAITING_TIMEOUT",
        "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK",
    ]
    assert not [*env_remarks(dict.fromkeys(names, Word("")), book)]
    assert set(names) <= known_environment("sglang", "0.5.23")


def test_numbers_to_choose_from_stand_in_their_order() -> None:
    text = "vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --enable-lora --max-lora-rank 48"
    (finding,) = [each for each in ask_one(text, version="0.32.0").findings if each.where == "--max-lora-rank"]
    assert finding.remedy.endswith("one of 1, 8, 16, 32, 64, 128, 256, 320, 512")
