"""Files of public repositories in which errors were told that are none: each is a short form of what stood there."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

NIXL = "python -m sglang.launch_server --model-path a/b --disaggregation-transfer-backend nixl --disaggregation-mode"
ASCEND = NIXL.replace("nixl", "ascend")
PAIRS = f"""# NIXL

```bash
{NIXL} prefill
{NIXL} decode
```

One half alone:

```bash
{NIXL} prefill
```

# Ascend

```bash
{ASCEND} prefill
{ASCEND} decode
```
"""
ENVOY = """proxy:
  args:
    - "--service-node"
    - "envoy-sidecar"
    - "--log-level"
    - "warn"
    - "--concurrency"
    - "8"
    - "--drain-strategy"
    - "immediate"
    - "--drain-time-s"
    - "60"
    - "-c"
    - "/etc/envoy/envoy.yaml"
decode:
  command: vllm serve Qwen/Qwen3-8B --port 8000
"""
SCHEMA = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  versions:
  - schema:
      properties:
        vllmConfig:
          description: vLLM server configuration
          properties:
            extraArgs: {description: Extra arguments for vllm serve, type: array}
            port: {default: 8000, type: integer}
            tensorParallelSize: {type: integer}
          type: object
"""
JINJA = """{# Use the default vllm serve command -- its variables come later #}
{% if ready %}
vllm serve {{ model.name }} --host {{ common.host | default('0.0.0.0') }} \\
  {% if name %}--served-model-name "$NAME" {% endif %}\\
  --kv-transfer-config '{% if both %}{"kv_connector":"A"}{% else %}{"kv_connector":"B"}{% endif %}' {{ a | join(' ') }}
{% endif %}
"""
COMPOSE = """services:
  server:
    image: vllm/vllm-openai:v0.20.0
    command: --model Qwen/Qwen3-8B --tensor-parallel-size 2
    ipc: host
    deploy:
      resources:
        reservations:
          devices: [{driver: nvidia, device_ids: ['${GPUS:-0,1}'], capabilities: [gpu]}]
"""
TABLE = """| GPU | Image |
| :-: | :- |
| H200 | `lmsysorg/sglang:v0.4.9.post1-cu126` |
| B200 | `lmsysorg/sglang:v0.4.10.post1-cu128-b200` |

#### B200 R1

```bash
python3 -m sglang.launch_server --model-path $MODEL --attention-backend trtllm_mla
```
"""
POST = """Results are in posts such as [vLLM v0.6.0](https://blog.vllm.ai/2024/09/05/perf-update.html).

```bash
vllm bench serve --model a/b --dataset-name random-mm
```
"""
V32 = """# Install

```bash
docker pull lmsysorg/sglang:latest
# AMD
docker pull lmsysorg/sglang:v0.5.8-rocm700-mi35x
```

# Serve

```bash
python -m sglang.launch_server --model deepseek-ai/DeepSeek-V3.2-Exp --tp 8 --attn-cp-size 8
```
"""
OWN_BUILD = """pip install vllm==0.21+own
vllm serve a/b --speculative-config '{"method":"dspark","num_speculative_tokens":2}'
"""
HYGON = "# GLM on BW1100\n\n```bash\npip install vllm==0.15.1\nvllm serve hygon/GLM-5 --enable-lightly-cp --cc 1\n```\n"
ATOM = """docker pull rocm/atom-dev:vllm-v0.17.0-nightly_20260315

Kimi-K3 on 8xMI300X:

```bash
vllm serve ${model} --tensor-parallel-size 8 --kv-cache-dtype fp8
```
"""


ASKED = """
MODEL="${MODEL:-}"
if [[ -z "${MODEL}" || -z "${PORT}" ]]; then
  echo "MODEL and PORT must be set."
  exit 1
fi
vllm serve $MODEL --served-model-name ${MODEL} --tensor-parallel-size 8
"""


@pytest.mark.parametrize(
    "text",
    [
        PAIRS,
        ENVOY,
        JINJA,
        COMPOSE,
        TABLE,
        POST,
        HYGON,
        HYGON.replace("vllm==0.15.1", "sglang==0.5.12").replace("vllm serve ", "sglang serve --model-path "),
        "pip install sglang==0.5.12\nsglang serve --model-path Wan-AI/Wan2.2 --ulysses-degree 4 --warmup --port 1\n",
        "sglang serve --model-path Wan-AI/Wan2.2 --disagg-role server --denoiser-urls tcp://10.0.0.1:19001 --port 1\n",
        ATOM,
        "from vllm import LLM\n\nllm = LLM(model=..., runner=..., trust_remote_code=True)\n",
        "python -m sglang.launch_server --model-path a/b --grammar-backend [xgrammar|outlines] --port 1\n",
        "/opt/lucebox-hub/build/bin/llama-server -m x.gguf --target-gpu 0 --draft-gpu 1\n",
        "sglang serve --model-path deepseek-ai/DeepSeek-R1 --device cpu --tp 6\n",
        "vllm serve a/b --prefix-caching-hash-algo sha256_cbor_64bit\n",
        OWN_BUILD,
        "pip install sglang==0.5.10\nsglang serve --model-path a/b --nnodes <节点数> --node-rank 0\n",
        V32,
        "vllm serve a/b --device cuda\n",
        ASKED,
        "pip install vllm==0.8.2\nvllm serve a/b --enable-chunked-prefill=False\n",
        "vllm serve a/b -dp 2 --data-parallel-rpc-port prefill_node_dp_port\n",
        """vllm serve Qwen/Qwen3-32B --max-model-len 131072 --rope_scaling '{"rope_type":"yarn","factor":4.0}'\n""",
        "vllm serve /models/Qwen2.5-72B-Instruct -tp 4 --max-model-len 131072\n",
        "sglang serve --model-path a/b --cuda-graph-backend-prefill tc_piecewise\n",
    ],
)
def test_no_error(text: str) -> None:
    judged = ask(text)
    assert judged
    assert [each for one in judged for each in one.findings if each.severity is Severity.ERROR] == []


def test_a_schema_starts_nothing() -> None:
    assert not any(one.sources for one in ask(SCHEMA))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TABLE.replace("#### B200", "#### H200"), '--attention-backend does not take "trtllm_mla"'),
        (PAIRS.replace("# Ascend\n", "").replace("One half alone", "With it"), "prefill sends by nixl"),
        (COMPOSE.replace("0,1}", "0}"), "2 ranks"),
        (ASKED.replace('"${MODEL:-}"', '""').replace("exit 1", "echo 1"), "needs a value"),
        ("pip install vllm==0.32.0\nvllm serve a/b --device cuda\n", "several options begin so"),
        ("vllm serve Qwen/Qwen2.5-72B-Instruct -tp 4 --max-model-len 131072\n", "32768 positions"),
        ("pip install vllm==0.20.0\nvllm serve a/b --prefix-caching-hash-algo sha256_cbor_64bit\n", "does not take"),
    ],
)
def test_beside_it_there_is_one(text: str, words: str) -> None:
    errors = [each.message for one in ask(text) for each in one.findings if each.severity is Severity.ERROR]
    assert any(words in message for message in errors)


def test_an_image_for_amd_beside_the_usual_one_names_no_devices() -> None:
    assert [one.cluster for one in ask(V32)] == [None]
    (of_amd,) = ask(V32.replace("docker pull lmsysorg/sglang:latest\n", ""))
    assert of_amd.cluster is not None
    assert of_amd.cluster.device.capability == "gfx950"
