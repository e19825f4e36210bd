"""`moonpad checkpoint adapt`, on kimi-k2-tiny and on the configurations of published checkpoints."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.checkpoints.adapt import RECORD, Change, adapt
from moonpad.checkpoints.read import read_checkpoint
from moonpad.cli import output
from moonpad.cli.checkpoint_adapt import adapt_
from moonpad.engines.adaptations import ADAPTATIONS
from moonpad.values.errors import CheckpointError, MoonpadError, UsageError

CONFIGS = Path(__file__).parent / "configs"
QUANTIZATION = {
    "quant_method": "compressed-tensors",
    "format": "pack-quantized",
    "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 32}}},
    "ignore": ["lm_head"],
}


@pytest.fixture(autouse=True)
def fresh_console() -> None:
    output.out.cache_clear()  # it holds the stream of the test before
    output.err.cache_clear()


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """kimi-k2-tiny as it would have been downloaded."""
    tiny = embedded_checkpoint("kimi-k2-tiny")
    assert tiny is not None
    return shutil.copytree(tiny, tmp_path / "original")


@pytest.fixture
def source(plain: Path) -> Path:
    """The same with an INT4 description, and with what the tools leave."""
    folder = plain
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": QUANTIZATION}))
    note = folder / ".cache" / "huggingface" / "download" / "config.json.metadata"
    note.parent.mkdir(parents=True)
    note.write_text("a" * 40 + "\n")
    return folder


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_targets_that_vllm_ascend_finds(source: Path, tmp_path: Path) -> None:
    before = digests(source)
    adapted = adapt(source, tmp_path / "out", ("vllm-ascend",))
    key = "quantization_config.config_groups.group_0.targets"
    assert adapted.changes == (Change(key, ["Linear"], ["MoE"]),)
    old, new = (json.loads((folder / "config.json").read_text()) for folder in (source, adapted.folder))
    assert new["quantization_config"]["config_groups"]["group_0"].pop("targets") == ["MoE"]
    assert old["quantization_config"]["config_groups"]["group_0"].pop("targets") == ["Linear"]
    assert list(new.items()) == list(old.items())  # nothing else, and in the same order
    assert (source / "model.safetensors").stat().st_nlink == 2
    assert digests(source) == before
    record = json.loads((adapted.folder / RECORD).read_text())
    assert record["source"] == str(source)
    assert record["changes"] == [{"key": key, "old": ["Linear"], "new": ["MoE"]}]
    assert not (adapted.folder / ".cache").exists()  # it is no longer the file of that commit


def test_deleting_and_editing_leave_the_original_as_it_was(source: Path, tmp_path: Path) -> None:
    before = digests(source)
    adapted = adapt(source, tmp_path / "out", ("vllm-ascend",))
    (adapted.folder / "tokenizer_config.json").write_text("{}")
    assert digests(source) == before
    shutil.rmtree(adapted.folder)
    assert digests(source) == before
    assert (source / "model.safetensors").stat().st_nlink == 1


def test_as_deepseek_v3_it_is_read_as_before(plain: Path, tmp_path: Path) -> None:
    adapted = adapt(plain, tmp_path / "out", ("deepseek",))
    assert adapted.changes == (Change("model_type", "kimi_k2", "deepseek_v3"),)
    before, after = read_checkpoint(plain), read_checkpoint(adapted.folder)
    assert after.architecture.model_type == "deepseek_v3"
    assert after.total_bytes == before.total_bytes
    assert after.groups == before.groups


def test_a_gguf_folder_gets_the_other_files(source: Path, tmp_path: Path) -> None:
    """Seed 4: everything but the safetensors beside the GGUF files, without writing into either folder."""
    for name in ("configuration_deepseek.py", "modeling_deepseek.py", "tokenization_kimi.py", "tiktoken.model"):
        (source / name).write_text(name)
    (source / "configuration.json").write_text("{}")
    gguf = tmp_path / "gguf"
    (gguf / "UD-Q4").mkdir(parents=True)
    for name in ("UD-Q4/K2-00001-of-00002.gguf", "UD-Q4/K2-00002-of-00002.gguf", "README.md"):
        (gguf / name).write_text(name)
    before = digests(source), digests(gguf)
    adapted = adapt(source, tmp_path / "K2", (), gguf)
    names = set(digests(adapted.folder)) - {RECORD}
    others = {name for name in before[0] if not name.startswith(".") and not name.endswith(".safetensors")}
    assert names == others | {"UD-Q4/K2-00001-of-00002.gguf", "UD-Q4/K2-00002-of-00002.gguf"}
    assert (adapted.folder / "README.md").read_text() == (source / "README.md").read_text()
    assert (digests(source), digests(gguf)) == before


@pytest.mark.parametrize("name", sorted(path.name for path in CONFIGS.glob("*.json")))
def test_published_configurations(name: str, tmp_path: Path) -> None:
    """Each is changed as described, or refused with the reason."""
    folder = tmp_path / "c"
    folder.mkdir()
    config = json.loads((CONFIGS / name).read_text())
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(b"")
    holders = [config, config.get("text_config") or {}]
    groups = [(each.get("quantization_config") or {}).get("config_groups") for each in holders]
    linear = [group for named in groups if named for group in named.values() if group["targets"] == ["Linear"]]
    try:
        adapted = adapt(folder, tmp_path / "out", ("vllm-ascend",))
    except CheckpointError as error:
        assert not linear
        assert "no quantisation of compressed-tensors" in error.message or "needs no change" in error.message
    else:
        assert len(adapted.changes) == len(linear) > 0


def test_a_snapshot_of_a_cache_is_linked_to_its_blobs(source: Path, tmp_path: Path) -> None:
    blobs = tmp_path / "models--a--b" / "blobs"
    snapshot = tmp_path / "models--a--b" / "snapshots" / ("a" * 40)
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for path in source.iterdir():
        if path.is_file():
            path.rename(blobs / path.name)
            (snapshot / path.name).symlink_to(f"../../blobs/{path.name}")
    adapted = adapt(snapshot, tmp_path / "out", ("vllm-ascend",))
    linked = adapted.folder / "model.safetensors"
    assert not linked.is_symlink()
    assert linked.samefile(blobs / "model.safetensors")


@pytest.mark.parametrize(
    ("purposes", "change", "error", "message"),
    [
        (("vllm-ascend",), {"quantization_config": None}, CheckpointError, "describes no quantisation"),
        (("deepseek",), {"model_type": "llama"}, CheckpointError, "model_type is 'llama'"),
        (("deepseek",), {"model_type": "deepseek_v3"}, CheckpointError, "needs no change for deepseek"),
        (("vllm-ascend",), "[", CheckpointError, "config.json is not JSON"),
        (("vllm-ascend",), None, CheckpointError, "has no config.json"),
    ],
)
def test_what_cannot_be_adapted(
    purposes: tuple[str, ...], change: object, error: type[MoonpadError], message: str, source: Path, tmp_path: Path
) -> None:
    config = source / "config.json"
    if change is None:
        config.unlink()
    else:
        text = change if isinstance(change, str) else json.dumps(json.loads(config.read_text()) | change)  # type: ignore[operator]
        config.write_text(text)
    with pytest.raises(error, match=message):
        adapt(source, tmp_path / "out", purposes)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["original"]


def test_places_that_are_refused(source: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for out, message in ((tmp_path / "there", "exists"), (source / "new", "lies in the original")):
        with pytest.raises(UsageError, match=message):
            adapt(source, out, ("vllm-ascend",))
    with pytest.raises(CheckpointError, match="there is no folder"):
        adapt(tmp_path / "none", tmp_path / "out", ("vllm-ascend",))


def test_a_link_out_of_the_folder_is_refused(source: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (source / "more.safetensors").symlink_to(tmp_path / "secret")
    with pytest.raises(CheckpointError, match="link out of the checkpoint folder"):
        adapt(source, tmp_path / "out", ("vllm-ascend",))
    assert not (tmp_path / "out").exists()


def test_another_file_system_is_refused_and_nothing_is_left(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(CheckpointError, match="cannot be linked: Invalid cross-device link") as refused:
        adapt(source, tmp_path / "out", ("vllm-ascend",))
    assert refused.value.remedy == "name an --out on the file system of the weights"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["original"]


def test_the_command(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    adapt_(source, out=tmp_path / "out", purpose="vllm-ascend,deepseek")
    said = capsys.readouterr()
    assert "1 files of weights linked" in said.out
    assert "model_type is 'deepseek_v3', was 'kimi_k2'" in said.out
    assert "moonpad checkpoint show" in said.err
    adapt_(source, out=tmp_path / "json", purpose="deepseek", json=True)
    assert json.loads(capsys.readouterr().out)["changes"][0]["new"] == "deepseek_v3"
    with pytest.raises(UsageError, match="nothing to adapt"):
        adapt_(source, out=tmp_path / "x")
    with pytest.raises(UsageError, match="--for 'x' is not known") as unknown:
        adapt_(source, out=tmp_path / "x", purpose="x")
    assert all(name in unknown.value.remedy for name in ADAPTATIONS)
