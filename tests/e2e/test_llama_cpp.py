"""llama.cpp's real server with kimi-k2-tiny as GGUF: started, asked, measured against the plan, and stopped."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from moonpad.checkpoints.read import read_checkpoint
from tests.e2e.conftest import command_in

BUILT = Path(os.environ.get("MOONPAD_LLAMA_CPP", Path.home() / ".cache" / "moonpad" / "llama-cpp-b11434"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (BUILT / "bin" / "llama-server").exists(),
        reason=f"there is no {BUILT}/bin/llama-server: make test-llama-cpp builds it",
    ),
]


def test_served_verified_and_stopped(tmp_path: Path, free_port: int) -> None:
    spec = tmp_path / "tiny.toml"
    spec.write_text(
        f'name = "tiny-gguf"\nmodel = "{BUILT}/model"\nserved_name = "kimi-k2-tiny"\n'
        f'[engine]\nname = "llama-cpp-cpu"\npython = "{BUILT}/bin/python"\n'
        f"[endpoint]\nport = {free_port}\n"
        # What its log says of memory it says at this level alone.
        '[settings]\nmax_model_len = 2048\nmax_num_seqs = 2\nextra_args = ["--log-verbosity", "4"]\n'
    )
    moonpad = command_in(tmp_path)
    planned = moonpad("plan", str(spec), "--json").json["plans"][0]["memory"]
    started = moonpad("up", str(spec), "--json")
    try:
        assert started.code == 0, started
        log = moonpad("logs", "tiny-gguf").stdout
        probes = ("chat", "reasoning", "streaming", "tool_call", "tool_stream", "tool_ids", "limit", "seed", "logprobs")
        verdict = moonpad("verify", str(spec), "--only", *probes, "--json")
    finally:
        stopped = moonpad("down", "tiny-gguf")
    assert {probe["id"]: probe["status"] for probe in verdict.json["probes"]} == dict.fromkeys(probes, "pass")
    # The memory, to the digits of the log: the file's tensors, and 1,152 bytes a token and layer.
    weights_bytes = read_checkpoint(BUILT / "model").total_bytes
    (model_mib,) = re.findall(r"CPU\w* model buffer size = +([\d.]+) MiB", log)
    assert float(model_mib) == pytest.approx(weights_bytes / 2**20, abs=0.005)
    (kv_mib,) = re.findall(r"CPU KV buffer size = +([\d.]+) MiB", log)
    assert planned["kv_tokens"]["value"] == 4096
    assert float(kv_mib) == pytest.approx(4096 * planned["kv_bytes_per_token"] / 2**20, abs=0.005)
    assert stopped.code == 0, stopped
