"""What issues show: pieces of manifests without a language, cards in short words, lists of kinds, sketches."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.device_mentions import machines_of
from moonpad.explain.input_limits import Budget
from tests.unit.explain.judging import ask, devices, layout, only_server

PIECE = """\
我的配置：

```
%s      - name: engine
        image: registry/vllm-openai:v0.11.0
        command:
        - vllm
        - serve
        - /models/Big-Model
        args:
        - --tensor-parallel-size=4
        - --limit-mm-per-prompt={"image":2}
```

启动失败
"""


@pytest.mark.parametrize("above", ["", "    spec:\n      containers:\n", "      # the server\n"])
def test_a_piece_of_a_manifest_without_a_language(above: str) -> None:
    judged = only_server(PIECE % above)
    assert (judged.model_written, layout(judged)) == ("/models/Big-Model", (4, 1, 1))


def test_lines_of_a_log_are_no_manifest() -> None:
    log = "INFO: starting\nimage pulled: yes\nargs: Namespace(port=8000)"
    assert layout(only_server(f"```\n{log}\n```\n\n```\nvllm serve org/Big -tp 2\n```\n")) == (2, 1, 1)


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("GPU：H20e-141G*4", "4xH20-141G"),
        ("H20e*8", "8xH20-141G"),
        ("8卡H20e", "8xH20-141G"),
        ("H20-96G*4", "4xH20"),
    ],
)
def test_cards_in_short_words(text: str, machine: str) -> None:
    assert [name for _, name in machines_of(text, Budget())] == [machine]


SERVE = "```\nvllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8\n```\n"


@pytest.mark.parametrize("listed", ["H100/H200/B200", "H100, H200, B200", "MI300X / MI325X / MI355X"])
def test_of_a_list_of_kinds_none_is_meant_alone(listed: str) -> None:
    (judged,) = ask(f"For {listed}:\n{SERVE}")
    assert (judged.cluster, judged.memory) == (None, None)


@pytest.mark.parametrize(
    ("named", "machine"),
    [("H200/H20", "8xH200"), ("8x H100, H200 or B200", "8xH100"), ("H200", "8xH200"), ("MI300X / MI325X", "8xMI300X")],
)
def test_fewer_or_counted_kinds_are_taken(named: str, machine: str) -> None:
    (judged,) = ask(f"For {named}:\n{SERVE}")
    assert devices(judged) == machine


@pytest.mark.parametrize("text", ["在800I A2上部署：", "800T A3 单机：", "在Atlas 800上：", "使用CANN 8.3 的机器："])
def test_machines_of_ascend_beside_chinese_words(text: str) -> None:
    (judged,) = ask(f"{text}\n{SERVE}")
    assert judged.engine == "vllm-ascend"


@pytest.mark.parametrize("text", ["model B800I A2X:", "an A2 instance:", "the CANNED answer:"])
def test_words_that_only_look_like_them(text: str) -> None:
    (judged,) = ask(f"{text}\n{SERVE}")
    assert judged.engine == "vllm"


@pytest.mark.parametrize("dots", ["...", "…"])
def test_dots_stand_for_options_that_are_not_shown(dots: str) -> None:
    text = f"On 8x H200:\n```\nvllm serve {dots} \\\n  --tool-call-parser kimi_k2 --enable-auto-tool-choice\n```\n"
    judged = only_server(text + "\nmoonshotai/Kimi-K2-Instruct\n")
    assert {"tp", "max_model_len"} <= judged.unknown
    assert judged.memory is None
