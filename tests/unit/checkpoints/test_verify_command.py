"""`moonpad checkpoint verify`: faults 20 and 21."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from moonpad.checkpoints.digest_check import check_digests
from moonpad.checkpoints.digests import Digest, known_digests
from moonpad.checkpoints.presence import presence
from moonpad.store.kept_digests import KeptDigests
from moonpad.values.errors import CheckpointError
from tests.unit.checkpoints.test_read import CONFIGS
from tests.unit.checkpoints.test_read import variants as variants  # a fixture

COMMIT = "4c8b0a1f" * 5
SHARD = "model-00002-of-00003.safetensors"
INDEX = "model.safetensors.index.json"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def git_blob(path: Path) -> str:
    """By git itself: not by the code that is tested."""
    return subprocess.run(("git", "hash-object", str(path)), capture_output=True, text=True, check=True).stdout.strip()


def as_downloaded(folder: Path) -> None:
    """Notes of each file as huggingface_hub leaves them: SHA-256 of weights, git's digest of the others."""
    notes = folder / ".cache" / "huggingface" / "download"
    for path in [path for path in folder.iterdir() if path.is_file()]:
        notes.mkdir(parents=True, exist_ok=True)
        digest = sha256(path) if path.suffix == ".safetensors" else git_blob(path)
        (notes / f"{path.name}.metadata").write_text(f"{COMMIT}\n{digest}\n{time.time()}\n")


@pytest.fixture
def folder(tmp_path: Path, write: Any) -> Path:
    write.checkpoint(tmp_path / "model", shards=3)
    as_downloaded(tmp_path / "model")
    return tmp_path / "model"


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def test_a_sound_one(moonpad: Any, folder: Path) -> None:
    done = moonpad("checkpoint", "verify", str(folder), "--deep", "--json")
    assert done.code == 0, done.stderr
    document = done.json
    assert (document["whole"], document["revision"], document["expected_from"]) == (True, COMMIT, "the index")
    assert document["present_bytes"] == document["expected_bytes"] == 3 * 4 * 3 * 8 * 2
    files = document["digests"]["files"]
    assert {file["method"] for file in files} == {"sha256", "git-sha1"}
    assert len(files) == 6
    assert all(file["right"] and not file["kept"] for file in files)


def test_one_flipped_byte(moonpad: Any, folder: Path) -> None:
    """Of a tensor: its size, its header and the index are as they were."""
    expected = sha256(folder / SHARD)
    flip(folder / SHARD, (folder / SHARD).stat().st_size - 5)
    assert moonpad("checkpoint", "verify", str(folder)).code == 0
    done = moonpad("checkpoint", "verify", str(folder), "--deep")
    assert done.code == 3
    assert f"1 of 6 files in {folder} have a wrong digest: {SHARD}" in done.stderr
    assert f"{SHARD}: has sha256 {sha256(folder / SHARD)}; expected sha256 {expected}, by its download" in done.stderr
    assert "Traceback" not in done.stderr


def half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def longer(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\0")


def zeros_inside(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size - 64)
        file.write(b"\0" * 64)


def pointer(path: Path) -> None:
    """What a clone without Git LFS leaves."""
    path.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 1\n")


def error_page(path: Path) -> None:
    path.write_text("<html>502 Bad Gateway</html>")


def other_value(path: Path) -> None:
    path.write_text(path.read_text().replace("kimi_k2", "kimi_k3"))


def linked_outside(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


KINDS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "missing": (SHARD, Path.unlink),
    "empty": (SHARD, lambda path: os.truncate(path, 0)),
    "half": (SHARD, half),
    "one byte less": (SHARD, lambda path: os.truncate(path, path.stat().st_size - 1)),
    "one byte more": (SHARD, longer),
    "a bit of a tensor": (SHARD, lambda path: flip(path, path.stat().st_size - 1)),
    "a bit of a header": (SHARD, lambda path: flip(path, 40)),
    "the length of a header": (SHARD, lambda path: flip(path, 7)),
    "zeros": (SHARD, zeros_inside),
    "a pointer of Git LFS": (SHARD, pointer),
    "an error page": (SHARD, error_page),
    "a link out of the folder": (SHARD, linked_outside),
    "half an index": (INDEX, half),
    "another configuration": ("config.json", other_value),
    "another tokenizer": ("tokenizer.json", lambda path: path.write_text("[]")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_is_named(moonpad: Any, folder: Path, kind: str) -> None:
    name, damage = KINDS[kind]
    damage(folder / name)
    done = moonpad("checkpoint", "verify", str(folder), "--deep", "--json")
    assert done.code == 3
    assert name in {finding["where"] for finding in done.json["findings"]}
    assert not done.json["whole"]


def test_two_shards_that_took_each_others_place(moonpad: Any, folder: Path) -> None:
    other = folder / "model-00003-of-00003.safetensors"
    (folder / SHARD).rename(folder / "x")
    other.rename(folder / SHARD)
    (folder / "x").rename(other)
    done = moonpad("checkpoint", "verify", str(folder), "--json")
    assert {SHARD, other.name} <= {finding["where"] for finding in done.json["findings"]}


def test_it_goes_on_where_it_was(moonpad: Any, folder: Path) -> None:
    assert moonpad("checkpoint", "verify", str(folder), "--deep").code == 0
    path = folder / SHARD
    path.touch()
    second = moonpad("checkpoint", "verify", str(folder), "--deep", "--json").json
    assert {file["name"] for file in second["digests"]["files"] if not file["kept"]} == {SHARD}
    assert second["digests"]["read_bytes"] == path.stat().st_size
    third = moonpad("checkpoint", "verify", str(folder), "--deep", "--json").json
    assert third["digests"]["read_bytes"] == 0


def test_a_bit_that_the_disk_lost(moonpad: Any, folder: Path) -> None:
    """It changes neither size nor time, so that only `--fresh` finds it."""
    assert moonpad("checkpoint", "verify", str(folder), "--deep").code == 0
    status = (folder / SHARD).stat()
    flip(folder / SHARD, status.st_size - 1)
    os.utime(folder / SHARD, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert moonpad("checkpoint", "verify", str(folder), "--deep").code == 0
    assert moonpad("checkpoint", "verify", str(folder), "--deep", "--fresh").code == 3


def test_stopped_in_the_middle(folder: Path, tmp_path: Path) -> None:
    """Files that were read to their end are not read again."""
    known, state = known_digests(folder), tmp_path / "digests.jsonl"
    read: list[int] = []

    def stop_at_the_fourth(count: int) -> None:
        read.append(count)
        if len(read) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_digests(folder, known, KeptDigests(state), stop_at_the_fourth)
    finished = len(state.read_text().splitlines())
    assert 1 <= finished < 6
    second = check_digests(folder, known, KeptDigests(state))
    assert sum(file.kept for file in second.files) == finished
    assert all(file.is_right for file in second.files)


def test_lists_of_sha256sum(moonpad: Any, tmp_path: Path, write: Any) -> None:
    folder = tmp_path / "model"
    write.checkpoint(folder, shards=2)
    assert "no digest is known of any file" in moonpad("checkpoint", "verify", str(folder), "--deep").stderr
    names = sorted(path.name for path in folder.iterdir())
    sums = subprocess.run(("sha256sum", *names), cwd=folder, capture_output=True, check=True).stdout
    (tmp_path / "list").write_bytes(sums)
    done = moonpad("checkpoint", "verify", str(folder), "--digests", str(tmp_path / "list"), "--json")
    assert (done.code, len(done.json["digests"]["files"])) == (0, 5)
    (folder / "SHA256SUMS").write_bytes(sums.replace(b"\n", b"\n", 1) + f"{'0' * 64}  config.json\n".encode())
    done = moonpad("checkpoint", "verify", str(folder), "--deep")
    assert done.code == 3
    assert f"expected sha256 {'0' * 64}, by SHA256SUMS" in done.stderr


@pytest.mark.parametrize(
    "text", ["no digest", f"{'0' * 64}  ../elsewhere", f"{'0' * 64}  /etc/passwd", f"{'0' * 63}  a"]
)
def test_a_list_that_is_none(moonpad: Any, folder: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "list").write_text(text + "\n")
    done = moonpad("checkpoint", "verify", str(folder), "--digests", str(tmp_path / "list"))
    assert done.code == 2
    assert "line 1" in done.stderr
    (folder / "SHA256SUMS").write_text(text + "\n")
    with pytest.raises(CheckpointError, match="SHA256SUMS"):
        known_digests(folder)


def test_the_names_of_blobs_in_a_cache(tmp_path: Path, write: Any) -> None:
    model = tmp_path / "models--moonshotai--Kimi-K2-Thinking"
    write.checkpoint(tmp_path / "files", shards=2)
    snapshot, blobs = model / "snapshots" / COMMIT, model / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for path in (tmp_path / "files").iterdir():
        digest = sha256(path) if path.suffix == ".safetensors" else git_blob(path)
        path.rename(blobs / digest)
        (snapshot / path.name).symlink_to(f"../../blobs/{digest}")
    known = known_digests(snapshot)
    assert known["config.json"] == Digest(git_blob(snapshot / "config.json"), "the cache")
    kept = KeptDigests(tmp_path / "digests.jsonl")
    check = check_digests(snapshot, known, kept)
    assert (len(check.files), check.findings) == (5, ())
    flip((snapshot / "model-00001-of-00002.safetensors").resolve(), 500)
    (finding,) = check_digests(snapshot, known, kept).findings
    assert finding.where == "model-00001-of-00002.safetensors"


@pytest.mark.parametrize(
    ("partial", "control"),
    [
        (f"{SHARD}.part", ""),
        (f".cache/huggingface/download/abc.{'0' * 64}.1a2b3c4d.incomplete", ""),
        (f"._____temp/{SHARD}", ""),
        (SHARD, f"{SHARD}.aria2"),
    ],
)
def test_bytes_present_of_expected(moonpad: Any, folder: Path, partial: str, control: str) -> None:
    """Whichever program downloads."""
    data = (folder / SHARD).read_bytes()
    (folder / SHARD).unlink()
    (folder / partial).parent.mkdir(parents=True, exist_ok=True)
    (folder / partial).write_bytes(b"x" * 100 if not control else data)
    if control:
        (folder / control).write_bytes(b"")
    done = moonpad("checkpoint", "verify", str(folder), "--json")
    assert done.code == 3
    document = done.json
    assert (document["present_files"], document["expected_files"], document["expected_bytes"]) == (2, 3, 576)
    assert document["partial"] == [{"name": partial, "present_bytes": 100 if not control else len(data)}]
    assert "is left from an unfinished download" in [row["message"] for row in document["findings"]]
    if not control:
        assert document["present_bytes"] == 2 * 192 + 100


def test_space_that_is_only_reserved_is_not_present(folder: Path) -> None:
    (folder / SHARD).unlink()
    with (folder / f"{SHARD}.incomplete").open("wb") as file:
        file.truncate(1 << 30)
    (partial,) = presence(folder).partial
    assert partial.present_bytes < 1 << 20


def test_the_catalogue_says_how_much_before_the_index_is_there(moonpad: Any, tmp_path: Path) -> None:
    folder = tmp_path / "Kimi-K2-Thinking"
    folder.mkdir()
    (folder / "model-00001-of-000062.safetensors.incomplete").write_bytes(b"x" * 5000)
    done = moonpad("checkpoint", "verify", str(folder), "--json")
    document = done.json
    assert (document["expected_bytes"], document["expected_from"]) == (594_205_918_560, "the catalogue")
    assert (document["present_bytes"], document["expected_files"]) == (5000, 62)


@pytest.mark.serial
def test_594_gb_in_less_than_ten_seconds(moonpad: Any, tmp_path: Path, variants: ModuleType) -> None:
    """62 files of their true lengths, which hold headers and nothing else."""
    config = json.loads((CONFIGS / "moonshotai--Kimi-K2.5_config.json").read_text())["text_config"]
    folder = tmp_path / "model"
    variants.write(folder, config, "int4", 62)
    (folder / "tokenizer.json").write_text("{}")
    begun = time.monotonic()
    done = moonpad("checkpoint", "verify", str(folder), "--json")
    elapsed_s = time.monotonic() - begun
    shutil.rmtree(folder)
    assert done.json["present_bytes"] == 594_205_918_560, done.stderr
    assert (done.json["intact_files"], elapsed_s < 10) == (62, True), elapsed_s
