"""Engines of GGUF files."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

K2 = "llama-server -m /w/Kimi-K2-Instruct-UD-Q2_K_XL-0000{}-of-00008.gguf -c 32768 -ngl 99 -ot exps=CPU "
FIRST = K2.format(1)


def severities(text: str, part: str, version: str = "") -> list[str]:
    judged = ask(text, "", version)
    return [finding.severity.value for one in judged for finding in one.findings if part in finding.message]


@pytest.mark.parametrize(
    ("text", "expected"), [(FIRST, []), (K2.format(2), ["error"]), ("llama-server -m /w/Kimi-K2.gguf", [])]
)
def test_the_first_file_of_a_set(text: str, expected: list[str]) -> None:
    assert severities(text, "first file") == expected


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        (f"{FIRST}--cache-type-v q8_0", "b5880", ["error"]),
        (f"{FIRST}--cache-type-v q8_0 -fa", "b5880", []),
        (f"{FIRST}--cache-type-v q8_0", "b7000", []),
        (f"{FIRST}--cache-type-v q8_0", "", []),
        (f"{FIRST}--cache-type-v q8_0 -fa off", "b10156", ["warning"]),
        (f"{FIRST}--cache-type-v q8_0 -fa on", "b10156", []),
        (f"{FIRST}--cache-type-v f16 -fa off", "b10156", []),
        (f"{FIRST}--cache-type-k q8_0", "b5880", []),
        (f"{FIRST}--cache-type-v $TYPE -fa off", "b10156", []),
    ],
)
def test_values_in_the_cache(text: str, version: str, expected: list[str]) -> None:
    assert severities(text, "wants flash attention", version) == expected


@pytest.mark.parametrize(
    ("version", "expected"), [("b5269", []), ("b6324", []), ("b6325", ["error"]), ("b10156", ["error"])]
)
def test_flash_attention_was_a_switch(version: str, expected: list[str]) -> None:
    assert severities(f"{FIRST}-fa", "needs a value", version) == expected
    assert severities(f"{FIRST}-fa on", "needs a value", version) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("llama-server -m /w/Kimi-K2-Instruct-IQ4_KS-00001-of-00012.gguf", "IQ4_KS"),
        ("llama-server -m /w/K2/smol-IQ4_KSS/k2-smol-IQ4_KSS.gguf", "IQ4_KSS"),
        ("llama-server -hf ubergarm/Kimi-K2-Thinking-GGUF:IQ2_KL", "IQ2_KL"),
        ("llama-server -m /w/K2-Q4_K_R4.gguf", "Q4_K_R4"),
        ("llama-server -m /w/K2-IQ1_S_R4.gguf", "IQ1_S_R4"),
        (
            "python -m ktransformers.local_chat --model_path moonshotai/Kimi-K2-Instruct --gguf_path /w/K2-IQ3_K",
            "IQ3_K",
        ),
    ],
)
def test_a_type_of_a_fork_alone(text: str, kind: str) -> None:
    found = [
        finding for judged in ask(text) for finding in judged.findings if "of ik_llama.cpp alone" in finding.message
    ]
    assert [finding.message.partition(",")[0] for finding in found] == [kind]
    assert found[0].severity is Severity.WARNING


@pytest.mark.parametrize(
    "text",
    [
        "llama-server -m /w/Kimi-K2-Instruct-UD-IQ2_XXS-00001-of-00008.gguf",
        "llama-server -m /w/K2-IQ4_NL.gguf",
        "llama-server -m /w/K2-Q4_K_M.gguf",
        "llama-server -m /w/K2-Q4_K_S.gguf",
        "llama-server -m /w/K2-TQ1_0.gguf",
        "llama-server -m /w/K2-IQ4_KS.gguf -mla 3 -fmoe",
        "cd ik_llama.cpp && ./build/bin/llama-server -m /w/K2-IQ4_KS.gguf",
        "vllm serve moonshotai/Kimi-K2.5 -tp 8",
    ],
)
def test_types_that_are_read(text: str) -> None:
    assert not [f for judged in ask(text) for f in judged.findings if "of ik_llama.cpp alone" in f.message]


def test_experts_of_layers_go_into_ram_where_all_are_asked_for_on_the_devices() -> None:
    text = (
        "RTX 3090, 512 GB DDR5\nllama-server -m /m/Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00008.gguf -ngl 99 -c 65536\n"
    )
    (judged,) = ask(text)
    (finding,) = [each for each in judged.findings if each.code.value == "does-not-fit"]
    assert finding.remedy.startswith("use the experts of 61 layers in host RAM, which needs 334.84 GiB of it")
    assert judged.corrected[0].argv[-2:] == ("--n-cpu-moe", "61")


def test_experts_are_not_moved_where_the_memory_is_the_hosts_own() -> None:
    text = "Mac Studio M3 Ultra 256 GB\nllama-server -m /m/Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00008.gguf -ngl 99\n"
    assert not any("--n-cpu-moe" in " ".join(line.argv) for judged in ask(text) for line in judged.corrected)
