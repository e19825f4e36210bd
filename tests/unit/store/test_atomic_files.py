"""Append lines, replace by rename; what a full disk or a killed process tears is survived."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.store.atomic_files import (
    LINE_BYTES,
    append_line,
    read_json,
    read_lines,
    read_lines_backwards,
    remove_parts,
    replace_json,
    replace_text,
)

REAL_WRITE = os.write
DEAD = 2**22 + 1  # above the largest pid that Linux gives


def test_a_torn_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    append_line(path, {"event": "a"})
    with path.open("a") as file:
        file.write('{"event": "b", "t')
    assert [record["event"] for record in read_lines(path)] == ["a"]
    append_line(path, {"event": "c"})
    assert path.read_text().splitlines() == ['{"event": "a"}', '{"event": "b", "t', '{"event": "c"}']
    assert [record["event"] for record in read_lines(path)] == ["a", "c"], "the next one is not lost with it"


# --- a disk that is full now and then, and other processes on it ----------------------------------------------------

# What happens at one write(2): how many bytes fit (None: all of them), and what another process has put there just
# before, after we looked at the end of the file.
WRITES = st.tuples(
    st.one_of(st.none(), st.integers(0, 40)), st.sampled_from([b"", b'{"of": "ano', b'{"of": "another"}\n'])
)


@contextmanager
def disk(path: Path, script: Iterator[tuple[int | None, bytes]]) -> Iterator[None]:
    """`os.write` as a full disk answers it: fewer bytes, or ENOSPC."""

    def write(handle: int, data: bytes) -> int:
        fits, others = next(script, (None, b""))
        if others:
            with path.open("ab") as file:
                file.write(others)
        if fits is None or fits >= len(data):
            return REAL_WRITE(handle, data)
        if fits == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return REAL_WRITE(handle, data[:fits])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", write)
        yield


@given(st.lists(WRITES, max_size=40), st.lists(st.text(max_size=8), max_size=20))
def test_what_was_acknowledged_is_read_back_in_order(script: list[tuple[int | None, bytes]], texts: list[str]) -> None:
    """Fault 24, property: whatever the disk does in between, for this process and for others."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        acknowledged = []
        with disk(path, iter(script)):
            for number, text in enumerate(texts):
                try:
                    append_line(path, {"number": number, "text": text})
                except OSError as error:
                    assert error.errno == errno.ENOSPC
                else:
                    acknowledged.append((number, text))
        read = [(record["number"], record["text"]) for record in read_lines(path) if "number" in record]
        # A line that was torn before nothing but its end may come back too, and one that was written a second time
        # stands where it was written last.
        assert [pair for pair in read if pair in acknowledged] == acknowledged
        backwards = [(record["number"], record["text"]) for record in read_lines_backwards(path) if "number" in record]
        assert backwards[::-1] == read


def _append_many(path: Path, writer: int) -> None:
    for number in range(200):
        append_line(path, {"writer": writer, "number": number, "text": "x" * (37 * number % 3000)})


def test_four_processes_append_at_once(tmp_path: Path) -> None:
    """No line is torn, none is lost, and each process's own stand in order."""
    path = tmp_path / "events.jsonl"
    start = multiprocessing.get_context("fork").Process
    writers = [start(target=_append_many, args=(path, writer)) for writer in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0, 0]
    records = [json.loads(line) for line in path.read_text().splitlines() if line]
    assert len(records) == 800
    for writer in range(4):
        assert [record["number"] for record in records if record["writer"] == writer] == list(range(200))


def test_a_line_over_a_mebibyte_is_refused_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    longest = {"text": "x" * (LINE_BYTES - len('{"text": ""}\n'))}
    append_line(path, longest)
    with pytest.raises(OSError, match="the limit is 1048576"):
        append_line(path, {"text": longest["text"] + "x"})
    with path.open("a") as file:
        file.write(json.dumps({"text": "y" * LINE_BYTES}) + "\n")
    append_line(path, {"text": "after"})
    assert [record["text"] for record in read_lines(path)] == [longest["text"], "after"]
    assert [record["text"] for record in read_lines_backwards(path)] == ["after", longest["text"]]


def test_reading_a_large_file_costs_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with path.open("wb") as file:
        file.write(b'{"event": "first"}\n')
        file.truncate(40_000_000)  # an endless line
        file.seek(0, 2)
        file.write(b"\n" + b'{"event": "many"}\n' * 20_000)
    tracemalloc.start()
    assert sum(1 for _ in read_lines(path)) == 20_001
    assert next(read_lines_backwards(path)) == {"event": "many"}
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 8 << 20


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b'{"a":' * 5000, b"null"])
def test_what_is_no_document(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(text)
    assert read_json(tmp_path / "a") is None
    assert list(read_lines(tmp_path / "a")) == []
    assert read_json(tmp_path / "none") is None
    assert list(read_lines(tmp_path / "none")) == list(read_lines_backwards(tmp_path / "none")) == []


# --- replacing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["fsync", "write", "fchmod"])
def test_a_failed_replacement_leaves_the_old_file(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    replace_json(path, {"state": "old"})

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    if step == "write":
        monkeypatch.setattr(json, "dumps", lambda *_, **__: "\udc80")  # no UTF-8 can be made of it
    else:
        monkeypatch.setattr(os, step, full_disk)
    with pytest.raises((OSError, UnicodeEncodeError)):
        replace_json(path, {"state": "new"})
    monkeypatch.undo()
    assert read_json(path) == {"state": "old"}
    assert [path_left.name for path_left in tmp_path.iterdir()] == ["run.json"]


def test_the_folder_is_synced_after_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a loss of power may undo the rename, and bring back a state that was reported as past."""
    synced: list[tuple[str, bool]] = []

    def fsync(handle: int) -> None:
        name = Path(f"/proc/self/fd/{handle}").readlink().name
        synced.append((name, (tmp_path / "run.json").exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    replace_text(tmp_path / "run.json", "{}")
    part, folder = synced
    assert part[0].startswith(".run.json.")
    assert part[1] is False
    assert folder == (tmp_path.name, True)


def test_files_are_private(tmp_path: Path) -> None:
    replace_json(tmp_path / "a.json", {})
    append_line(tmp_path / "b.jsonl", {})
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_the_mode_is_the_one_asked_for_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        replace_text(tmp_path / "run.sh", "#!/bin/sh\n", 0o755)
        replace_text(tmp_path / "run.sh", "#!/bin/bash\n", 0o755)
    finally:
        os.umask(before)
    assert (tmp_path / "run.sh").stat().st_mode & 0o777 == 0o755


def test_part_files_of_the_dead_are_removed(tmp_path: Path) -> None:
    """Of this file at each replacement, of any when asked; never of the living, never a young one."""
    old = time.time() - 3600
    left = {
        "dead": tmp_path / f".a.json.{DEAD}.{DEAD}.part",
        "other": tmp_path / f".b.json.{DEAD}.part",
        "living": tmp_path / f".a.json.1.{os.getppid()}.part",
        "strange": tmp_path / ".a.json.part",
        "young": tmp_path / f".a.json.{DEAD + 1}.part",
    }
    for path in left.values():
        path.write_text("half")
        os.utime(path, (old, old))
    os.utime(left["young"])
    replace_json(tmp_path / "a.json", {})
    assert {name for name, path in left.items() if path.exists()} == {"other", "living", "strange", "young"}
    remove_parts(tmp_path)
    assert {name for name, path in left.items() if path.exists()} == {"living", "strange", "young"}
    assert read_json(tmp_path / "a.json") == {}


def test_a_part_of_a_dead_process_with_our_number_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / f".a.json.{os.getpid()}.{os.getpid()}.part").write_text("half of something long")
    replace_json(tmp_path / "a.json", {})
    assert [path_left.name for path_left in tmp_path.iterdir()] == ["a.json"]


def test_a_device_or_a_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    """As root, `--junit /dev/null` would leave the machine without it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to("/dev/null")
    for path in (pipe, tmp_path / "link", tmp_path, Path(), Path("/")):
        with pytest.raises(OSError, match=r"not a regular file|Is a directory"):
            replace_text(path, "x")
    assert pipe.is_fifo()
    assert (tmp_path / "link").is_symlink()


def test_a_name_with_the_marks_of_a_pattern(tmp_path: Path) -> None:
    replace_text(tmp_path / "a**b[", "x")
    assert (tmp_path / "a**b[").read_text() == "x"


def test_a_pipe_is_neither_read_nor_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_json(tmp_path / "pipe") is None
    assert list(read_lines(tmp_path / "pipe")) == list(read_lines_backwards(tmp_path / "pipe")) == []
