"""What clients count on, against the server of the same text: its context, its names, the time that it takes."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import found

SERVER = (
    "```bash\nvllm serve moonshotai/Kimi-K2-Thinking --served-model-name kimi -tp 8 --trust-remote-code "
    "--max-model-len 65536 --reasoning-parser kimi_k2\n```\n\n"
)
PLAIN = SERVER.replace("K2-Thinking", "K2-Instruct").replace(" --reasoning-parser kimi_k2", "")
NGINX = "```\nlocation /v1/ {{\n  proxy_pass http://127.0.0.1:8000;\n{}}}\n```\n"
AGENT = (
    "```bash\nexport ANTHROPIC_BASE_URL=http://gpu1:8000{}\nexport ANTHROPIC_MODEL={}\n"
    "export ANTHROPIC_DEFAULT_HAIKU_MODEL=kimi\n```\n"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            SERVER + '{"models": {"kimi": {"limit": {"context": 262144, "output": 9}}}}\n',
            "counts on a context of 262,144",
        ),
        (SERVER + "[models.local]\nmax_context_size = 131072\n", "counts on a context of 131,072"),
        (SERVER + '{"contextWindow": 200000}\n', "counts on a context of 200,000"),
        (SERVER + "export CLAUDE_CODE_MAX_OUTPUT_TOKENS=64000\n", "leave 1,536 of 65,536"),
        (SERVER + "```yaml\nlitellm_settings:\n  request_timeout: 30\n```\n", "gives up after 30 s"),
        (SERVER + 'client = AsyncOpenAI(base_url="http://lb/v1", timeout=20, max_retries=5)\n', "gives up after 20 s"),
        (SERVER + NGINX.format(""), "nginx waits 60 s"),
        (PLAIN + NGINX.format("") + "Long answers end as 504 Gateway Time-out.\n", "nginx waits 60 s"),
        (SERVER + AGENT.format("/v1", "kimi"), "puts /v1/messages behind"),
        (SERVER + AGENT.format("", "kimi-k2-turbo"), "asks for kimi-k2-turbo"),
        (SERVER + '{"ANTHROPIC_BASE_URL": "http://gpu1:8000/v1"}\n', "puts /v1/messages behind"),
        (SERVER + "export ANTHROPIC_BASE_URL=http://gpu1:8000 ANTHROPIC_MODEL=kimi\n", "to all names but kimi"),
    ],
)
def test_what_a_client_counts_on_is_told(text: str, words: str) -> None:
    assert found(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SERVER + '{"models": {"kimi": {"limit": {"context": 65536, "output": 9}}}}\n', "counts on"),
        (SERVER.replace(" --max-model-len 65536", "") + '{"limit": {"context": 262144}}\n', "counts on"),
        (SERVER + "export CLAUDE_CODE_MAX_OUTPUT_TOKENS=16384\n", "leave"),
        (SERVER + "```yaml\nlitellm_settings:\n  request_timeout: 1800\n```\n", "gives up"),
        (PLAIN + "```yaml\nlitellm_settings:\n  request_timeout: 30\n```\n", "gives up"),
        (SERVER + NGINX.format("  proxy_read_timeout 600s;\n"), "nginx waits"),
        (PLAIN + NGINX.format(""), "nginx waits"),
        (SERVER + AGENT.format("", "kimi"), "the client"),
        (SERVER + "export ANTHROPIC_BASE_URL=http://gpu1:9000/v1\n", "puts /v1/messages behind"),
        (SERVER + "# export ANTHROPIC_BASE_URL=http://gpu1:8000/v1\n", "puts /v1/messages behind"),
    ],
)
def test_what_fits_is_not(text: str, words: str) -> None:
    assert not found(text, words)
