"""Ports of charts and of counted servers, files of a clone, option files in other places."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def said(text: str) -> str:
    return "\n".join(f"{finding.where}: {finding.message}" for judged in ask(text) for finding in judged.findings)


_CHART = """apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: qwen
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        containers:
        - name: server
          image: lmsysorg/sglang:v0.5.9
          command: ["/bin/bash", "-c"]
          args:
          - |
            python3 -m sglang.launch_server --model-path Qwen/Qwen3-235B-A22B --tp-size 16 --port 31000
---
apiVersion: v1
kind: Service
metadata:
  name: qwen-svc
spec:
  ports:
    - port: 80
      targetPort: {target}
  selector:
    leaderworkerset.sigs.k8s.io/name: qwen
"""


def test_the_service_of_a_group() -> None:
    assert "sends to port 8000 of the pods, and SGLang listens on 31000" in said(_CHART.format(target=8000))
    assert "sends to port" not in said(_CHART.format(target=31000))
    assert "sends to port" not in said(_CHART.format(target="http"))
    headless = _CHART.format(target=8000).replace("  ports:", "  clusterIP: None\n  ports:")
    assert "sends to port" not in said(headless)


_HELM = """kind: Deployment
metadata:
  name: {{ .Release.Name }}-llm
spec:
  template:
    metadata:
      labels:
        app: {{ .Release.Name }}-llm
    spec:
      containers:
      - name: server
        image: {{ .Values.image }}
        command: ["vllm", "serve", "Qwen/Qwen3-8B", "--port", "8080"]
---
kind: Service
metadata:
  name: {{ .Release.Name }}-llm
spec:
  selector:
    app: {{ .Release.Name }}-llm
  ports:
  - port: 9000
"""


def test_the_service_of_a_chart() -> None:
    assert "sends to port 9000 of the pods" in said(_HELM)
    assert "sends to port" not in said(_HELM.replace("port: 9000", "port: 9000\n    targetPort: 8080"))
    assert "sends to port" not in said(
        _HELM.replace("    app: {{ .Release.Name }}-llm\n  ports", "    app: web\n  ports")
    )


_COUNTED = """python launch_dp.py --dp-size 4 --dp-size-local 2 --vllm-start-port 7100
python launch_dp.py --dp-size 8 --dp-size-local 4 --vllm-start-port 7200

python proxy.py --port 8000 \\
    --prefiller-hosts $a $a \\
    --prefiller-ports {prefill} \\
    --decoder-hosts $b $b \\
    --decoder-ports \\
      7200 7201 7202 7203

vllm serve Qwen/Qwen3-8B --port $2
"""


@pytest.mark.parametrize(("ports", "told"), [("9100 9101", True), ("7100 7101", False), ("7101 9101", False)])
def test_ports_that_a_script_counts(ports: str, told: bool) -> None:
    assert ("--prefiller-ports sends to" in said(_COUNTED.format(prefill=ports))) is told


def test_ports_of_another_start() -> None:
    text = _COUNTED.format(prefill="9100 9101")
    assert "sends to" not in said(text.replace("--dp-size-local 2 ", ""))
    assert "sends to" not in said(f"{text}\n# or start from 9100 on, then 9101")


_EXAMPLES = (
    "vllm serve meta-llama/Llama-3.1-8B-Instruct --chat-template examples/tool_chat_template_llama3.1_json.jinja"
)


def test_a_template_of_the_repository() -> None:
    assert "a package brings no examples" in said(f"uv pip install vllm\n{_EXAMPLES}")
    assert "a package brings no examples" not in said(_EXAMPLES)
    assert "a package brings no examples" not in said(
        f"git clone https://github.com/a/vllm\npip install vllm\n{_EXAMPLES}"
    )
    assert "a package brings no examples" not in said(f"pip install -e .\n{_EXAMPLES}")


_WORKER = """```bash
python3 -m dynamo.trtllm{module} --model-path nvidia/DeepSeek-R1-FP4 --extra-engine-args /mnt/decode.yaml \\
  --disaggregation-mode {mode}
```

decode.yaml:

```yaml
tensor_parallel_size: 8
moe_config:
  backend: WIDEEP
{more}
```
"""
_TRANSFER = "cache_transceiver_config:\n  backend: DEFAULT"


def test_a_worker_of_one_pool() -> None:
    lacking = "the file has no cache_transceiver_config"
    assert lacking in said(_WORKER.format(module=".worker", mode="decode", more=""))
    assert lacking in said(_WORKER.format(module="", mode="prefill", more=""))
    assert lacking not in said(_WORKER.format(module="", mode="prefill", more=_TRANSFER))
    assert lacking not in said(_WORKER.format(module="", mode="prefill_and_decode", more=""))


_SERVERS = """# context server
trtllm-serve nvidia/DeepSeek-R1-FP4 --tp_size 4 --port 8001 {ctx} &
# generation server
trtllm-serve nvidia/DeepSeek-R1-FP4 --tp_size 4 --port 8002 {gen} &
trtllm-serve disaggregated -c pools.yaml
"""
_FILE = "cat > {name} <<EOF\nkv_cache_config:\n  free_gpu_memory_fraction: 0.6\n{more}\nEOF\n"


def test_servers_of_two_pools() -> None:
    lacking = "the file has no cache_transceiver_config"
    servers = _SERVERS.format(ctx="--config ctx.yaml", gen="--config gen.yaml")
    both = "".join(_FILE.format(name=name, more=_TRANSFER) for name in ("ctx.yaml", "gen.yaml"))
    one = _FILE.format(name="ctx.yaml", more="") + _FILE.format(name="gen.yaml", more=_TRANSFER)
    assert lacking not in said(both + servers)
    assert lacking in said(one + servers)
    assert lacking not in said(one + servers.replace("trtllm-serve disaggregated -c pools.yaml", ""))
    assert "no file of options is named" in said(_SERVERS.format(ctx="", gen=""))


def test_the_buffer_of_a_transfer() -> None:
    text = _WORKER.replace("nvidia/DeepSeek-R1-FP4", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16")
    lacking = "without max_tokens_in_buffer"
    assert lacking in said(text.format(module="", mode="decode", more=_TRANSFER))
    assert lacking not in said(text.format(module="", mode="decode", more=f"max_seq_len: 9000\n{_TRANSFER}"))
    assert lacking not in said(_WORKER.format(module="", mode="decode", more=_TRANSFER))


_TRUSS = """model_name: a
resources:
  accelerator: H100:4
trt_llm:
  inference_stack: v2
  runtime:
    max_batch_size: 64
    max_num_tokens: 8192
    max_seq_len: 98304
    tensor_parallel_size: 4
    patch_kwargs:
      {key}:
        {inner}
      enable_attention_dp: true
"""


def test_keys_of_the_option_file_beside_the_options() -> None:
    assert "no key padding_enabled" in said(_TRUSS.format(key="cuda_graph_config", inner="padding_enabled: true"))
    assert "no key" not in said(_TRUSS.format(key="cuda_graph_config", inner="enable_padding: true"))
    assert "is not a value of moe_config.backend" in said(_TRUSS.format(key="moe_config", inner="backend: WIDEP"))
