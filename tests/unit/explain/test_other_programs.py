"""Options that look like an engine's and are another program's, or are only spoken of."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask


def errors(text: str) -> list[str]:
    return [one.message for judged in ask(text, "8xH200") for one in judged.findings if one.severity is Severity.ERROR]


def test_a_plugin_that_takes_over_the_server_has_options_of_its_own() -> None:
    assert not errors("vllm serve owner/Speech --omni --deploy-config speech.yaml --init-timeout 600")
    assert not errors(
        "# SGLang 0.5.8\nsglang serve --model-path Tongyi-MAI/Z-Image-Turbo --ulysses-degree=1 --ring-degree=1"
    )
    assert errors("vllm serve owner/Speech --deploy-config speech.yaml --init-timeout 600")


def test_another_engine_is_none_of_ours() -> None:
    command = (
        'python3 -m atom.entrypoints.openai_server --model m -tp 8 --kv-transfer-config \'{"proxy_ip":"10.0.0.1"}\''
    )
    assert not ask(command)
    assert ask(command.replace("atom.", "vllm."))


@pytest.mark.parametrize("behind", [" (default 262144)", "", ": lower it to free memory"])
def test_a_list_that_names_an_option_gives_it_no_value(behind: str) -> None:
    text = "# Guide\n\n- `--gpu-memory-utilization 0.9` is enough\n- `--tensor-parallel-size 8`\n"
    text += f"- `--max-model-len`{behind}\n"
    assert ask(text)
    assert not errors(text)


def test_an_option_of_a_router_may_be_newer_than_what_is_recorded() -> None:
    (judged,) = ask("python3 -m sglang_router.launch_router --worker-urls http://a:1 --connect-timeout-secs 9")
    (found,) = [one for one in judged.findings if one.where == "--connect-timeout-secs"]
    assert found.severity is Severity.WARNING
