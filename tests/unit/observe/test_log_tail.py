"""Following a log through rotation, truncation, floods and endless lines."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.observe import log_tail
from moonpad.observe.log_tail import LINE_BYTES, LogTail, bounded_lines, last_lines
from moonpad.run.keeper.log_file import bound_log, renew_log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "engine.log"


def say(log: Path, text: str) -> None:
    """As an engine does whose output is appended."""
    with log.open("a") as file:
        file.write(text)


def seen(tail: LogTail) -> list[str]:
    return list(tail.until_end())


def test_lines_as_they_come(log: Path) -> None:
    tail = LogTail(log)
    assert seen(tail) == []
    say(log, "one\ntwo\nthr")
    assert (tail.lines(), tail.open_line()) == (["one", "two"], "thr")
    assert tail.lines() == []
    say(log, "ee\n")
    assert (tail.lines(), tail.open_line()) == (["three"], "")


def test_a_truncated_log_is_read_from_its_start(log: Path) -> None:
    tail = LogTail(log)
    say(log, "one\ntwo\nhalf a li")
    seen(tail)
    log.write_text("three\n")
    assert seen(tail) == ["three"], "and the line without an end is not part of it"


def test_a_removed_log_is_left_for_the_new_one(log: Path) -> None:
    """Even where the new one has the number of the old one, and is longer."""
    tail = LogTail(log)
    say(log, "one\n")
    assert seen(tail) == ["one"]
    say(log, "two\n")
    log.unlink()
    assert seen(tail) == ["two"]
    say(log, "three\nfour\nfive\n")
    assert seen(tail) == ["three", "four", "five"]


def test_a_renamed_log_is_read_to_its_end(log: Path) -> None:
    tail = LogTail(log)
    say(log, "one\n")
    assert seen(tail) == ["one"]
    say(log, "two\nlast words")
    renew_log(str(log))
    assert (seen(tail), tail.open_line()) == (["two"], "last words"), "the new one is not there yet"
    say(log, "three\n")
    assert seen(tail) == ["last words", "three"]


def test_a_log_that_was_copied_and_cut_is_read_to_its_end(log: Path) -> None:
    tail = LogTail(log)
    say(log, "one\n")
    assert seen(tail) == ["one"]
    say(log, "two\n" * 30)
    assert bound_log(str(log), 100) == 0
    say(log, "a new one, that is longer than what was read of the old one\n")
    assert seen(tail) == [*["two"] * 30, "a new one, that is longer than what was read of the old one"]


def test_a_log_that_was_cut_and_could_not_be_copied(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk: what was not read is lost, what comes is not."""

    def full_disk(*_: object) -> int:
        raise OSError(28, "No space left on device")

    tail = LogTail(log)
    say(log, "one\n" * 30)
    seen(tail)
    monkeypatch.setattr("moonpad.run.keeper.log_file._copy", full_disk)
    assert bound_log(str(log), 100) == 120
    say(log, "two\n")
    assert seen(tail) == ["two"]


STEPS = st.lists(
    st.one_of(st.integers(1, 6), st.sampled_from(["look", "look a little", "new generation", "reopen"])), max_size=40
)


@contextmanager
def small_pieces(size: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_tail, "PIECE_BYTES", size)
        yield


@given(STEPS, st.sampled_from([7, 64, 4096]))
def test_every_line_comes_once_and_in_order(steps: list[int | str], piece_bytes: int) -> None:
    """However the keeper rotates, and however late the reader is, as long as the oldest part is still there."""
    with tempfile.TemporaryDirectory() as folder, small_pieces(piece_bytes):
        log = Path(folder) / "engine.log"
        log.touch()
        tail = LogTail(log)
        seen(tail)
        lines: list[str] = []
        read: list[str] = []
        rotations = 0
        for step in [*steps, "look"]:
            if isinstance(step, int):
                fresh = [f"line {len(lines) + number}" for number in range(step)]
                lines += fresh
                say(log, "".join(line + "\n" for line in fresh))
                rotations += bound_log(str(log), 60) is not None
            elif step == "new generation":
                rotations += log.exists() and log.stat().st_size > 0
                renew_log(str(log))
            elif step == "look a little":
                read += tail.lines()
            elif step == "reopen":
                read += seen(tail)
                tail, rotations = LogTail.from_last(log, 0), 0
            if step == "look" or rotations == log_tail.ROTATIONS:
                read += seen(tail)
                rotations = 0
        assert read == lines


def test_an_endless_line_costs_no_memory(log: Path) -> None:
    say(log, "first\n")
    with log.open("r+b") as file:
        file.truncate(50_000_000)  # zeros that the disk need not hold
    say(log, "\nlast\nopen")
    tracemalloc.start()
    tail = LogTail(log)
    lines = [line[:5] for line in tail.until_end()]
    ends = [line[:5] for line in last_lines(log, 3)]
    bounded = [line[:5] for line in bounded_lines([log])]
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lines == ["first", "\0" * 5, "last"]
    assert ends == ["\0" * 5, "last", "open"]
    assert bounded == ["first", "\0" * 5, "last", "open"]
    assert peak_bytes < 8 << 20


def test_long_lines_are_cut(log: Path) -> None:
    say(log, "x" * (LINE_BYTES + 1) + "\n" + "y" * 3 * LINE_BYTES)
    tail = LogTail(log)
    assert [seen(tail), tail.open_line()] == [["x" * LINE_BYTES], "y" * LINE_BYTES]
    assert list(last_lines(log, 2)) == list(bounded_lines([log])) == ["x" * LINE_BYTES, "y" * LINE_BYTES]


def test_of_a_bar_that_redraws_itself_for_long_the_last_drawing_is_kept(log: Path) -> None:
    say(log, "".join(f"\rloading {percent:3d}% {'#' * 1000}" for percent in range(100)))
    tail = LogTail(log)
    tail.lines()
    assert tail.open_line().startswith("loading  99% #")
    assert [line[:12] for line in bounded_lines([log])][-2:] == ["loading  98%", "loading  99%"]


# --- the last lines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [-1, 0, 1, 2, 3, 4, 7, 8, 100])
def test_last_lines_across_the_parts(log: Path, count: int) -> None:
    (log.parent / "engine.log.2").write_text("1\n2\n")
    (log.parent / "engine.log.1").write_text("3\n\n5 has no end")
    log.write_text("6\n7\n8")
    lines = ["1", "2", "3", "", "5 has no end", "6", "7", "8"]
    assert list(last_lines(log, count)) == (lines[-count:] if count > 0 else [])


def test_last_lines_of_what_is_not_there(log: Path) -> None:
    assert list(last_lines(log, 5)) == []
    (log.parent / "engine.log.1").write_text("an old one\n")
    assert list(last_lines(log, 5)) == ["an old one"]


def test_from_the_last_lines_on(log: Path) -> None:
    (log.parent / "engine.log.1").write_text("1\n2\n")
    log.write_text("3\n4")
    tail = LogTail.from_last(log, 3)
    say(log, "4\n5\n")
    assert seen(tail) == ["2", "3", "44", "5"]


def test_bounded_lines_of_several_files(log: Path) -> None:
    head = log.with_name("engine.log.head")
    head.write_bytes(b"one\r\ntwo \xff\rthree")
    log.write_text("four\n")
    assert list(bounded_lines([head, log.with_name("none"), log])) == ["one", "", "two \ufffd", "three", "four"]


def test_no_file_stays_open(log: Path) -> None:
    say(log, "one\n")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        assert seen(LogTail.from_last(log, 1)) == ["one"]
        assert list(last_lines(log, 1)) == ["one"]
        tail = LogTail(log)
        seen(tail)
        log.replace(log.with_name("engine.log.1"))
        say(log, "one\n")
        seen(tail)
        del tail
    assert len(list(Path("/proc/self/fd").iterdir())) == before
