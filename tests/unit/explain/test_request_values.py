"""Values of requests that spoil answers, and switches of thinking that belong to others."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import found

K25 = "```bash\nvllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --reasoning-parser kimi_k2\n```\n\n"
SGLANG = "```bash\npython3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --port 30000\n```\n\n"
QWEN = "```bash\nvllm serve Qwen/Qwen3-32B -tp 2\n```\n\n"
CURL = "```bash\ncurl http://localhost:{}/v1/chat/completions -H 'Content-Type: application/json' -d '{{{}}}'\n```\n"
CREATE = "```python\nr = client.chat.completions.create(model='moonshotai/Kimi-K2.5', messages=m, {})\n```\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (K25 + CURL.format(8000, '"n": 8, "temperature": 0, "messages": []'), "8 samples are the same"),
        (K25 + CREATE.format("n=4, temperature=0.0"), "4 samples are the same"),
        (K25 + "In production:\n\n" + CURL.format(8000, '"ignore_eos": true, "messages": []'), "runs on to max_tokens"),
        (SGLANG + CURL.format(30000, '"repetition_penalty": 1.3, "messages": []'), "repetition_penalty 1.3"),
        (K25 + CREATE.format("max_tokens=512, extra_body={'thinking': {'type': 'disabled'}}"), "passes over it"),
        (K25 + CURL.format(8000, '"thinking": {"type": "disabled"}, "messages": []'), "passes over it"),
        (K25 + CURL.format(8000, '"messages": [{"role": "system", "content": "/no_think Be brief."}]'), "for text"),
        (
            K25 + "```python\ns = dict(temperature=0.0)\n"
            "r = client.chat.completions.create(model='moonshotai/Kimi-K2.5', messages=m, **s)\n```\n"
            "It loops endlessly.\n",
            "at temperature 0 the thoughts",
        ),
    ],
)
def test_what_spoils_answers_is_told(text: str, words: str) -> None:
    assert found(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (K25 + CURL.format(8000, '"n": 8, "temperature": 0.8, "messages": []'), "samples are the same"),
        (K25 + CURL.format(8000, '"n": 1, "temperature": 0, "messages": []'), "samples are the same"),
        (K25 + "A benchmark:\n\n" + CURL.format(8000, '"ignore_eos": true, "messages": []'), "runs on to"),
        (K25 + "vllm bench serve --model x --ignore-eos\n", "runs on to"),
        (K25 + CURL.format(8000, '"repetition_penalty": 1.05, "messages": []'), "repetition_penalty"),
        (K25 + CURL.format(8000, '"chat_template_kwargs": {"thinking": false}, "messages": []'), "passes over it"),
        (QWEN + CURL.format(8000, '"messages": [{"role": "system", "content": "/no_think"}]'), "for text"),
        (K25 + "The file is data/no_think.json\n", "for text"),
    ],
)
def test_other_values_are_not(text: str, words: str) -> None:
    assert not found(text, words)
