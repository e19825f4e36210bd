"""Where pieces of one text look for each other: routers, Ray, Compose, workers, pods of a group."""

from __future__ import annotations

import pytest

from .judging import ask

K2T = "moonshotai/Kimi-K2-Thinking"
SGLANG = f"python3 -m sglang.launch_server --model-path {K2T} --tp 8 --trust-remote-code"


def told(text: str) -> list[str]:
    return [f"{each.where}: {each.message}" for judged in ask(text) for each in judged.all_findings]


@pytest.mark.parametrize(("port", "wrong"), [("30000", True), ("30001", False)])
def test_a_router_asks_a_host_at_its_own_port(port: str, *, wrong: bool) -> None:
    text = (
        f"{SGLANG} --disaggregation-mode prefill --host 10.0.0.1 --port 30000\n"
        f"{SGLANG} --disaggregation-mode decode --host 10.0.0.2 --port 30001\n"
        "python3 -m sglang_router.launch_router --pd-disaggregation --prefill http://10.0.0.1:30000 8998 "
        f"--decode http://10.0.0.2:{port} --port 8000\n"
    )
    assert any("the servers here listen on 30001" in each for each in told(text)) is wrong


@pytest.mark.parametrize(("port", "wrong"), [("6380", True), ("6379", False)])
def test_a_worker_joins_ray_at_the_port_of_its_head(port: str, *, wrong: bool) -> None:
    text = (
        "HEAD=$(hostname -i)\nray start --head --port=6379\n"
        f'ssh b ray start --address "$HEAD:{port}"\n'
        f"vllm serve {K2T} -tp 8 -pp 2 --distributed-executor-backend ray --trust-remote-code\n"
    )
    assert any("it joins at port 6380" in each for each in told(text)) is wrong


@pytest.mark.parametrize(("port", "wrong"), [("8080", True), ("8000", False)])
def test_a_service_asks_for_a_port_that_the_engine_has(port: str, *, wrong: bool) -> None:
    text = (
        "services:\n  engine:\n    image: vllm/vllm-openai:v0.12.0\n"
        f"    command: --model {K2T} --tensor-parallel-size 8 --trust-remote-code\n"
        "    ports: ['127.0.0.1:8000:8000']\n"
        "  chat:\n    image: ghcr.io/open-webui/open-webui:main\n    environment:\n"
        f"      OPENAI_API_BASE_URL: http://engine:{port}/v1\n"
    )
    assert any("engine listens on 8000, and not on 8080" in each for each in told(text)) is wrong


@pytest.mark.parametrize(("second", "wrong"), [("0,1,2,3,4,5,6,7", True), ("8,9,10,11,12,13,14,15", False)])
def test_two_workers_of_dynamo_on_the_same_devices(second: str, *, wrong: bool) -> None:
    worker = f"python3 -m dynamo.vllm --model {K2T} --tensor-parallel-size 8 --trust-remote-code"
    text = (
        f"CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 {worker} &\n"
        f"CUDA_VISIBLE_DEVICES={second} {worker} --disaggregation-mode prefill\n"
    )
    assert any("still runs and takes most of device" in each for each in told(text)) is wrong


@pytest.mark.parametrize(("host", "wrong"), [("127.0.0.1", True), ("0.0.0.0", False)])
def test_a_server_on_the_loopback_of_its_container(host: str, *, wrong: bool) -> None:
    text = f"docker run --gpus all -p 127.0.0.1:8000:8000 vllm/vllm-openai:v0.12.0 --model {K2T} -tp 8 --host {host}\n"
    assert any("inside of the container alone" in each for each in told(text)) is wrong


def test_the_command_of_several_machines_starts_all_ranks() -> None:
    common = (
        f"vllm serve {K2T} -dp 32 --data-parallel-size-local 8 --data-parallel-address 10.0.0.1 --trust-remote-code"
    )
    known = f"# 4x8 H200\n{common}\n{common} --data-parallel-start-rank 8 --headless\n"
    assert any("and the commands here start 16" in each for each in told(known))
    open_ended = f"# 4x8 H200\n{common}\n{common} --data-parallel-start-rank $((8*RANK)) --headless\n"
    assert not any("and the commands here start" in each for each in told(open_ended))


def test_pods_of_one_group_have_one_layout() -> None:
    pod = (
        "      spec:\n        containers:\n        - name: a\n          image: lmsysorg/sglang:v0.5.5\n"
        "          command:\n"
        "          - python3\n          - -m\n          - sglang.launch_server\n"
        f"          - --model-path={K2T}\n          - --tp={{}}\n          - --nnodes=2\n"
        "          - --node-rank=$(LWS_WORKER_INDEX)\n          - --dist-init-addr=$(LWS_LEADER_ADDRESS):5000\n"
        "          resources: {{limits: {{nvidia.com/gpu: '8'}}}}\n"
    )
    text = (
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: k}\nspec:\n  replicas: 1\n"
        "  leaderWorkerTemplate:\n    size: 2\n    leaderTemplate:\n"
    )
    unlike = text + pod.format(16) + "    workerTemplate:\n" + pod.format(8)
    assert any("another pod of the group" in each for each in told(unlike))


def test_a_report_of_one_backend_is_not_told_of_another() -> None:
    command = "# 8xB200\ntrtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --tp_size 8 --ep_size 8 --trust_remote_code\n"
    text = f"TensorRT-LLM 1.1.0\n```yaml\nmoe_config:\n  backend: {{}}\n```\n```bash\n{command}```\n"
    assert any("gibberish" in each for each in told(text.format("TRTLLM")))
    assert not any("gibberish" in each for each in told(text.format("CUTLASS")))


def test_a_part_of_a_machine_is_not_two_machines() -> None:
    text = (
        "# 8x H200\nservices:\n  a:\n    image: lmsysorg/sglang:v0.5.9\n"
        f"    command: {SGLANG} --host 0.0.0.0\n"
        "    deploy:\n      resources:\n        reservations:\n          devices:\n"
        "            - {driver: nvidia, device_ids: ['0', '1', '2', '3'], capabilities: [gpu]}\n"
    )
    assert any("the containers get 4 devices" in each for each in told(text))
    assert not any("fast links join 4" in each for each in told(text))


def test_ranks_that_ray_starts_are_not_missing() -> None:
    text = f"# 2x8 H200\nvllm serve {K2T} -dp 16 --data-parallel-size-local 8 --trust-remote-code"
    assert any("and the commands here start 8" in each for each in told(f"{text}\n"))
    assert not any("and the commands here start" in each for each in told(f"{text} --data-parallel-backend=ray\n"))


def test_a_question_in_chinese_is_no_part_of_a_value() -> None:
    text = f"请问，单机8卡H200，sglang 0.5.6，{SGLANG} --tool-call-parser kimi_k2，工具调用解析不了，怎么办？\n"
    assert not any("does not take" in each for each in told(text))
