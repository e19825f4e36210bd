"""What Dynamo's frontend does not take."""

from __future__ import annotations

import re

import pytest

from moonpad.engines.dynamo_frontend_names import frontend_options
from tests.unit.explain.judging import ask

WORKER = "python3 -m dynamo.sglang --model-path Qwen/Qwen3-32B --tp 4\n\n"
SAYS = re.compile(r"the frontend of Dynamo [\d.]+ has no (--[\w-]+):")
NAMED = "# nvcr.io/nvidia/ai-dynamo/sglang-runtime:{}\n"


def said(text: str, release: str = "1.4.0") -> list[str]:
    findings = [each for judged in ask(NAMED.format(release) + WORKER + text) for each in judged.findings]
    return [found[1] for each in findings if (found := SAYS.search(each.message))]


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (
            "python3 -m dynamo.frontend --dyn-chat-processor sglang --dyn-tool-call-parser qwen3_coder",
            ["--dyn-tool-call-parser"],
        ),
        ("python3 -m dynamo.frontend --router-mode kv --router-reset-states", ["--router-reset-states"]),
        ("python -m dynamo.frontend --http-port 8000 --tool-call-parser kimi_k2", ["--tool-call-parser"]),
        ("python -m dynamo.frontend --http-port 8000 --router-mod kv --no-such-thing", ["--no-such-thing"]),
        ("python -m dynamo.frontend --dyn-chat-processor vllm --busy-threshold 0.5", ["--busy-threshold"]),
    ],
)
def test_an_option_that_it_does_not_have(text: str, flags: list[str]) -> None:
    assert said(text) == flags


@pytest.mark.parametrize(
    "text",
    [
        "python3 -m dynamo.frontend --help\npython3 -m dynamo.vllm --model a/b\n",
        "python3 -m dynamo.frontend --router-mode kv --http-port=8000",
        "python3 -m dynamo.frontend --dyn-chat-processor sglang --tool-call-parser kimi_k2 --reasoning-parser kimi_k2",
        "python3 -m dynamo.frontend --dyn-chat-processor vllm --enable-auto-tool-choice --max-model-len 4096",
        "export DYN_CHAT_PROCESSOR=vllm\npython3 -m dynamo.frontend --tool-call-parser kimi_k2",
        "python3 -m dynamo.frontend $EXTRA --router-mode kv &\npython3 -m dynamo.sglang --model-path a/b --tp 2",
        "python3 -m dynamo.frontend --http-port 8000 & curl --no-such-thing http://localhost:8000",
    ],
)
def test_one_that_it_has_or_that_another_reads(text: str) -> None:
    assert said(text) == []


def test_releases_differ() -> None:
    text = "python3 -m dynamo.frontend --router-mode kv --router-reset-states"
    assert said(text, "1.3.0") == []
    assert said(text, "1.5.0") == ["--router-reset-states"]
    assert "--store-kv" in frontend_options("0.9.0")
    assert "--store-kv" not in frontend_options("1.2.0")
    assert {"--store-kv", "--response-plane"} <= frontend_options("")
