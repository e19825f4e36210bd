"""SGLang on a processor: its command, its plugin, and what its log says. The lines are those of 0.5.23, run here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from moonpad.engines.base import installed_runtime
from moonpad.engines.log_grammar import read_progress
from moonpad.engines.sglang import LOG, SGLANG
from moonpad.engines.sglang_cpu import MODULE, SGLANG_CPU
from moonpad.values.errors import PreflightRefused
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings
from moonpad.values.records import replace
from moonpad.values.references import PathRef

PLAN = Plan("tiny", "sglang-cpu", Platform.CPU, Layout(), Settings(kv_cache_gib=1), Serving("tiny"), 18_340_400)
PLUGIN = Path(__file__).parents[3] / "src" / "moonpad" / "catalog" / "plugins"


def test_the_plugin_is_what_is_started() -> None:
    (process,) = SGLANG_CPU.processes(PLAN, installed_runtime("python")).processes
    assert process.argv[:2] == ("-m", MODULE)
    assert process.argv[-6:] == (
        *("--device", "cpu", "--attention-backend", "torch_native"),
        *("--sampling-backend", "pytorch"),
    )
    assert process.env["SGLANG_USE_CPU_ENGINE"] == "1"
    assert process.env["PYTHONPATH"] == (PathRef("run"), "/plugin")
    assert next(file.path for file in process.files) == f"plugin/{MODULE}.py"
    assert process.needs.devices == 0
    assert process.needs.memory_bytes == 4 * 2**30 + 18_340_400 + 2**30


def test_elsewhere_nothing_of_it() -> None:
    plan = replace(PLAN, engine="sglang", platform=Platform.CUDA, settings=Settings())
    (process,) = SGLANG.processes(plan, installed_runtime("python")).processes
    assert process.argv[:2] == ("-m", "sglang.launch_server")
    assert not process.files
    assert set(process.env) == {"HF_HUB_OFFLINE"}


def test_ranks_share_the_processors_and_each_has_a_cache() -> None:
    plan = replace(PLAN, layout=Layout(tp=2))
    (process,) = SGLANG_CPU.processes(plan, installed_runtime("python")).processes
    assert process.env["OMP_NUM_THREADS"] == "1"
    assert process.needs.memory_bytes == 4 * 2**30 + 18_340_400 + 2 * 2**30


def test_another_backend_cannot_be_asked_for() -> None:
    with pytest.raises(PreflightRefused, match="cannot be told all of this plan"):
        SGLANG_CPU.processes(replace(PLAN, settings=Settings(attention_backend="triton")), installed_runtime("python"))


@pytest.mark.parametrize(
    ("more", "tokens"),
    [((), "233016"), (("--max-total-tokens", "7"), "7")],  # 2^30 // (2 x 4 x (512 + 64)), as the engine's log has it
)
def test_the_cache_in_tokens(more: tuple[str, ...], tokens: str, tmp_path: Path) -> None:
    """Asked of the module in a Python without torch, which a stand-in takes the place of."""
    (tmp_path / "config.json").write_text(
        json.dumps({"num_hidden_layers": 4, "kv_lora_rank": 512, "qk_rope_head_dim": 64})
    )
    (tmp_path / "torch.py").write_text(
        "class library:\n"
        "    class Library:\n"
        "        def __init__(self, *args): pass\n"
        "        def define(self, schema): pass\n"
        "class ops:\n"
        "    torchvision = object()\n"
    )
    code = f"import json, {MODULE}; print(json.dumps({MODULE}.sized({['--model-path', str(tmp_path), *more]!r})))"
    done = subprocess.run(
        (sys.executable, "-c", code),
        env={"PYTHONPATH": f"{tmp_path}:{PLUGIN}", "MOONPAD_KV_CACHE_GIB": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    argv = json.loads(done.stdout)
    assert argv[argv.index("--max-total-tokens") + 1] == tokens
    assert argv.count("--max-total-tokens") == 1


@pytest.mark.parametrize(
    ("line", "phase", "percent", "figures"),
    [
        ("[2026-11-22 15:46:26] server_args={'model_path': '/a'}", "reading the configuration", None, {}),
        ("[2026-11-22 15:46:51] Init parallel begin.", "starting the ranks", None, {}),
        (
            "[2026-11-22 15:46:53] Load weight begin. avail mem=20.93 GB",
            "loading weights",
            None,
            {"free_before_gib": "20.93"},
        ),
        (
            "Multi-thread loading shards:   0% Completed | 0/1 [00:00<?, ?it/s]"
            "\rMulti-thread loading shards: 100% Completed | 1/1 [00:00<00:00, 26.00it/s]",
            "loading weights",
            100,
            {},
        ),
        (
            "[2026-11-22 15:46:55] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 233016, KV size: 1.00 GB",
            "sizing the KV cache",
            None,
            {"kv_tokens": "233016", "kv_gib": "1.00"},
        ),
        (
            "[2026-11-22 15:46:55] max_total_num_tokens=233016, chunked_prefill_size=4096, max_prefill_tokens=16384, "
            "max_running_requests=64, context_len=4096, available_cpu_mem=19.88 GB",
            "opening the API",
            None,
            {"kv_tokens": "233016", "at_tokens": "4096", "free_gib": "19.88"},
        ),
        ("[2026-11-22 15:46:57] INFO:     Application startup complete.", "opening the API", None, {}),
    ],
)
def test_what_the_log_says(line: str, phase: str, percent: int | None, figures: dict[str, str]) -> None:
    progress = read_progress(LOG, line)
    assert progress is not None
    assert (progress.phase, progress.percent, dict(progress.figures)) == (phase, percent, figures)
