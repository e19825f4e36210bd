"""What stands in front of a server: HAProxy's check, nginx's patience, Caddy's port, Open WebUI's settings."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code --max-model-len 32768 --port 8000"


def told(text: str, where: str) -> list[str]:
    found = [finding for judged in ask(text) for finding in judged.findings if finding.where == where]
    return [f"{finding.message} => {finding.remedy}" for finding in found]


@pytest.mark.parametrize("line", ["option httpchk GET {}", "option httpchk {}", "http-check send meth GET uri {}"])
def test_the_check_of_a_balancer(line: str) -> None:
    text = "backend kimi\n    {}\n    server n1 10.0.0.1:8000 check\n\n" + SERVE + " --host 0.0.0.0\n"
    (message,) = told(text.format(line.format("/healthz")), "/healthz")
    assert message.endswith("it takes every server for down => write /health")
    assert told(text.format(line.format("/health")), "/health") == []


NGINX = "location / {{\n    proxy_pass http://127.0.0.1:8000;\n{more}}}\n\n{serve}\n\n{said}\n"


def test_the_patience_of_nginx() -> None:
    text = NGINX.format(more="", serve=SERVE, said="After a minute: 504 Gateway Time-out")
    (message,) = told(text, "proxy_read_timeout")
    assert "waits 60 s" in message
    longer = NGINX.format(more="    proxy_read_timeout 900s;\n", serve=SERVE, said="504 Gateway Time-out")
    assert told(longer, "proxy_read_timeout") == []
    assert told(NGINX.format(more="", serve=SERVE, said="It works."), "proxy_read_timeout") == []


def test_the_port_of_caddy() -> None:
    text = "example.org {{\n    reverse_proxy localhost:{port}\n}}\n\n" + SERVE + "\n"
    (message,) = told(text.format(port=8001), "reverse_proxy")
    assert "Caddy passes requests on to port 8001, and the server listens on 8000" in message
    assert told(text.format(port=8000), "reverse_proxy") == []


def test_ollama_is_another_api() -> None:
    webui = f"{SERVE}\n\ndocker run -d --network host -e {{}}=http://127.0.0.1:8000{{}} ghcr.io/open-webui/open-webui\n"
    (message,) = told(webui.format("OLLAMA_BASE_URL", ""), "OLLAMA_BASE_URL")
    assert "does not speak Ollama's API" in message
    assert told(webui.format("OPENAI_API_BASE_URL", "/v1"), "OLLAMA_BASE_URL") == []
    sglang = (
        "python -m sglang.launch_server --model-path moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code --port 8000"
    )
    assert told(webui.format("OLLAMA_BASE_URL", "").replace(SERVE, sglang), "OLLAMA_BASE_URL") == []
    other = webui.format("OLLAMA_BASE_URL", "").replace(":8000 ", ":11434 ")
    assert told(other, "OLLAMA_BASE_URL") == []


def test_the_key_of_open_webui() -> None:
    webui = "docker run -d --network host -e OPENAI_API_BASE_URL=http://127.0.0.1:8000/v1 -e OPENAI_API_KEY={} "
    text = f"{SERVE} --api-key sk-team-1\n\n{webui}ghcr.io/open-webui/open-webui\n"
    (message,) = told(text.format("none"), "OPENAI_API_KEY")
    assert "it answers 401" in message
    assert told(text.format("sk-team-1"), "OPENAI_API_KEY") == []
    assert told(text.format("$KEY"), "OPENAI_API_KEY") == []
    assert told(text.replace(" --api-key sk-team-1", "").format("none"), "OPENAI_API_KEY") == []
