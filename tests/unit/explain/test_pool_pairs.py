"""What is wrong between a prefill and a decode server, of commands that are right each by itself."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, seed

SGLANG = "sglang serve --model-path moonshotai/Kimi-K2-Instruct --trust-remote-code --tp 16 --nnodes 2"
VLLM = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 16"
MODES = ("--disaggregation-mode prefill", "--disaggregation-mode decode")


def nixl(role: str, connector: str = "NixlConnector") -> str:
    return f"""--kv-transfer-config '{{"kv_connector":"{connector}","kv_role":"kv_{role}"}}'"""


def pair_of(prefill: str, decode: str, engine: str = "sglang") -> tuple[Judged, Judged]:
    base = SGLANG if engine == "sglang" else VLLM
    first, second = MODES if engine == "sglang" else ("", "")
    judged = ask(f"{base} {first} {prefill}\n{base} {second} {decode}\n", "2x8xH200")
    assert [each.kind for each in judged] == ["prefill", "decode"]
    return judged[0], judged[1]


def spoken(judged: Judged, where: str) -> list[tuple[Severity, Code, str]]:
    return [(finding.severity, finding.code, finding.message) for finding in judged.findings if finding.where == where]


@pytest.mark.parametrize(
    ("prefill", "decode", "where", "words"),
    [
        ("--page-size 64", "--page-size 32", "--page-size", "64 tokens in prefill and 32"),
        ("--kv-cache-dtype fp8_e4m3", "", "--kv-cache-dtype", "fp8 in prefill and bf16"),
        ("", "--disaggregation-transfer-backend nixl", "--disaggregation-transfer-backend", "by mooncake"),
    ],
)
def test_what_differs_stands_at_the_decode_server(prefill: str, decode: str, where: str, words: str) -> None:
    first, second = pair_of(prefill, decode)
    (found,) = [text for severity, _, text in spoken(second, where) if severity is Severity.ERROR and words in text]
    assert found not in [text for *_, text in spoken(first, where)]
    places = [remark.at for remark in second.remarks if remark.finding.message == found]
    argv = [word.text for word in second.sources[0].argv]
    assert places == [argv.index(where) if where in argv else None]


def test_vllm_names_its_connector_in_json() -> None:
    _, second = pair_of(nixl("producer"), nixl("consumer", "MooncakeConnector"), "vllm")
    assert any("prefill sends by nixl" in text for *_, text in spoken(second, "--kv-transfer-config"))


@pytest.mark.parametrize(
    ("prefill", "decode", "engine"),
    [
        ("--page-size 64", "--page-size 64", "sglang"),
        ("--page-size 64", "", "sglang"),
        ("--kv-cache-dtype $KV", "--kv-cache-dtype fp8_e4m3", "sglang"),
        ("--disaggregation-transfer-backend $B", "--disaggregation-transfer-backend nixl", "sglang"),
        (nixl("producer"), nixl("consumer"), "vllm"),
        ("--block-size 32 " + nixl("producer"), "--block-size 64 " + nixl("consumer"), "vllm"),
    ],
)
def test_pairs_that_fit_and_pairs_of_which_too_little_is_known(prefill: str, decode: str, engine: str) -> None:
    first, second = pair_of(prefill, decode, engine)
    for text in (finding.message for finding in (*first.findings, *second.findings)):
        assert "prefill" not in text or text.startswith("requests with tools are refused"), text


def test_another_model_is_another_example_where_there_are_several() -> None:
    other = SGLANG.replace("Kimi-K2-Instruct", "Kimi-K2-Thinking")
    two = f"{SGLANG} {MODES[0]}\n{other} {MODES[1]}\n"
    ((_, _, found),) = spoken(ask(two, "2x8xH200")[1], "model")
    assert "prefill serves moonshotai/Kimi-K2-Instruct and decode moonshotai/Kimi-K2-Thinking" in found
    four = two + f"{other} {MODES[0]}\n{other} {MODES[1]}\n"
    assert not any("prefill serves" in finding.message for each in ask(four) for finding in each.findings)


def test_a_server_that_does_both_has_no_pair() -> None:
    judged = ask(f"{SGLANG} --page-size 64\n{SGLANG} {MODES[1]} --page-size 32\n", "2x8xH200")
    messages = [finding.message for each in judged for finding in each.findings]
    assert not any("blocks of the KV cache" in message for message in messages)


def test_the_contexts_of_seed_4() -> None:
    """Its decode nodes hold 2,176 tokens, its prefill nodes are not told of any limit."""
    (decode,) = [each for each in ask(seed("seed4.md")) if each.kind == "decode"]
    ((severity, _, text),) = [row for row in spoken(decode, "--context-length") if "prefill" in row[2]]
    assert severity is Severity.NOTE
    assert "131,072" in text
    assert "2,176" in text


def test_decode_takes_no_longer_requests_where_both_are_asked_at_once() -> None:
    words = "prefill takes 9,300 tokens and decode 20,000"
    _, second = pair_of("--context-length 9300", "--context-length 20000")
    assert [words in text for _, _, text in spoken(second, "--context-length")] == [True]
    _, second = pair_of(f"{nixl('producer')} --max-model-len 9300", f"{nixl('consumer')} --max-model-len 20000", "vllm")
    assert spoken(second, "--max-model-len") == []


def test_a_half_under_another_heading_is_no_part_of_a_whole_pair() -> None:
    start = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 8 --disaggregation-mode"
    half = f"### Memory\n\n```bash\n{start} prefill --disaggregation-transfer-backend mooncake\n```\n"
    pair = "".join(
        f"\n```bash\n{start} {role} --disaggregation-transfer-backend nixl\n```\n" for role in ("prefill", "decode")
    )
    judged = ask(f"{half}\n### A pair\n{pair}")
    assert not any(remark.finding.where == "--disaggregation-transfer-backend" for remark in judged[-1].remarks)
    apart = pair.replace("\n```bash", "\n### Node\n\n```bash", 1).replace(
        "```\n\n```bash", "```\n\n### Last\n\n```bash"
    )
    judged = ask(f"{half}{apart}")
    assert any(remark.finding.where == "--disaggregation-transfer-backend" for remark in judged[-1].remarks)
