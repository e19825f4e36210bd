"""Slips between the pieces of a guide: requests, measurements, nodes, containers and shells."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

V = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code"
S = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp-size 8"
CHAT = """curl http://localhost:8000/v1/chat/completions -d '{"model": "moonshotai/Kimi-K2.5", "messages": []}'"""
RUN = "docker run --gpus all --ipc=host -v /m:/m {options} vllm/vllm-openai:v0.19.0 --model /m/Kimi-K2.5 -tp 8"


def guide(*blocks: str) -> str:
    return "".join(f"```\n{block}\n```\n\nand then\n\n" for block in blocks)


def told(text: str, words: str) -> list[str]:
    return [finding.where for judged in ask(text) for finding in judged.findings if words in finding.message]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (CHAT, ["--api-key"]),
        (CHAT.replace("curl", "curl -H 'Authorization: Bearer abc'"), []),
        ("curl http://localhost:8000/health", []),
        ("curl http://other:8000/v1/models", []),
    ],
)
def test_a_request_without_the_key(request_: str, expected: list[str]) -> None:
    assert told(guide(f"{V} --api-key abc", request_), "the request has no key") == expected
    assert told(guide(V, request_), "the request has no key") == []


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (CHAT.replace("/v1", ""), ["/chat/completions"]),
        (CHAT, []),
        ('from openai import OpenAI\nOpenAI(base_url="http://localhost:8000", api_key="x")', ["base_url"]),
        ('from openai import OpenAI\nOpenAI(base_url="http://localhost:8000/v1", api_key="x")', []),
        ('requests.post(url, base_url="http://localhost:8000")', []),
    ],
)
def test_a_path_without_its_version(client: str, expected: list[str]) -> None:
    assert [*told(guide(V, client), "is not a path"), *told(guide(V, client), "the library adds")] == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [("", ["-p"]), ("-p 8000:8000", []), ("--network host", []), ("--net=host", []), ("-P", [])],
)
def test_a_port_that_nothing_publishes(options: str, expected: list[str]) -> None:
    assert told(guide(RUN.format(options=options), CHAT), "the container publishes no port") == expected


def test_a_request_from_inside_needs_no_port() -> None:
    inside = f"docker exec kimi {CHAT}"
    assert told(guide(RUN.format(options="--name kimi"), inside), "publishes no port") == []


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("-e HF_TOKEN=abc", ["-e"]),
        ("--gpus all", ["--gpus"]),
        ("-v /a:/b", ["-v"]),
        ("--ipc=host", ["--ipc"]),
        ("-p 8000:8000", ["-p"]),
        ("--max-model-len 8192", []),
        ("-pp 2", []),
    ],
)
def test_options_behind_the_image(tail: str, expected: list[str]) -> None:
    assert told(f"{RUN.format(options='-p 8000:8000')} {tail}\n", "stands behind the image") == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--backend openai-chat", ["--endpoint"]),
        ("--backend openai-chat --endpoint /v1/chat/completions", []),
        ("--backend openai --endpoint /v1/chat/completions", ["--endpoint"]),
        ("--backend vllm", []),
        ("", []),
    ],
)
def test_the_path_of_a_measurement(options: str, expected: list[str]) -> None:
    bench = f"vllm bench serve --model moonshotai/Kimi-K2.5 --dataset-name random {options}"
    text = guide(V, bench)
    found = [*told(text, "ends the measurement"), *told(text, "each request is refused")]
    assert found == expected


@pytest.mark.parametrize(("port", "expected"), [("--port 8000", ["--port"]), ("--port 30000", []), ("", [])])
def test_the_port_of_a_measurement(port: str, expected: list[str]) -> None:
    text = guide(S, f"python3 -m sglang.bench_serving --backend sglang --dataset-name random {port}")
    assert told(text, "the measurement asks at port") == expected


@pytest.mark.parametrize(
    ("other", "where"), [("--tp-size 8", ["--tp-size"]), ("--tp-size 16", []), ("--tp-size $TP", [])]
)
def test_sizes_of_nodes_that_meet(other: str, where: list[str]) -> None:
    options = "--nnodes 2 --dist-init-addr 10.0.0.1:5000 --node-rank"
    first = S.replace("--tp-size 8", "--tp-size 16")
    second = S.replace("--tp-size 8", other)
    assert told(guide(f"{first} {options} 0", f"{second} {options} 1"), "both nodes meet") == where


def test_several_layouts_for_the_same_machines() -> None:
    options = "--nnodes 2 --dist-init-addr 10.0.0.1:5000 --node-rank"
    first, second = S.replace("--tp-size 8", "--tp-size 16"), f"{S} --pp-size 2"
    blocks = [f"{layout} {options} {rank}" for layout in (first, second) for rank in (0, 1)]
    assert told(guide(*blocks), "both nodes meet") == []


@pytest.mark.parametrize(("port", "expected"), [(6380, ["--address"]), (6379, [])])
def test_the_port_of_the_head(port: int, expected: list[str]) -> None:
    text = guide("ray start --head --port=6379", f"ray start --address=10.0.0.1:{port}", f"{V} -pp 2")
    assert told(text, "the head listens on") == expected


@pytest.mark.parametrize(("port", "expected"), [(29501, ["--master-port"]), (29500, [])])
def test_ports_of_the_nodes(port: int, expected: list[str]) -> None:
    options = f"{V} -pp 2 --nnodes 2 --master-addr 10.0.0.1"
    nodes = guide(
        f"{options} --node-rank 0 --master-port 29500", f"{options} --node-rank 1 --headless --master-port {port}"
    )
    assert told(nodes, "they do not find each other") == expected


@pytest.mark.parametrize("form", ["--master-port {}", "--master-port={}", "--master_port {}"])
def test_the_later_node_is_corrected_to_the_port_of_the_first(form: str) -> None:
    options = f"{V} -pp 2 --nnodes 2 --master-addr 10.0.0.1"
    nodes = guide(
        f"{options} --node-rank 0 {form.format(29500)}", f"{options} --node-rank 1 --headless {form.format(29501)}"
    )
    corrected = [" ".join(line.argv) for judged in ask(nodes) for line in judged.corrected]
    assert [line.count("29500") for line in corrected] == [1, 1]
    assert "29501" not in " ".join(corrected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("export VLLM_USE_DEEP_GEMM = 1", ["VLLM_USE_DEEP_GEMM"]),
        ("export VLLM_USE_DEEP_GEMM= 1", ["VLLM_USE_DEEP_GEMM"]),
        ("export VLLM_USE_DEEP_GEMM=1", []),
        ("VLLM_USE_DEEP_GEMM = 1", []),
    ],
)
def test_blanks_in_an_export(line: str, expected: list[str]) -> None:
    assert told(guide(f"{line}\n{V}"), "blanks beside the = of export") == expected


@pytest.mark.parametrize(
    ("sudo", "expected"), [("sudo", ["HF_HOME"]), ("sudo -E", []), ("sudo HF_HOME=/data", []), ("", [])]
)
def test_what_sudo_leaves(sudo: str, expected: list[str]) -> None:
    assert told(guide(f"export HF_HOME=/data\nexport MY_OWN=1\n{sudo} {V}"), "sudo starts the server") == expected


def test_servers_of_one_block_of_a_guide() -> None:
    small = "vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct -tp 4"
    one = f"CUDA_VISIBLE_DEVICES=0,1,2,3 {small} --port 8000 &\n"
    assert told(guide(f"{one}CUDA_VISIBLE_DEVICES=4,5,6,7 {small} --port 8000"), "address already in use")
    assert told(guide(f"{one}CUDA_VISIBLE_DEVICES=3,4,5,6 {small} --port 8001"), "takes most of device 3")
    assert told(guide(one, f"CUDA_VISIBLE_DEVICES=4,5,6,7 {small} --port 8000"), "address already in use") == []
