"""Is the checkpoint whole? Faults 20, 21 (the header's part), 55."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.checkpoints import weights
from moonpad.checkpoints.completeness import CheckpointFiles, inspect, require_complete
from moonpad.checkpoints.read import read_checkpoint
from moonpad.checkpoints.resolve import checkpoint_folder
from moonpad.facts.probe import Unknown
from moonpad.run.prepare import prepare
from moonpad.spec.loader import load_spec
from moonpad.values.errors import CheckpointError
from moonpad.values.finding import Code, Severity, errors_of
from tests.fake_environment import make_environment

SHARD_17 = "model-00017-of-00062.safetensors"
INDEX = "model.safetensors.index.json"


def messages_of(files: CheckpointFiles) -> dict[str, str]:
    """Where → message, of what stops a launch."""
    return {finding.where: finding.message for finding in errors_of(files.findings)}


@pytest.fixture
def folder(tmp_path: Path, write: Any) -> Path:
    write.checkpoint(tmp_path / "model")
    return tmp_path / "model"


def test_a_whole_checkpoint(tmp_path: Path, write: Any) -> None:
    total = write.checkpoint(tmp_path, shards=3, tensors=5)
    files = inspect(tmp_path)
    assert files.findings == ()
    assert files.weights_bytes == total == 3 * 5 * 3 * 8 * 2
    assert [shard.tensors for shard in files.shards] == [5, 5, 5]
    require_complete(files)


def test_the_checkpoint_that_comes_with_moonpad() -> None:
    folder = embedded_checkpoint("kimi-k2-tiny")
    assert folder is not None
    files = inspect(folder)
    assert files.findings == ()
    size_bytes = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    assert 0.99 * size_bytes < files.weights_bytes < size_bytes


def test_where_the_model_of_a_spec_is(tmp_path: Path) -> None:
    spec = tmp_path / "a.toml"
    spec.write_text('model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n')
    assert checkpoint_folder(load_spec(spec)) == embedded_checkpoint("kimi-k2-tiny")
    spec.write_text('model = "./kimi-k2-tiny"\nengine = "vllm-cpu"\n')
    assert checkpoint_folder(load_spec(spec)) == tmp_path / "kimi-k2-tiny"
    assert embedded_checkpoint("../kimi-k2-tiny") is None


def test_no_folder(tmp_path: Path) -> None:
    (finding,) = inspect(tmp_path / "none").findings
    assert (finding.code, finding.severity) == (Code.CHECKPOINT_MISSING, Severity.ERROR)
    with pytest.raises(CheckpointError, match="does not exist") as caught:
        require_complete(inspect(tmp_path / "none"))
    assert "download" not in f"{caught.value.remedy}{caught.value.findings}"
    (tmp_path / "file").write_text("x")
    assert inspect(tmp_path / "file").findings[0].code is Code.CHECKPOINT_MISSING


def test_a_missing_shard_of_62(folder: Path) -> None:
    (folder / SHARD_17).unlink()
    files = inspect(folder)
    assert messages_of(files) == {
        SHARD_17: "is missing",
        "weights": "1 of 62 files are missing: 192 bytes (0.0 MiB) of 0.0 MiB",
    }
    with pytest.raises(CheckpointError, match="is incomplete or damaged") as caught:
        require_complete(files)
    assert caught.value.exit_code == 3
    assert caught.value.findings == errors_of(files.findings)


def test_a_shard_that_lacks_one_byte(folder: Path) -> None:
    path = folder / SHARD_17
    size_bytes = path.stat().st_size
    os.truncate(path, size_bytes - 1)
    assert messages_of(inspect(folder)) == {SHARD_17: f"is 1 bytes short of {size_bytes}"}


def test_a_shard_that_has_one_byte_more(folder: Path) -> None:
    with (folder / SHARD_17).open("ab") as file:
        file.write(b"\0")
    assert messages_of(inspect(folder))[SHARD_17].startswith("is 1 bytes longer than its header says")


@pytest.mark.parametrize("place", [".", ".cache/huggingface/download"])
def test_a_download_that_did_not_end(folder: Path, place: str) -> None:
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / place / "abc.incomplete").write_bytes(b"")
    assert list(messages_of(inspect(folder)).values()) == ["is left from an unfinished download"]


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", INDEX])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert messages_of(inspect(folder))[name].startswith("is missing")


def test_every_missing_shard_is_counted(folder: Path) -> None:
    for path in folder.glob("*.safetensors"):
        path.unlink()
    messages = messages_of(inspect(folder))
    assert len([message for message in messages.values() if message == "is missing"]) == 20
    assert "62 of 62 files are missing" in messages["weights"]


def test_missing_shards_are_known_by_their_numbers_without_an_index(folder: Path) -> None:
    (folder / INDEX).unlink()
    (folder / SHARD_17).unlink()
    assert set(messages_of(inspect(folder))) == {SHARD_17, INDEX}


def test_no_weights_at_all(folder: Path) -> None:
    for path in folder.glob("model*"):
        path.unlink()
    assert messages_of(inspect(folder)) == {"model.safetensors": "is missing"}


def test_one_file_needs_no_index(tmp_path: Path, write: Any) -> None:
    write.checkpoint(tmp_path, shards=1)
    (tmp_path / INDEX).unlink()
    (tmp_path / "model-00001-of-00001.safetensors").rename(tmp_path / "model.safetensors")
    assert inspect(tmp_path).findings == ()


@pytest.mark.parametrize("pattern", ["model-{:05d}-of-00003", "model-{:05d}-of-000003", "model-{:06d}-of-000003"])
def test_a_missing_shard_is_named_as_its_neighbours(tmp_path: Path, write: Any, pattern: str) -> None:
    """Without an index the names alone tell; Kimi-K2-Thinking's have five digits and six."""
    write.checkpoint(tmp_path, shards=3)
    (tmp_path / INDEX).unlink()
    for number, path in enumerate(sorted(tmp_path.glob("*.safetensors")), 1):
        path.rename(tmp_path / f"{pattern.format(number)}.safetensors")
    assert set(messages_of(inspect(tmp_path))) == {INDEX}
    (tmp_path / f"{pattern.format(2)}.safetensors").unlink()
    assert set(messages_of(inspect(tmp_path))) == {INDEX, f"{pattern.format(2)}.safetensors"}


def test_every_single_bit_of_a_header_matters(tmp_path: Path, write: Any) -> None:
    """Fault 21: whichever bit of the length or of the header flips, it is found without a digest."""
    write.checkpoint(tmp_path, shards=1, tensors=2)
    path = next(tmp_path.glob("*.safetensors"))
    whole = path.read_bytes()
    length = 8 + int.from_bytes(whole[:8], "little")
    unseen = []
    for place in range(length):
        for bit in range(8):
            broken = bytearray(whole)
            broken[place] ^= 1 << bit
            path.write_bytes(broken)
            if not messages_of(inspect(tmp_path)):
                unseen.append((place, bit, chr(whole[place])))
    assert unseen == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.json", "[]"),
        ("config.json", "{"),
        ("config.json", '{"model_type": 1, "architectures": ["A"]}'),
        ("config.json", '{"model_type": "kimi_k2", "architectures": "A"}'),
        ("config.json", '{"model_type": "kimi_k2", "architectures": ["A"], "quantization_config": []}'),
        ("config.json", "[" * 100_000),
        ("config.json", '{"a": "' + "x" * 1_000_000 + '"}'),
        (INDEX, "{}"),
        (INDEX, '{"weight_map": {}}'),
        (INDEX, '{"weight_map": {"a": 1}}'),
        (INDEX, '{"weight_map": {"a": "../../etc/passwd"}}'),
        (INDEX, '{"weight_map": {"a": "/etc/x.safetensors"}}'),
        (INDEX, '{"weight_map": {"a": "..safetensors"}}'),
        (INDEX, "\xff"),
    ],
)
def test_broken_json_is_a_finding(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="latin-1")
    assert list(messages_of(inspect(folder))) == [name]


@pytest.mark.parametrize("config", [{"quantization_config": {}}, {"text_config": {"quantization_config": 4}}])
def test_a_quantisation_without_its_method(folder: Path, config: dict[str, object]) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "k25", "architectures": ["A"], **config}))
    assert messages_of(inspect(folder)) == {"config.json": "has a quantization_config without quant_method"}


# --- one pass over the headers ----------------------------------------------------------------------------------------


@pytest.fixture
def header_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The size of each file whose header is read."""
    sizes: list[int] = []
    read_header = weights.read_header

    def counted(file: BinaryIO, size_bytes: int) -> bytes:
        sizes.append(size_bytes)
        return read_header(file, size_bytes)

    monkeypatch.setattr(weights, "read_header", counted)
    return sizes


def test_inspection_reads_each_header_once(header_reads: list[int]) -> None:
    folder = embedded_checkpoint("kimi-k2-tiny")
    assert folder is not None
    files = inspect(folder)
    assert sorted(header_reads) == sorted(path.stat().st_size for path in folder.glob("*.safetensors"))
    assert files.contents == read_checkpoint(folder)


def test_a_start_reads_each_header_once(tmp_path: Path, header_reads: list[int]) -> None:
    spec = tmp_path / "a.toml"
    python = make_environment(tmp_path / "environment")
    spec.write_text(f'model = "kimi-k2-tiny"\n[engine]\nname = "vllm-cpu"\npython = "{python}"\n')
    prepared = prepare(load_spec(spec))
    assert len(header_reads) == len(prepared.checkpoint.shards) > 0
    assert not isinstance(prepared.checkpoint.contents, Unknown)


def test_contents_that_cannot_be_known(folder: Path) -> None:
    assert inspect(folder).contents == Unknown(f"config.json in {folder} has no num_hidden_layers")
    (folder / SHARD_17).unlink()
    files = inspect(folder)
    assert isinstance(files.contents, Unknown)
    assert len(files.shards) == 61


# --- fault 55: links --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", INDEX, SHARD_17])
def test_a_link_to_elsewhere_is_refused(folder: Path, name: str) -> None:
    elsewhere = folder.parent / "elsewhere"
    shutil.move(folder / name, elsewhere)
    (folder / name).symlink_to(elsewhere)
    assert messages_of(inspect(folder))[name] == f"is a link out of the checkpoint folder, to {elsewhere.resolve()}"


def test_a_link_to_passwd_is_refused(folder: Path) -> None:
    (folder / SHARD_17).unlink()
    (folder / SHARD_17).symlink_to("/etc/passwd")
    assert "is a link out of" in messages_of(inspect(folder))[SHARD_17]


def cached(folder: Path) -> Path:
    """The folder as a snapshot of a Hugging Face cache: every file a link to a blob."""
    home = folder.parent / "hub" / "models--a--b"
    snapshot = home / "snapshots" / "c0ffee"
    (home / "blobs").mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, path in enumerate(sorted(folder.iterdir())):
        path.rename(home / "blobs" / f"{number:064x}")
        (snapshot / path.name).symlink_to(f"../../blobs/{number:064x}")
    return snapshot


def test_links_into_the_blobs_of_a_cache_are_whole(folder: Path) -> None:
    snapshot = cached(folder)
    assert inspect(snapshot).findings == ()
    (folder.parent / "link").symlink_to(snapshot)
    assert inspect(folder.parent / "link").findings == ()


def test_a_blob_that_is_not_there_is_missing(folder: Path) -> None:
    snapshot = cached(folder)
    (snapshot / SHARD_17).resolve().unlink()
    assert messages_of(inspect(snapshot))[SHARD_17] == "is missing"


def test_an_incomplete_blob_beside_a_whole_snapshot_is_a_warning(folder: Path) -> None:
    snapshot = cached(folder)
    (snapshot.parent.parent / "blobs" / "abc.incomplete").write_bytes(b"")
    files = inspect(snapshot)
    assert [finding.severity for finding in files.findings] == [Severity.WARNING]
    require_complete(files)


def test_links_in_a_circle(folder: Path) -> None:
    (folder / SHARD_17).unlink()
    (folder / SHARD_17).symlink_to(SHARD_17)
    assert "cannot be read" in messages_of(inspect(folder))[SHARD_17]


def test_a_named_pipe_is_refused_and_not_waited_for(folder: Path) -> None:
    (folder / SHARD_17).unlink()
    os.mkfifo(folder / SHARD_17)
    assert messages_of(inspect(folder))[SHARD_17] == "cannot be read: it is a named pipe, not a regular file"


def test_a_folder_in_place_of_a_file(folder: Path) -> None:
    (folder / SHARD_17).unlink()
    (folder / SHARD_17).mkdir()
    assert messages_of(inspect(folder))[SHARD_17] == "cannot be read: it is a folder, not a regular file"
