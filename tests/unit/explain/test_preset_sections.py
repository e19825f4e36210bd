"""Sections of a router's file of presets that stand beside the command."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = "```sh\nllama-server --models-preset models.ini --port 8888\n```\n\n"


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(SERVER + text) for finding in judged.findings]
    return [f"{finding.message} {finding.remedy}" for finding in findings if "preset" in finding.message]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[qwen_8B]\nmodel = ./qwen_8B.gguf\nctx-size = 8192\ntop_p = 0.9\n", "a key top_p"),
        ("[qwen_8B]\nmodel = ./qwen_8B.gguf\nctx-sizes = 8192\ntop-p = 0.9\n", "write ctx-size ="),
        ('```ini\n[a]\nmodel = "D:\\\\models\\\\a.gguf"\ntemp = 0.6\n```\n', "quotation marks"),
        ("[a]\nm = '/models/a.gguf' ; mine\nfa = on\n", "quotation marks"),
        ("[a]\nmodel = a.gguf\nsamplers = top_k;top_p;temperature\n", "up to the ;"),
        ("version = 1\n\n[broken-model]\nctx-size = 512\n", "does not say where its model is"),
        ("[*]\nn-gpu-layers = 99\n\n[small]\nc = 512\nload-on-startup = true\n", "the preset small"),
    ],
)
def test_a_slip(text: str, part: str) -> None:
    (only,) = told(text)
    assert part in only


@pytest.mark.parametrize(
    "text",
    [
        "[*]\nctx-size = 4096\nfa = 0\n\n[a]\nmodel = /models/a.gguf\ntop-p = 0.95 # usual\n; off: top_k = 2\n",
        "[unsloth/Qwen3.6-35B-A3B-MTP-GGUF:Q4_K_XL]\nc = 262144\nspec-type = draft-mtp\n",
        '[a]\nhf = ggml-org/gpt-oss-120b-GGUF\nchat-template-kwargs = {"reasoning_effort": "high"}\nstop-timeout = 5\n',
        "[a]\nLLAMA_ARG_MODEL = /models/a.gguf\nctx-size = 512\n",
        "[a]\nmodel = a.gguf\nnew-option-of-tomorrow = 1\nctx-size = 512\ntemp = 1\n",
        "[Service]\nUser = llama\nRestart = always\n",
        "[nothing]\nanswer_of_life = 42\n",
        "A [link] to it\n[a]: b\n",
        "",
    ],
)
def test_no_slip(text: str) -> None:
    assert told(text) == []


def test_a_folder_of_models_knows_the_name() -> None:
    text = "llama-server --models-dir /models --models-preset models.ini\n\n[Qwen3-8B-Q8_0]\nc = 65536\n"
    assert not any("preset" in finding.message for judged in ask(text) for finding in judged.findings)


PRESETS = """# two RTX 3090, 512 GB of RAM
[*]
c = 32768
n-gpu-layers = 99
jinja = 1

[k2.5]
hf-repo = unsloth/Kimi-K2.5-GGUF:UD-Q2_K_XL
split-mode = rows
jinja = off
"""


def test_a_preset_is_judged_as_the_command_that_the_router_starts() -> None:
    (judged,) = ask(PRESETS)
    assert judged.commands[0].argv[1:7] == ("-c", "32768", "--n-gpu-layers", "99", "--hf-repo", UNSLOTH)
    assert "--jinja" not in judged.commands[0].argv
    assert judged.settings is not None
    assert judged.settings.max_model_len == 32768
    assert {finding.where for finding in judged.findings} >= {"--split-mode", "--n-cpu-moe"}


UNSLOTH = "unsloth/Kimi-K2.5-GGUF:UD-Q2_K_XL"


def test_presets_beside_their_router_are_judged_too() -> None:
    text = f"{SERVER}```ini\n[a]\nmodel = /models/Kimi-K2.5-UD-Q2_K_XL-00001-of-00008.gguf\nsplit-mode = rows\n```\n"
    router, preset = ask(text)
    assert not router.model_written
    assert [finding.where for finding in preset.findings if finding.code.value == "invalid-value"] == ["--split-mode"]


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nmodel = moonshotai/Kimi-K2.5\nport = 8000\n",
        "[Unit]\nmodel = a.gguf\nport = 8000\n",
        "[a]\nmodel = a.gguf\nanswer-of-life = 42\nname-of-it = b\n",
        "vllm serve moonshotai/Kimi-K2.5 -tp 8\n[a]\nmodel = a.gguf\nport = 8000\n",
    ],
)
def test_other_files_of_sections_start_nothing(text: str) -> None:
    assert not [judged for judged in ask(text) if judged.engine == "llama-cpp"]
