"""What is read back is what was written, in the order of the requests, whatever else stands in the file."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.bench.metrics import metrics_of
from moonpad.bench.saved_records import SavedRecords
from moonpad.load.failure import FailureKind, RequestFailure
from tests.unit.bench.records import record

RECORDS = [
    record(0),
    record(1, tokens_at_s=(), failure=RequestFailure(FailureKind.HTTP_STATUS, "busy", 503)),
    record(2, scheduled_s=0.5, tokens_at_s=(0.75, 1.0, 1.125, 2.0), output_tokens=9, answer_s=1.0),
    record(3, tokens_at_s=(0.25,)),
]
JUNK = [b"", b"{}", b"null", b'{"index": 9', b"\xff\xfe", b'{"index":"a","failure":null,"token_times_s":[]}']


@given(st.permutations(range(4)), st.lists(st.tuples(st.integers(0, 4), st.sampled_from(JUNK))), st.binary(max_size=9))
def test_records_come_back(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], junk: list[tuple[int, bytes]], torn: bytes
) -> None:
    lines = [orjson.dumps(RECORDS[at]) for at in order]
    for at, line in junk:
        lines.insert(at, line)
    file = tmp_path_factory.mktemp("r") / "requests.jsonl"
    file.write_bytes(b"".join(line + b"\n" for line in lines) + torn.replace(b"\n", b""))
    actual = SavedRecords(file)
    assert list(actual) == RECORDS
    assert (len(actual), actual[2], actual[-1], actual[1:3]) == (4, RECORDS[2], RECORDS[3], RECORDS[1:3])
    assert metrics_of(actual, 2.0) == metrics_of(RECORDS, 2.0)


def test_of_two_with_one_index_the_first_counts(tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_bytes(b"".join(orjson.dumps(entry) + b"\n" for entry in (RECORDS[0], record(0, ended_s=99.0))))
    assert list(SavedRecords(file)) == [RECORDS[0]]


def test_a_file_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert list(SavedRecords(tmp_path / "none")) == []
