"""Files of Ollama's store that are given to llama.cpp, and a chat in code of a sentence."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

BLOB = "/srv/ollama/models/blobs/sha256-0c1d2e3f4a5b6c7d8e9f00112233445566778899aabbccddeeff001122334455"
ENDED = "gguf_init_from_file_impl: tensor 'blk.4.ffn_gate_exps.weight' of type 4 (DEPRECATED) has 2880 elements per row"


def said(text: str, *, at_least: Severity = Severity.NOTE) -> list[str]:
    found = [finding for each in ask(text) for finding in each.findings]
    return [each.message for each in found if at_least is Severity.NOTE or each.severity is not Severity.NOTE]


@pytest.mark.parametrize(
    "log", [f"```\n{ENDED}\n```", f"`{ENDED}\ngguf_init_from_file_impl: failed to read tensor info`", f"`{ENDED}`"]
)
def test_the_removed_type_is_that_of_ollama(log: str) -> None:
    text = f"# It does not load\n\nI run `llama-cli -m {BLOB}` and get\n{log}\n"
    assert any("files that Ollama made hold MXFP4" in each for each in said(text, at_least=Severity.WARNING))


def test_types_that_a_build_does_not_know_are_newer_or_those_of_a_fork() -> None:
    line = "gguf_init_from_file_impl: tensor 'blk.0.ffn_up.weight' has invalid ggml type 144 (NONE)"
    told = said(f"```\n$ llama-server -m a.gguf\n{line}\n```\n", at_least=Severity.WARNING)
    assert any("does not know type 144" in each for each in told)


@pytest.mark.parametrize("program", ["llama-cli", "./llama-cli", "build/bin/llama-mtmd-cli", "llama-cli.exe"])
def test_a_chat_in_code_of_a_sentence_is_read(program: str) -> None:
    (judged,) = ask(f"# Report\n\nReproducing with\n`{program} -m /models/any.gguf -c 4096 -ngl 99`\n")
    assert judged.engine == "llama-cpp"
    assert judged.settings is not None
    assert judged.settings.max_model_len == 4096


@pytest.mark.parametrize("code", ["llama-cli --version", "llama-cli -h", "llama-cli"])
def test_a_chat_that_loads_nothing_is_none(code: str) -> None:
    text = f"# Report\n\nThe version is that of `{code}` here.\n\n```\nllama-server -m /models/any.gguf -c 4096\n```\n"
    (judged,) = ask(text)
    assert judged.settings is not None
    assert judged.settings.max_model_len == 4096


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (BLOB, True),
        ("~/.ollama/models/blobs/sha256-0c1d2e3f4a5b", True),
        ("/models/gpt-oss-120b-mxfp4-00001-of-00003.gguf", False),
        ("/cache/blobs/0c1d2e3f4a5b6c7d8e9f00112233445566778899aabbccddeeff001122334455", False),
    ],
)
def test_a_file_of_the_store_may_have_types_of_its_own(path: str, told: bool) -> None:
    text = f"llama-server -m {path} -c 4096\n"
    assert any("Ollama's store" in each for each in said(text)) is told
    assert not any("Ollama's store" in each for each in said(text, at_least=Severity.WARNING))
