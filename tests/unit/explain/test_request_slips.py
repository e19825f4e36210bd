"""A request to another port, and a switch of another model's template: said where it is sure, else nothing."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --port 8001\n\n"
CURL = "curl http://localhost:8000/v1/models\n"
BODY = 'curl http://localhost:8001/v1/chat/completions -d \'{"chat_template_kwargs": {"%s": false}}\'\n'


def messages(text: str) -> list[str]:
    return [str(finding.message) for each in ask(text, "8xH200") for finding in each.findings]


def test_a_port_that_nobody_listens_on() -> None:
    found = [text for text in messages(SERVER + CURL) if "goes to port" in text]
    assert found == ["a request (line 3) goes to port 8000, and the server listens on 8001"]


def test_the_port_of_a_measurement() -> None:
    bench = (
        "python3 -m sglang.bench_serving --backend vllm \\\n  --base-url=http://127.0.0.1:8000 \\\n  --num-prompts 9\n"
    )
    found = [text for text in messages(SERVER + bench) if "goes to port" in text]
    assert found == ["a request (line 4) goes to port 8000, and the server listens on 8001"]
    assert not [text for text in messages(SERVER + bench.replace("8000", "8001")) if "goes to port" in text]


@pytest.mark.parametrize(
    "text",
    [
        SERVER + CURL.replace("8000", "8001"),
        SERVER + CURL + CURL.replace("8000", "8001"),
        SERVER.replace(" --port 8001", "") + CURL,
        SERVER + "ssh -L 8000:localhost:8001 gpu1\n" + CURL,
        "# nginx passes 8000 on\n" + SERVER + CURL,
        SERVER + "docker run -p 8000:8001 image\n" + CURL,
        SERVER + "# curl http://localhost:8000/v1/models\n",
        CURL + SERVER,
        SERVER + "vllm serve moonshotai/Kimi-K2.5 --port 8000\n" + CURL,
    ],
)
def test_a_port_that_may_be_right(text: str) -> None:
    assert not [text for text in messages(text) if "goes to port" in text]


def test_the_switch_of_another_model() -> None:
    assert any("passed over" in text for text in messages(SERVER + BODY % "enable_thinking"))
    assert not any("passed over" in text for text in messages(SERVER + BODY % "thinking"))
    for model in ("Qwen/Qwen3-32B", "moonshotai/Kimi-K2-Thinking", "zai-org/GLM-5.2-FP8"):
        others = SERVER.replace("moonshotai/Kimi-K2.5", model) + BODY % "enable_thinking"
        assert not any("passed over" in text for text in messages(others))
    for model, told in (
        ("Qwen/Qwen3-32B", True),
        ("Qwen/Qwen3.5-397B-A17B-FP8", True),
        ("zai-org/GLM-5.2-FP8", True),
        ("Qwen/Qwen3-235B-A22B-Thinking-2507", False),
        ("deepseek-ai/DeepSeek-V3.1", False),
    ):
        others = SERVER.replace("moonshotai/Kimi-K2.5", model) + BODY % "thinking"
        assert any("passed over" in text for text in messages(others)) is told


@pytest.mark.parametrize(
    ("request_line", "expected"),
    [
        ('curl -X POST http://localhost:8000/sleep -d \'{"level": "2"}\'', True),
        (
            "curl -X POST localhost:8000/sleep \\\n  -H 'Accept: */*' \\\n  -d '{\"level\": 2}'",
            True,
        ),
        ("curl -X POST 'http://localhost:8000/sleep?level=2'", False),
        ("curl -X POST http://localhost:8000/sleep -d '{\"level\": 1}'", False),
        ("curl -X POST http://localhost:8000/wake_up", False),
    ],
)
def test_how_deep_it_sleeps(request_line: str, expected: bool) -> None:
    text = f"vllm serve a/b --enable-sleep-mode\n{request_line}\n"
    told = [each.remedy for one in ask(text) for each in one.findings if "/sleep reads" in each.message]
    assert told == (["ask for /sleep?level=2"] if expected else [])


START = "```bash\npython -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 8{}\n```\n\n"
CLIENT = '```python\nclient = OpenAI(base_url="http://localhost:{}/v1")\n```\n\n'


def test_the_request_below_one_of_several_servers() -> None:
    second = START.format(" --port 8000") + CLIENT.format(8000)
    assert [each for each in messages(START.format("") + CLIENT.format(8000) + second) if "the request below" in each]
    assert not [each for each in messages(START.format("") + CLIENT.format(30000) + second) if "request below" in each]
    assert not [each for each in messages(START.format("") + second) if "request below" in each]
    proxied = "nginx\n" + START.format("") + CLIENT.format(8000) + second
    assert not [each for each in messages(proxied) if "request below" in each]


def test_the_switch_of_the_server_itself() -> None:
    served = "vllm serve zai-org/GLM-5.2-FP8 -tp 8 --default-chat-template-kwargs '{\"%s\": false}'"
    assert any("passed over" in text for text in messages(served % "thinking"))
    assert not any("passed over" in text for text in messages(served % "enable_thinking"))
