"""Adapters that no request asks for, routers that pass prefix caches by, and what is no complaint or no broken line."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import found

LORA = "```bash\nvllm serve Qwen/Qwen3-32B -tp 2 --enable-lora --lora-modules legal=/srv/a/x\n```\n\n"
ASKS = (
    "```python\nc = OpenAI(base_url='http://localhost:8000/v1')\n"
    "r = c.chat.completions.create(model='{}', messages=m)\n```\n"
)
SERVER = "```bash\npython3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --port 30000\n```\n\n"
ROUTER = "```bash\npython3 -m sglang_router.launch_router --worker-urls http://a:1 http://b:1 --policy {}\n```\n"
FILES = (
    "```bash\nvllm serve moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code{}\n```\n\n```bash\n"
    "curl localhost:8000/v1/chat/completions -H 'Content-Type: application/json' "
    '-d \'{{"messages": [{{"role": "user", '
    '"content": [{{"type": "image_url", "image_url": {{"url": "file:///a.png"}}}}]}}]}}\'\n```\n'
)
REFUSED = '\n{"error":{"message":"Cannot load local files without `--allowed-local-media-path`.","code":400}}\n'
TABLE = "|   0  NVIDIA H200                    On  |   00000000:18:00.0 Off |        0 |\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LORA + ASKS.format("Qwen/Qwen3-32B"), "the adapter legal is not used"),
        (SERVER + ROUTER.format("round_robin") + "\nfor agents with long histories\n", "goes to another server"),
        (SERVER + "```yaml\nroutingLogic: roundrobin\n```\nMulti-turn chats.\n", "goes to another server"),
        (FILES.format(""), "file:// is read by the server"),
        (FILES.format("") + REFUSED, "file:// is read by the server"),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code\n\n" + TABLE, "the machine shows 1 device"),
    ],
)
def test_what_is_told(text: str, words: str) -> None:
    assert found(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LORA + ASKS.format("legal"), "is not used"),
        (LORA + ASKS.format("Qwen/Qwen3-32B") + ASKS.format("legal"), "is not used"),
        (SERVER + ROUTER.format("cache_aware") + "\nfor agents with long histories\n", "goes to another server"),
        (SERVER + ROUTER.format("round_robin") + "\nfor single questions\n", "goes to another server"),
        (FILES.format(" --allowed-local-media-path /srv"), "file:// is read by the server"),
        (
            "8x H200:\n\nvllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code\n\n" + TABLE,
            "the machine shows 1 device",
        ),
        (
            "p0: python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code "
            "--disaggregation-mode prefill --host 0.0.0.0 --port 30000 --tool-call-parser kimi_k2\n"
            "lb: python3 -m sglang_router.launch_router --pd-disaggregation --host 0.0.0.0 --port 8000\n",
            "begins another",
        ),
        (
            "Slow, 3 tok/s:\n\nvllm serve moonshotai/Kimi-K2-Instruct -tp 16 --tool-call-parser kimi_k2 "
            "--enable-auto-tool-choice\n\nn1:1:2 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/Socket/0\n"
            "INFO 11-20 10:11:02 [loggers.py:257] Engine 000: Avg prompt throughput: 21.0 tokens/s, Avg generation "
            "throughput: 3.1 tokens/s, Running: 1 reqs, GPU KV cache usage: 0.4%, Prefix cache hit rate: 0.0%\n",
            "billing header",
        ),
    ],
)
def test_what_is_not(text: str, words: str) -> None:
    assert not [each for each in found(text, words) if str(each.severity) != "note"]


POOLS = (
    "```bash\nHOST=p0 python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.1 --tp 8 "
    "--disaggregation-mode prefill --host 0.0.0.0 --port 30000\n```\n```bash\n"
    "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.1 --tp 8 --disaggregation-mode decode "
    "--host 0.0.0.0 --port 30000\n```\n```bash\n"
    "python3 -m sglang_router.launch_router {} --host 0.0.0.0 --port 8000\n```\n"
)


def test_a_router_that_takes_both_roles_for_equals() -> None:
    words = "the workers are prefill and decode servers"
    assert found(POOLS.format("--worker-urls http://p0:30000 http://d0:30000"), words)
    right = "--pd-disaggregation --prefill http://p0:30000 8998 --decode http://d0:30000"
    assert not found(POOLS.format(right), words)


DOCKER = (
    "docker run --rm --gpus all --ipc=host {}vllm/vllm-openai:v0.32.0 moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code\n"
)
COMPILES = "\n# torch.compile takes 150 s at every start\n"
HUB = "-v /data/hf:/root/.cache/huggingface "


def test_what_is_compiled_in_a_container() -> None:
    words = "each new container compiles it again"
    assert found(DOCKER.format(HUB) + COMPILES, words)
    assert not found(DOCKER.format(HUB + "-v /data/vllm:/root/.cache/vllm ") + COMPILES, words)
    assert not found(DOCKER.format("-v /data/cache:/root/.cache ") + COMPILES, words)
    assert not found(DOCKER.format(HUB), words)


def test_slots_that_are_told_to_have_caches_of_their_own() -> None:
    text = "llama-server -m Kimi-K2.5-UD-Q2_K_XL-00001-of-00008.gguf -ngl 99 -c 65536 --parallel 8 --{}kv-unified\n\n"
    text += "Each request: the request exceeds the available context size.\n"
    assert found(text.format("no-"), "is shared out over 8 slots")
    assert not found(text.format(""), "is shared out over 8 slots")
