"""What a run has written down, and what is said of it."""

import json
from pathlib import Path

import pytest

from moonpad.bench.run_files import RunFiles
from moonpad.values.errors import CheckFailed
from tests.unit.bench.records import record


class Full:
    """A file on a full disk, which has room for a short line all the same."""

    def __init__(self, room_bytes: int) -> None:
        self.data = b""
        self.room_bytes = room_bytes

    def write(self, line: bytes) -> int:
        taken = line[: self.room_bytes - len(self.data)]
        self.data += taken
        return len(taken)

    def truncate(self, size: int) -> None:
        self.data = self.data[:size]

    def seek(self, offset: int, whence: int) -> int:
        return len(self.data)


def test_a_sample_is_there_as_it_was_seen_and_a_torn_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "server.jsonl").write_text('{"at_s": 1}\n{"at_')
    files = RunFiles(tmp_path)
    for at_s in (2, 3):
        files.append_sample("server.jsonl", {"at_s": at_s})
        lines = (tmp_path / "server.jsonl").read_text().splitlines()
        assert [json.loads(line)["at_s"] for line in lines] == list(range(1, at_s + 1))
    files.close()


def test_after_a_line_that_was_lost_none_is_taken(tmp_path: Path) -> None:
    """Requests end in one turn of the loop; a shorter line may fit where the one before did not, and the count of saved
    requests was told already."""
    files = RunFiles(tmp_path / "run")
    files._lines = full = Full(3000)  # type: ignore[assignment]
    files.append(record(0))
    saved = full.data
    with pytest.raises(CheckFailed, match="1 requests are saved") as first:
        files.append(record(1, tokens_at_s=tuple(map(float, range(1000)))))
    with pytest.raises(CheckFailed) as second:
        files.append(record(2))
    assert second.value is first.value
    assert full.data == saved
