"""Schemes, keys, names and lengths of requests against the server's, and the environment of Ray."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

GUIDE = """# Kimi-K2.7-Code on 8x H200 (vLLM 0.24.0)

```bash
vllm serve moonshotai/Kimi-K2.7-Code --served-model-name kimi-code --tensor-parallel-size 8 --trust-remote-code \\
  --max-model-len 32768 --api-key token-kimi --ssl-keyfile /k.pem --ssl-certfile /c.pem --port 8443
```

```bash
curl -k https://localhost:8443/v1/chat/completions -H "Authorization: Bearer token-kimi" \\
  -d '{"model": "kimi-code", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 640}'
```

```python
from openai import OpenAI
client = OpenAI(base_url="https://localhost:8443/v1", api_key="token-kimi")
r = client.chat.completions.create(model="kimi-code", messages=[])
```
"""
CLUSTER = """# Kimi-K2-Instruct on two machines with eight H200 each, vLLM 0.11.2 and Ray

```bash
export VLLM_HOST_IP=10.0.0.11
ray start --head --port=6379 --num-gpus=8
```

```bash
export VLLM_HOST_IP=10.0.0.12
ray start --address=10.0.0.11:6379 --num-gpus=8
```

```bash
vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --pipeline-parallel-size 2 \\
  --distributed-executor-backend ray --trust-remote-code
```
"""


def said(text: str) -> set[str]:
    return {each.message for one in ask(text) for each in one.findings if each.severity is Severity.WARNING}


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (GUIDE, "curl -k https", "curl http"),
        (GUIDE, 'base_url="https', 'base_url="http'),
        (GUIDE, " --ssl-keyfile /k.pem --ssl-certfile /c.pem", ""),
        (GUIDE, "Bearer token-kimi", "Bearer token-other"),
        (GUIDE, "Bearer token-kimi", "token-kimi"),
        (GUIDE, 'api_key="token-kimi"', 'api_key="EMPTY"'),
        (GUIDE, 'create(model="kimi-code"', 'create(model="moonshotai/Kimi-K2.7-Code"'),
        (GUIDE, '"max_tokens": 640', '"max_tokens": 64000'),
        (CLUSTER, "export VLLM_HOST_IP=10.0.0.12", "VLLM_HOST_IP=10.0.0.12"),
        (
            CLUSTER,
            "export VLLM_HOST_IP=10.0.0.12\nray start --address=10.0.0.11:6379 --num-gpus=8",
            "ray start --address=10.0.0.11:6379 --num-gpus=8\nexport VLLM_HOST_IP=10.0.0.12",
        ),
    ],
)
def test_it_is_not_answered(text: str, old: str, new: str) -> None:
    assert old in text
    assert said(text.replace(old, new, 1)) - said(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kimi", "kimi"),
        ("Bearer token-kimi", "Bearer $KEY"),
        ("Bearer token-kimi", "Bearer YOUR_API_KEY"),
        ("--api-key token-kimi", "--api-key $KEY"),
        ("curl -k https://localhost:8443", "curl http://localhost:8080"),
        ("# Kimi", "# behind nginx: Kimi"),
        ('create(model="kimi-code"', "create(model=MODEL"),
    ],
)
def test_it_is_answered(old: str, new: str) -> None:
    assert {
        text for text in said(GUIDE.replace(old, new)) - said(GUIDE) if "request" in text or "client" in text
    } == set()


def test_ray_has_its_environment() -> None:
    late = "VLLM_HOST_IP=10.0.0.12\nexport VLLM_HOST_IP\n"
    for other in (late, "VLLM_HOST_IP=10.0.0.12 \\\n"):
        assert said(CLUSTER.replace("export VLLM_HOST_IP=10.0.0.12\n", other)) - said(CLUSTER) == set()
