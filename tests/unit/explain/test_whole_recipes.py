"""Whole recipes and manifests: what is wrong in them comes first, and what is corrected stays one for all machines."""

from __future__ import annotations

from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

NODE = (
    "vllm serve /data/Kimi-K2-Thinking --port 8004 --data-parallel-size 2 --data-parallel-size-local 1"
    " --data-parallel-address 10.0.0.1 --tensor-parallel-size 8 --trust-remote-code --reasoning-parser kimi_k2"
)
POD = """apiVersion: apps/v1
kind: Deployment
metadata: {name: k26}
spec:
  selector:
    matchLabels: {app: k26}
  template:
    metadata:
      labels: {app: APP}
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.20.0
        args: [moonshotai/Kimi-K2.6, --tensor-parallel-size=8, --trust-remote-code]
        ports: [{containerPort: 8000}]
        readinessProbe:
          httpGet: {path: /health, port: 8000}
        resources:
          limits: {nvidia.com/gpu: 8}
"""


def judged(text: str, name: str = "start.sh") -> Judged:
    return ask(read_files([(name, text)]))[0]


def errors(one: Judged) -> list[str]:
    return [finding.message for finding in one.findings if finding.severity is Severity.ERROR]


def test_the_second_machine_starts_the_ranks_behind_those_of_the_first() -> None:
    both = f"# node 0\n{NODE}\n\n# node 1\n{NODE} --headless --data-parallel-start-rank "
    one = judged(f"{both}0\n")
    assert ["none starts rank 1" in message for message in errors(one)] == [True]
    argv = one.corrected[1].argv
    assert argv[argv.index("--data-parallel-start-rank") + 1] == "1"
    assert not errors(judged(f"{both}1\n"))


def test_the_rank_that_comes_from_outside_stays_a_variable() -> None:
    serve = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp-size 16 --nnodes 2"
    text = f"RANK=${{1:-0}}\n{serve} --trust-remote-code --dist-init-addr 10.0.0.1:5000 --node-rank ${{RANK}}\n"
    (line,) = judged(text).corrected
    assert line.argv[line.argv.index("--node-rank") + 1] == "${RANK:-0}"
    assert "RANK" in line.unresolved
    (line,) = judged(text.replace("${RANK}", "0")).corrected
    assert line.argv[line.argv.index("--node-rank") + 1] == "0"


def test_a_later_rank_needs_no_parsers() -> None:
    serve = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp 16 --nnodes 2 --trust-remote-code"
    serve += " --dist-init-addr 10.0.0.1:5000 --node-rank"
    parsers = "--tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
    one = judged(f"# node 0\n{serve} 0 {parsers}\n\n# node 1\n{serve} 1\n")
    assert len(one.sources) == 2
    assert not any("parser" in finding.where for finding in one.findings if finding.code is Code.MISSING_FLAG)
    lone = judged(f"{serve} 0\n").findings
    assert any("parser" in finding.where for finding in lone if finding.code is Code.MISSING_FLAG)


def test_an_object_that_kubernetes_refuses_comes_first() -> None:
    assert verdict(judged(POD.replace("APP", "kimi"), "pod.yaml"))[0].startswith("Will likely fail: spec.selector")
    assert "likely" not in verdict(judged(POD.replace("APP", "k26"), "pod.yaml"))[0]


def test_a_file_that_nothing_writes_comes_before_what_is_not_known_without_it() -> None:
    text = "cat > /tmp/a.yml <<EOF\nmax_batch_size: 64\nEOF\ntrtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --tp_size 8"
    assert verdict(judged(f"{text} --extra_llm_api_options /tmp/a.yaml\n"))[0].startswith(
        "Will likely fail: /tmp/a.yaml"
    )


def test_a_port_that_a_task_opens_needs_a_host() -> None:
    task = (
        "resources:\n  accelerators: H200:8\n  ports: PORT\nrun: |\n  python -m sglang.launch_server --tp 8"
        " --model-path moonshotai/Kimi-K2.6 --trust-remote-code --port 30000 HOST\n"
    )

    def led_nowhere(port: str, host: str = "") -> bool:
        one = judged(task.replace("PORT", port).replace("HOST", host), "task.yaml")
        return any("which the task opens, leads nowhere" in finding.message for finding in one.findings)

    assert led_nowhere("30000")
    assert not led_nowhere("8888")
    assert not led_nowhere("30000", "--host 0.0.0.0")


def test_a_way_out_is_no_longer_a_context_than_the_one_asked_for() -> None:
    text = (
        "# 8x H100\npip install vllm==0.12.0\nvllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8"
        " --max-model-len 131072 --gpu-memory-utilization 0.9 --trust-remote-code\n"
    )
    changes = [dict(better.changes).get("max_model_len") for better in judged(text).better]
    assert changes
    assert all(value is None or int(value) < 131072 for value in changes)


def test_a_setting_that_the_text_speaks_against_is_not_offered() -> None:
    serve = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code\n"

    def offered(line: str) -> set[str]:
        return {name for better in judged(f"# 8x H200\n# {line}\n{serve}").better for name, _ in better.changes}

    assert {"dcp", "kv_cache_dtype"} <= offered("starts in ten minutes")
    assert offered("the FP8 KV cache is unusable here, do not set it") == {"dcp"}
    assert "dcp" not in offered("decode context parallelism crashes with this driver")
    assert "dcp" in offered("decode context parallelism was tried with success")


def test_the_docstring_of_a_program_says_what_it_is_called_with() -> None:
    program = '''"""Answers questions.

    python eval/ask.py --model moonshotai/Moonlight-16B-A3B-Instruct --tp 4
"""
import argparse
from vllm import LLM

parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True)
parser.add_argument("--tp", type=int, default=8)
args = parser.parse_args()
llm = LLM(model=args.model, tensor_parallel_size=args.tp, trust_remote_code=True)
'''
    one = judged(program, "ask.py")
    assert one.model_written == "moonshotai/Moonlight-16B-A3B-Instruct"
    other = "    python eval/ask.py --model moonshotai/Kimi-K2.5\n"
    assert judged(program.replace("--tp 4\n", f"--tp 4\n{other}"), "ask.py").model_written == ""


def test_a_share_that_is_given_in_per_cent_becomes_one() -> None:
    serve = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code --gpu-memory-utilization"
    one = judged(f"{serve} 95\n")
    assert any("95" in message for message in errors(one))
    argv = one.corrected[0].argv
    assert argv[argv.index("--gpu-memory-utilization") + 1] == "0.95"
    assert any("it takes a number" in finding.remedy for finding in judged(f"{serve} much\n").findings)


def test_fewer_devices_are_seen_than_slices_are_asked_for_whatever_else_is_added() -> None:
    serve = "sglang serve --model-path nvidia/Kimi-K2.5-NVFP4 --tp 8 --trust-remote-code $MORE\n"

    def told(devices: str, more: str = "") -> bool:
        one = judged(f"{more}export CUDA_VISIBLE_DEVICES={devices}\n{serve}")
        return any("the command starts 8 ranks here" in finding.message for finding in one.findings)

    assert told("0,1,2,3")
    assert not told("0,1,2,3,4,5,6,7")
    assert not told("0,1,2,3", "# on each of the two nodes\n")
