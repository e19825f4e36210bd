"""Lines in bounded pieces, forwards and from the end, against `bytes.split`."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.store import line_reader
from moonpad.store.line_reader import lines_from_end, lines_of, pieces_of

LIMIT = 5
TEXTS = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"defghijkl"]), max_size=30).map(b"".join)


def split(text: bytes) -> list[bytes]:
    """The lines as everybody counts them: what stands behind the last line end is one only where it is not empty."""
    pieces = text.split(b"\n")
    return [line[: LIMIT + 1] for line in (pieces if pieces[-1] else pieces[:-1])]


@pytest.fixture(params=[1, 2, 3, 7, 64])
def _pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_reader, "PIECE_BYTES", request.param)


@pytest.mark.usefixtures("_pieces")
class TestAnyBorder:
    @given(TEXTS)
    def test_forwards(self, text: bytes) -> None:
        assert list(lines_of(pieces_of(io.BytesIO(text)), LIMIT)) == split(text)

    @given(TEXTS)
    def test_from_the_end(self, text: bytes) -> None:
        lines = list(lines_from_end(io.BytesIO(text), LIMIT, len(text)))
        assert [line for _, line in reversed(lines)] == split(text)
        assert [begin for begin, _ in reversed(lines)] == [
            begin for begin in range(len(text)) if begin == 0 or text[begin - 1 : begin] == b"\n"
        ]


def test_an_endless_line_costs_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.write(b"first\n")
        file.truncate(50_000_000)  # a line of zeros that the disk need not hold
        file.seek(0, 2)
        file.write(b"\nlast\n")
    tracemalloc.start()
    with path.open("rb") as file:
        forwards = [line[:5] for line in lines_of(pieces_of(file), 1000)]
        backwards = [line[:5] for _, line in lines_from_end(file, 1000, path.stat().st_size)]
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert forwards == backwards[::-1] == [b"first", bytes(5), b"last"]
    assert peak_bytes < 1 << 20


def test_lines_from_the_end_of_nothing_but_line_ends_take_no_square_of_time() -> None:
    """Counted by what is copied: a slice of each piece for each of its lines would be gigabytes."""
    text = b"\n" * (4 * line_reader.PIECE_BYTES)
    tracemalloc.start()
    count = sum(1 for _ in lines_from_end(io.BytesIO(text), LIMIT, len(text)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (count, peak < 1 << 20) == (len(text), True)


def test_what_lies_before_the_limit_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_reader, "PIECE_BYTES", 4)
    monkeypatch.setattr(line_reader, "MOST_BYTES", 8)
    text = b"a\n" * 100
    assert len(list(lines_from_end(io.BytesIO(text), LIMIT, len(text)))) == 4
