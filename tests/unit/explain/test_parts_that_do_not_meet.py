"""Routers and servers, downloads and servers, mounts and models that do not fit each other."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SGLANG = "python3 -m sglang.launch_server --model-path /m/Kimi-Linear-48B-A3B-Instruct --tp 4 --trust-remote-code"
ROUTER = "python3 -m sglang_router.launch_router --host 0.0.0.0 --port 8000"
VLLM = "vllm serve moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code"


def told(text: str, words: str) -> int:
    return sum(words in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("host", "target", "expected"),
    [
        ("", "http://10.16.0.1:30000", 1),
        ("--host 127.0.0.1", "http://10.16.0.1:30000", 1),
        ("--host 0.0.0.0", "http://10.16.0.1:30000", 0),
        ("", "http://127.0.0.1:30000", 0),
        ("", "http://10.16.0.1:30001", 0),
    ],
)
def test_a_router_that_asks_a_server_of_the_loopback(host: str, target: str, expected: int) -> None:
    text = f"{SGLANG} {host} --port 30000\n\n{ROUTER} --worker-urls {target}\n"
    assert told(text, "it is not reached there") == expected


@pytest.mark.parametrize(("port", "expected"), [(30001, 1), (30000, 0)])
def test_a_router_and_servers_that_ssh_starts(port: int, expected: int) -> None:
    servers = "".join(
        f"ssh {host} \"tmux new -d -s s '{SGLANG} --disaggregation-mode {mode} --host 0.0.0.0 --port 30000'\"\n"
        for host, mode in (("gpu1", "prefill"), ("gpu2", "decode"))
    )
    router = f"{ROUTER} --pd-disaggregation --prefill http://gpu1:30000 8998 --decode http://gpu2:{port}\n"
    assert told(servers + router, "and the servers here listen on") == expected


@pytest.mark.parametrize(("second", "expected"), [("-p 30000:30000", 1), ("--network host", 0)])
def test_a_later_node_in_a_bridge(second: str, expected: int) -> None:
    text = "".join(
        f"docker run --gpus all --ipc=host {network} -v /m:/m lmsysorg/sglang:latest {SGLANG} --nnodes 2 "
        f"--node-rank {rank} --dist-init-addr 10.3.0.1:50000 --host 0.0.0.0\n"
        for rank, network in enumerate(("--network host", second))
    )
    assert told(text, "in Docker's own bridge each rank") == expected


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        ("tcp", '{"kv_connector":"NixlConnector","kv_role":"kv_both"}', 1),
        ("rc,ud,sm", '{"kv_connector":"NixlConnector","kv_role":"kv_both"}', 1),
        ("tcp,cuda_copy", '{"kv_connector":"NixlConnector","kv_role":"kv_both"}', 0),
        ("all", '{"kv_connector":"NixlConnector","kv_role":"kv_both"}', 0),
        ("^cma", '{"kv_connector":"NixlConnector","kv_role":"kv_both"}', 0),
        ("tcp", '{"kv_connector":"NixlConnector","kv_role":"kv_both","kv_buffer_device":"cpu"}', 0),
        ("tcp", '{"kv_connector":"MooncakeConnector","kv_role":"kv_both"}', 0),
    ],
)
def test_transports_for_the_memory_of_devices(value: str, options: str, expected: int) -> None:
    text = f"export UCX_TLS={value}\n{VLLM} --kv-transfer-config '{options}'\n"
    assert told(text, "moves host memory alone") == expected


@pytest.mark.parametrize(
    ("download", "expected"),
    [
        ('hf download r/K2-GGUF --include "Q2/*00001-of-00008.gguf" --local-dir /m', 1),
        ('hf download r/K2-GGUF --include "Q2/*" --local-dir /m', 0),
        ('hf download r/K2-GGUF --include "*-of-00008.gguf" --local-dir /m', 0),
        ("hf download r/K2-GGUF --local-dir /m", 0),
        ('hf download r/K2-GGUF --include "Q2/*00001-of-00008.gguf" "Q2/*" --local-dir /m', 0),
    ],
)
def test_one_file_of_a_set(download: str, expected: int) -> None:
    text = f"{download}\n./llama-server -m /m/Q2/K2-Q2-00001-of-00008.gguf -ngl 99\n"
    assert told(text, "the server reads all of the set") == expected


CLONE = "git clone https://huggingface.co/moonshotai/Moonlight-16B-A3B-Instruct"
SERVE = "vllm serve ./Moonlight-16B-A3B-Instruct --trust-remote-code"
LOG = "safetensors_rust.SafetensorError: Error while deserializing header: header too large"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"GIT_LFS_SKIP_SMUDGE=1 {CLONE}\n{SERVE}\n", 1),
        (f"export GIT_LFS_SKIP_SMUDGE=1\n{CLONE}\n{SERVE}\n", 1),
        (f"{CLONE}\n{SERVE}\n\n{LOG}\n", 1),
        (f"{CLONE}\n{SERVE}\n", 0),
        (f"GIT_LFS_SKIP_SMUDGE=1 {CLONE}\ncd Moonlight-16B-A3B-Instruct && git lfs pull\n{SERVE}\n", 0),
        (f"GIT_LFS_SKIP_SMUDGE=1 {CLONE}\nvllm serve moonshotai/Moonlight-16B-A3B-Instruct\n", 0),
    ],
)
def test_a_clone_with_pointers_in_place_of_weights(text: str, expected: int) -> None:
    assert told(text, "pointers of some hundred bytes") == expected


REPOSITORY = "/root/.cache/huggingface/hub/models--moonshotai--Kimi-VL-A3B-Instruct"


@pytest.mark.parametrize(
    ("volumes", "expected"),
    [
        (f"-v {REPOSITORY}/snapshots/5f3c1f2e:/model", 1),
        (f"-v {REPOSITORY}:{REPOSITORY}", 0),
        (f"-v {REPOSITORY}/snapshots/5f3c1f2e:/model -v {REPOSITORY}:{REPOSITORY}", 0),
        ("-v /data/Kimi-VL:/model", 0),
    ],
)
def test_a_mount_whose_links_lead_out_of_it(volumes: str, expected: int) -> None:
    text = f"docker run --gpus all --ipc=host {volumes} vllm/vllm-openai:v0.15.1 --model /model --trust-remote-code\n"
    assert told(text, "are links to ../../blobs") == expected


@pytest.mark.parametrize(
    ("image", "mounts", "expected"),
    [
        ("vllm/vllm-openai:v0.15.1", "/home/me/logs:/logs", 1),
        ("vllm/vllm-openai:v0.15.1", "/home/me/logs:/logs,/lustre:/lustre", 0),
        ("vllm/vllm-openai:v0.15.1", "/data/m:/lustre/models/Kimi-K2.5", 0),
        ("vllm/vllm-openai:v0.15.1", "$MOUNTS", 0),
        ("/images/own.sqsh", "/home/me/logs:/logs", 0),
    ],
)
def test_a_step_whose_container_lacks_the_model(image: str, mounts: str, expected: int) -> None:
    step = f"srun -N1 --ntasks=1 --gpus=8 --container-image={image} --container-mounts={mounts}"
    text = f"{step} vllm serve /lustre/models/Kimi-K2.5 -tp 8 --trust-remote-code\n"
    assert told(text, "brings") == expected


@pytest.mark.parametrize(("ending", "expected"), [("`", 1), ("", 1)])
def test_ports_of_a_proxy_in_a_sentence(ending: str, expected: int) -> None:
    config = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
    servers = "".join(f"{VLLM} --port {port} {config}\n" for port in (8100, 8200))
    proxy = "python3 toy_proxy_server.py --port 8192 --prefiller-hosts localhost --prefiller-ports 8100 "
    proxy += f"--decoder-hosts localhost --decoder-ports 8300{ending}\n"
    assert (
        told(f"```\n{servers}```\n\nProxy: {'`' if ending else ''}{proxy}", "--decoder-ports sends to 8300") == expected
    )


CURL = """curl http://localhost:8000/v1/chat/completions -d '{"model": "moonshotai/Kimi-VL-A3B-Instruct"}'"""


def test_a_post_with_labels_is_not_yaml() -> None:
    answer = "curl: (7) Failed to connect to localhost port 8000"
    judged = ask(f"Start:\n\n    {VLLM} --port 8080\n\nTest:\n\n    {CURL}\n\n    {answer}\n")
    messages = [finding.message for each in judged for finding in each.findings]
    assert any("goes to port 8000, and the server listens on 8080" in message for message in messages)
    assert not any("YAML" in message for message in messages)


def test_yaml_with_a_command_stays_yaml() -> None:
    script = read_script(f"services:\n  vllm:\n    image: vllm/vllm-openai:v0.15.1\n    command: {VLLM[11:]}\n")
    (command,) = script.commands
    assert command.container is not None


@pytest.mark.parametrize("prompt", ["node0$ ", "$ ", "user@host:~$ "])
def test_the_name_of_a_host_before_a_prompt_is_no_program(prompt: str) -> None:
    (command,) = read_script(f"{prompt}{VLLM} --port 8000\n").commands
    assert (command.program, command.wrappers) == ("vllm serve", ())
