"""The container of seed 2 against the script that moonpad writes for the same node, and for four nodes of A2."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from moonpad.render.targets import render_for
from moonpad.run.planning import plan_spec
from moonpad.spec.loader import load_spec
from moonpad.values.finding import Code

ROOT = Path(__file__).parents[3]
SEED = ROOT / "tests" / "seeds" / "seed2.md"
# The options of the nightly test that the document names in place of a command: vLLM-Ascend v0.20.2rc1,
# tests/e2e/nightly/single_node/models/configs/Kimi-K2-Thinking.yaml.
NIGHTLY = """
envs: {HCCL_BUFFSIZE: "1024", TASK_QUEUE_ENABLE: "1", OMP_PROC_BIND: "false", HCCL_OP_EXPANSION_MODE: "AIV",
  PYTORCH_NPU_ALLOC_CONF: "expandable_segments:True"}
server_cmd: [--tensor-parallel-size 16, --max-model-len 8192, --max-num-batched-tokens 8192, --max-num-seqs 12,
  --gpu-memory-utilization 0.9, --trust-remote-code, --enable-expert-parallel, --no-enable-prefix-caching]
"""


@pytest.fixture(autouse=True)
def _no_measured_starts_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def rendered(example: str) -> dict[str, list[str]]:
    """The words of `docker run` in each node's script."""
    loaded = load_spec(ROOT / "examples" / f"{example}.toml")
    planned = plan_spec(loaded, despite=frozenset({Code.CHECKPOINT_UNKNOWN}))
    files = render_for("docker", loaded.spec, planned.plan).files
    scripts = {path: file.text for path, file in files.items() if path.endswith("run.sh")}
    joined = {path: text.replace("\\\n", " ") for path, text in scripts.items()}
    return {
        path: shlex.split(next(line for line in text.splitlines() if re.match(r"\s*(exec )?docker run", line)))
        for path, text in joined.items()
    }


def of_seed() -> list[str]:
    block = re.search(r"^docker run --rm.*?-it \$IMAGE bash$", SEED.read_text(), re.MULTILINE | re.DOTALL)
    assert block is not None
    return shlex.split(block[0].replace("\\\n", " "))


def values(words: list[str], *flags: str) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words) if word in flags]


def test_an_a3_gets_the_devices_of_the_seed() -> None:
    (words,) = rendered("thinking-atlas-a3").values()
    assert values(words, "--device") == values(of_seed(), "--device")
    assert len(values(words, "--device")) == 16 + 3
    assert any("vllm-ascend" in word and word.endswith("-a3") for word in words)


def test_an_a3_gets_the_driver_of_the_seed_and_cannot_write_it() -> None:
    """The seed's last volume is a folder of weights; here the checkpoint's own is mounted, read only as well."""
    (words,) = rendered("thinking-atlas-a3").values()
    *driver, cache = (value.split(":")[0].rstrip("/") for value in values(of_seed(), "-v"))
    mounts = [dict(part.partition("=")[::2] for part in value.split(",")) for value in values(words, "--mount")]
    by_target = {mount["dst"]: mount for mount in mounts}
    for folder in driver:
        assert by_target[folder]["src"] == folder
        assert "readonly" in by_target[folder]
    assert cache == "/mnt/sfs_turbo/.cache"
    (checkpoint,) = [mount for mount in mounts if mount["dst"] not in driver]
    assert "readonly" in checkpoint


def test_an_a3_gets_the_environment_and_the_options_of_the_nightly_test() -> None:
    (words,) = rendered("thinking-atlas-a3").values()
    nightly = yaml.safe_load(NIGHTLY)
    environment = dict(value.partition("=")[::2] for value in values(words, "--env") if "=" in value)
    assert environment.items() >= nightly["envs"].items()
    for option in nightly["server_cmd"]:
        flag, *value = option.split()
        assert flag in words
        assert words[words.index(flag) + 1 : words.index(flag) + 1 + len(value)] == value


def test_four_nodes_of_a2_have_eight_devices_each_and_the_other_image() -> None:
    scripts = rendered("instruct-4xatlas-a2-w8a8")
    assert len(scripts) == 4
    for words in scripts.values():
        dies = [device for device in values(words, "--device") if re.fullmatch(r"/dev/davinci\d+", device)]
        assert dies == [f"/dev/davinci{number}" for number in range(8)]
        assert not any("-a3" in word for word in words if "vllm-ascend" in word)
