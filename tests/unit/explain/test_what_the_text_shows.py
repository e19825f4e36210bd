"""What a text shows of its server: that it starts, how many there are, what a unit sets, and what its log means."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, found, only_server

UNIT = """```ini
[Service]
{}
ExecStart=/bin/bash /srv/{}
```

and `serve.sh`:

```bash
SHARE="${{SHARE:-0.85}}"
python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp-size 8 --mem-fraction-static "$SHARE"
```
"""
PREFILL = """vllm serve /data/Kimi-K2-w8a8 --quantization ascend -tp 16 --kv-transfer-config
 '{"kv_connector":"MooncakeConnectorV1","kv_role":"kv_producer","kv_port":"46000"}'""".replace("\n", "")


def text_of(text: str) -> str:
    return "\n".join(f"{each.message} => {each.remedy}" for judged in ask(text) for each in judged.findings)


@pytest.mark.parametrize(
    ("said", "starts"),
    [
        ("A small request works, a long one ends the engine.", True),
        ("It starts, and then hangs.", True),
        ("It does not come up.", False),
        ("With 32k it starts; with 64k not.", False),
        ("TP8 starts, DP8 does not.", False),
    ],
)
def test_what_starts_is_not_said_to_end_the_start(said: str, starts: bool) -> None:
    text = f"vllm-ascend 0.25.1rc1, Atlas 800I A3. {said}\n\n```bash\n{PREFILL}\n```\n"
    assert ("does not say how large the prefill side is" in text_of(text)) is not starts


@pytest.mark.parametrize(
    ("setting", "script", "share"),
    [
        ("Environment=SHARE=0.90", "serve.sh", 0.9),
        ('Environment="SHARE=0.90"', "serve.sh", 0.9),
        ("Environment=OTHER=0.90", "serve.sh", 0.85),
        ("Environment=SHARE=0.90", "other.sh", 0.85),
    ],
)
def test_a_unit_sets_what_its_script_reads(setting: str, script: str, share: float) -> None:
    settings = only_server(UNIT.format(setting, script)).settings
    assert settings is not None
    assert settings.gpu_memory_utilization == share


@pytest.mark.parametrize(
    ("said", "idle"),
    [
        ("8 instances × TP=1, ports 8000 to 8007", False),
        ("Each on its own card, 8x H200", False),
        ("One machine with 8x H200", True),
    ],
)
def test_servers_side_by_side_leave_no_device_idle(said: str, idle: bool) -> None:
    text = f"8xH200. {said}\n\n```\nvllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code -tp 1\n```"
    assert bool(found(text, "stay idle")) is idle


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "RuntimeError: [enforce fail at /a/device.cc:84] ifa != nullptr. Unable to find address for: ^lo",
            "no interface that is called ^lo",
        ),
        (
            "RuntimeError: [enforce fail at /a/device.cc:84] rp != nullptr. Unable to find address for: node7",
            "own name leads to no address",
        ),
        ("api_server.py: error: unrecognized arguments: /data/m", "write --model /data/m"),
        ("vllm: error: unrecognized arguments: serve /data/m", "begin with /data/m"),
        ("vllm serve: error: argument --reasoning-parser: invalid choice: 'glm45' (choose from qwen3)", "or later"),
    ],
)
def test_a_line_of_a_log_is_told_by_its_cause(line: str, said: str) -> None:
    assert said in text_of(f"```\nvllm serve Qwen/Qwen3-8B\n```\n\n```\n{line}\n```")


def test_files_that_are_not_in_the_cache_are_not_sought_on_a_mirror() -> None:
    """With HF_HUB_OFFLINE=1 nothing asks the hub."""
    line = "huggingface_hub.errors.LocalEntryNotFoundError: cannot find the appropriate snapshot folder"
    text = text_of(f"```\nHF_HUB_OFFLINE=1 vllm serve Qwen/Qwen3-8B\n{line}\n```")
    assert "not in the local cache" in text
    assert "mirror" not in text


@pytest.mark.parametrize(
    ("image", "told"), [("rocm/vllm:rocm7.0_vllm_0.11.0", False), ("vllm/vllm-openai:v0.11.0", True)]
)
def test_variables_of_builds_for_amd(image: str, told: bool) -> None:
    """https://github.com/ROCm/vllm/pull/375 reads more than releases declare."""
    text = f"docker run -e VLLM_MOE_PADDING=0 --device /dev/kfd {image} vllm serve Qwen/Qwen3-8B"
    assert bool(found(f"vllm 0.11.0\n\n```\n{text}\n```", "no release declares this variable")) is told


def test_ports_lie_above_those_of_all_devices_of_the_node() -> None:
    """1,000 ports from 20000 on for each of 16 devices."""
    config = """'{"kv_connector":"MooncakeConnectorV1","kv_role":"kv_consumer","kv_port":"20002"}'"""
    ranks = "--data-parallel-size 32 --data-parallel-size-local 16 --data-parallel-address 10.0.0.1"
    command = f"vllm serve /m/DeepSeek-V3.1-w8a8 --quantization ascend -tp 1 {ranks} --kv-transfer-config {config}"
    (finding,) = found(command, "kv_port 20002 lies")
    assert finding.remedy == "take 36000 or more"


def test_the_largest_size_that_shares_the_heads_out() -> None:
    """64 heads: 8 divides them, and 4 of 12 devices would hold a third of the weights."""
    (finding,) = found("vllm serve deepseek-ai/DeepSeek-V4-Flash --tensor-parallel-size 12", "cannot be shared out")
    assert finding.remedy.endswith("8")


def test_words_in_braces_are_to_be_filled_in() -> None:
    text = "vllm serve m -tp 8 -dp 2 \\\n  --data-parallel-address { node0 ip } \\\n  --port 8000\n"
    judged = only_server(f"```\n{text}```")
    assert any("<node0_ip>" in each.message and "filled in" in each.message for each in judged.findings)
    assert not any("no such argument" in each.message for each in judged.findings)
    assert judged.layout is not None


@pytest.mark.parametrize("mark", ["--attention-backend hcu_mla", "--disaggregation-ib-device shca_0"])
def test_options_of_hygons_build_are_not_refused(mark: str) -> None:
    start = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp-size 8"
    judged = only_server(f"SGLang 0.5.12\n\n```\n{start} {mark} --custom-all-reduce-backend aiter\n```")
    assert not any(each.severity is Severity.ERROR for each in judged.findings)
    assert any("Hygon's build" in each.message for each in judged.findings)


def test_no_option_that_switches_off_is_meant() -> None:
    start = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp-size 8"
    text = f"SGLang 0.5.12\n\n```\n{start} --custom-all-reduce-backend x\n```"
    (finding,) = found(text, "--custom-all-reduce-backend")
    assert "--disable-custom-all-reduce" not in finding.remedy


def test_a_fork_of_ktransformers_is_not_archived() -> None:
    start = "python3 /home/u/lktransformers/ktransformers/server/main.py --gguf_path /m --model_path m/Kimi-K2"
    assert "archived" not in text_of(start)
    assert "archived" in text_of(start.replace("lktransformers", "src"))


def test_rows_of_containers_are_no_commands() -> None:
    shown = "$ docker compose ps\nNAME  STATUS\nvllm  Exited (1) 2 minutes ago\nproxy Up a minute (healthy)\n\n"
    (judged,) = ask(f"{shown}$ vllm serve Qwen/Qwen3-8B\n")
    assert judged.layout is not None
    assert judged.version_because


def test_a_key_that_is_gone_has_one_remedy() -> None:
    """https://github.com/vllm-project/recipes/pull/760: the key is for SM100, and 0.33.0 has it no more."""
    text = "vllm serve deepseek-ai/DeepSeek-V4-Flash -tp 4 --attention_config.use_fp4_indexer_cache=True"
    told = [each for judged in ask(text, "4xRTX-PRO-6000", "0.33.0") for each in judged.findings]
    (only,) = [each for each in told if each.remedy == "leave use_fp4_indexer_cache out"]
    assert "has no key" in only.message


@pytest.mark.parametrize("on", ["8xMI355X", "8xH200"])
def test_the_blocks_of_a_sparse_model_are_told_once(on: str) -> None:
    told = text_of(f"{on}\n\n```\nvllm serve MiniMaxAI/MiniMax-M3 -tp 8 --trust-remote-code\n```\n")
    assert told.count("add --block-size 128") == 1
