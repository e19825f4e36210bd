"""The one reader of files: what it refuses, and that it waits for nothing."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from moonpad.spec import input_file
from moonpad.spec.home import base_folder, home_folder
from moonpad.spec.input_file import open_regular, read_input, read_regular
from moonpad.spec.json_input import json_lines, load_json


def test_a_regular_file_of_the_largest_size(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * 100)
    (tmp_path / "link").symlink_to("f")
    assert read_regular(file, 100) == read_regular(tmp_path / "link", 100) == b"x" * 100
    with pytest.raises(OSError, match="larger than 99 bytes: it has 100 bytes") as refused:
        read_regular(file, 99)
    assert refused.value.errno == errno.EFBIG


def test_a_file_that_says_nothing_of_its_size() -> None:
    assert read_regular(Path("/proc/self/stat"), 10_000).startswith(b"%d " % os.getpid())
    with pytest.raises(OSError, match="larger than 5 bytes"):
        read_regular(Path("/proc/self/stat"), 5)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("pipe", "a named pipe"), ("", "a folder"), ("zero", "a device"), ("loop", "symbolic links"), ("gone", "No such")],
)
def test_nothing_else_is_read(tmp_path: Path, name: str, reason: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match=reason):
        open_regular(tmp_path / name)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "n" * 5_000])
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(OSError) as refused:  # noqa: PT011 - any OSError with a reason
        open_regular(Path(name))
    assert refused.value.strerror


def test_a_file_that_is_replaced_by_a_pipe_between_the_two_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    os.mkfifo(file)
    regular = Path(__file__).stat()
    monkeypatch.setattr(Path, "stat", lambda self: regular)
    with pytest.raises(OSError, match="a named pipe"):
        open_regular(file)
    assert stat.S_ISREG(regular.st_mode)


def test_a_pipe_of_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    path = Path(f"/dev/fd/{reader}")
    monkeypatch.setattr(input_file, "PIPE_S", 0.01)
    with pytest.raises(OSError, match="had not ended it"):
        read_input(path, 10)
    os.write(writer, b"12345")
    os.close(writer)
    assert read_input(path, 5) == b"12345"
    os.close(reader)


def test_json_takes_no_more_memory_than_its_limit() -> None:
    assert load_json(b'{"a": [1, 2]}') == {"a": [1, 2]}
    assert load_json(b'"' + b"x" * 2_000_000 + b'"', 1_000_000)  # a long text has few values
    with pytest.raises(ValueError, match=r"would take .* MiB of memory"):
        load_json(b"[" + b"{}," * 1_000_000 + b"{}]", 100_000_000)


def test_lines_without_those_that_are_torn(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b'{"a": 1}\n{"b\n{"c": 2}\n')
    assert list(json_lines(file)) == [{"a": 1}, {"c": 2}]
    file.write_bytes(b"\n" * 5_000 + b'{"a": 1}\n')
    assert list(json_lines(file)) == []


def test_the_home_folder_is_a_whole_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/some/home")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert base_folder("XDG_STATE_HOME", "state") == Path("/some/home/state")
    monkeypatch.setenv("HOME", "")
    assert home_folder().is_absolute()
    monkeypatch.setenv("XDG_STATE_HOME", "/" + "n" * 5_000)
    with pytest.raises(OSError, match="File name too long: 'XDG_STATE_HOME or HOME'"):
        base_folder("XDG_STATE_HOME", "state")
