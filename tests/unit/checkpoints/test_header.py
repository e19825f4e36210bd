"""Fault 22: hostile safetensors headers."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.checkpoints.header import DTYPE_BITS, MAX_HEADER_BYTES, Tensor, tensors
from moonpad.checkpoints.weights import Shard, read_shard
from moonpad.values.errors import CheckpointError

NAME = "model.safetensors"


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], Shard]:
    """Reads a file of those bytes."""
    folder = tmp_path_factory.mktemp("header")

    def read_bytes(raw: bytes) -> Shard:
        (folder / NAME).write_bytes(raw)
        return read_shard(folder, NAME)

    return read_bytes


def test_what_the_format_allows(write: Any, read: Callable[[bytes], Shard]) -> None:
    metadata = {"format": "pt", "note": 'a "brace" } \\ and {'}
    header, data_bytes = write.header(
        {"a": ("F32", (2, 3)), "b": ("BF16", ()), "é": ("U8", (0,))}, __metadata__=metadata
    )
    assert read(write.safetensors(header, data_bytes)) == Shard(NAME, 8 + len(header) + 26, 26, 3)
    assert next(tensors(header)) == Tensor("a", "F32", (2, 3), 0, 24)


@pytest.mark.parametrize("header", [b"{}", b"{ }  ", b'{"__metadata__":{}}', b'{"__metadata__":{"a":"b"}}   '])
def test_headers_without_tensors(header: bytes, write: Any, read: Callable[[bytes], Shard]) -> None:
    assert read(write.safetensors(header)).tensors == 0


def test_tensors_may_stand_in_any_order() -> None:
    header = (
        b'{ "b" : {"shape":[1],"data_offsets":[1,2],"dtype":"U8"} , '
        b'"a":{"data_offsets":[0,1],"dtype":"U8","shape":[1]}\n}'
    )
    assert [tensor.name for tensor in tensors(header)] == ["b", "a"]


@pytest.mark.parametrize(("dtype", "bits"), sorted(DTYPE_BITS.items()))
def test_every_dtype_has_its_size(dtype: str, bits: int) -> None:
    good = {"a": {"dtype": dtype, "shape": [8], "data_offsets": [0, bits]}}
    assert [tensor.end for tensor in tensors(json.dumps(good).encode())] == [bits]
    good["a"]["data_offsets"] = [0, bits + 1]
    with pytest.raises(CheckpointError, match="does not fit"):
        list(tensors(json.dumps(good).encode()))


def tensor(dtype: object = "U8", shape: object = (4,), offsets: object = (0, 4), **more: object) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets, **more}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"a": tensor(dtype="F7")}, r"at `\$\.dtype`"),
        ({"a": tensor(dtype=["U8"])}, r"at `\$\.dtype`"),
        ({"a": tensor(shape=[-4])}, r"at `\$\.shape"),
        ({"a": tensor(shape=[2.0, 2])}, r"at `\$\.shape"),
        ({"a": tensor(shape=[True, 4])}, r"at `\$\.shape"),
        ({"a": tensor(shape=[1] * 33)}, r"at `\$\.shape"),
        ({"a": tensor(shape=[10**30])}, r"at `\$\.shape"),
        ({"a": tensor(shape=[2**62] * 32)}, "does not fit"),
        ({"a": tensor(shape="4")}, r"at `\$\.shape"),
        ({"a": tensor(offsets=[0])}, r"at `\$\.data_offsets`"),
        ({"a": tensor(offsets=[4, 0])}, "does not fit"),
        ({"a": tensor(extra=1)}, "unknown field `extra`"),
        ({"a": {}}, "missing required field `dtype`"),
        ({"a": []}, "no tensor at"),
        ({"a": tensor(), "b": tensor()}, "overlap"),
        ({"a": tensor(), "b": tensor(offsets=[5, 9])}, "leave a gap"),
        ({"a": tensor(offsets=[4, 8])}, "leave a gap"),
        ({"__metadata__": {"a": 1}}, "not an object of texts"),
        ({"__metadata__": {"a": {}}}, "__metadata__"),
        ({"__metadata__": "a"}, "__metadata__"),
        ([], "not a JSON object"),
    ],
)
def test_what_it_does_not_allow(header: object, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        list(tensors(json.dumps(header).encode()))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{",
        b'{"a',
        b'{"a":',
        b'{"a":{',
        b'{"a":{}',
        b'{"a":{}]',
        b'{"a":{"dtype":}}',
        b"{}x",
        b'{"__metadata__":{"a',
        b" {}",
    ],
)
def test_headers_that_end_early(header: bytes) -> None:
    with pytest.raises(CheckpointError):
        list(tensors(header))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "too short"),
        (b"\0" * 7, "too short"),
        ((2**63).to_bytes(8, "little") + b"{}", "is plausible"),
        ((200_000_000).to_bytes(8, "little") + b"{}", "is plausible"),
        ((3).to_bytes(8, "little") + b"{}", "the file has 10"),
    ],
)
def test_lengths_that_cannot_be_true(raw: bytes, message: str, read: Callable[[bytes], Shard]) -> None:
    with pytest.raises(CheckpointError, match=message):
        read(raw)


@given(raw=st.binary(max_size=200), length=st.one_of(st.none(), st.integers(0, 2**64 - 1)))
def test_any_bytes(raw: bytes, length: int | None, read: Callable[[bytes], Shard]) -> None:
    prefix = (len(raw) if length is None else length).to_bytes(8, "little")
    try:
        read(prefix + raw)
    except CheckpointError as error:
        assert error.message


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["BF16", "U8"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NEARLY = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["U8", "BF16", "F4"]) | VALUES,
        "shape": st.lists(st.integers(0, 9), max_size=3) | VALUES,
        "data_offsets": st.lists(st.integers(0, 20), min_size=2, max_size=2) | VALUES,
    }
)
NAMES = st.sampled_from(["a", "b", "__metadata__", "", "é", '"', "\\"])


@given(header=st.dictionaries(NAMES, NEARLY | VALUES, max_size=4), cut=st.integers(0, 400), flip=st.integers(0, 255))
def test_nearly_right_headers(header: dict[str, object], cut: int, flip: int) -> None:
    raw = bytearray(json.dumps(header).encode())
    if cut < len(raw):
        raw[cut] ^= flip
    try:
        layouts = list(tensors(bytes(raw)))
    except CheckpointError as error:
        assert error.message
    else:
        end = 0
        for tensor in sorted(layouts, key=lambda tensor: (tensor.begin, tensor.end)):
            assert tensor.begin == end
            end = tensor.end


def test_tensors_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moonpad.checkpoints.header.MAX_TENSORS", 2)
    entries = {str(number): tensor(offsets=[number * 4, number * 4 + 4]) for number in range(3)}
    with pytest.raises(CheckpointError, match="more than 2 tensors"):
        list(tensors(json.dumps(entries).encode()))


ENTRY = b'"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},'


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"{" + b'"":{},' * (MAX_HEADER_BYTES // 6), id="empty objects"),
        pytest.param(b"{" + b"[" * (MAX_HEADER_BYTES - 1), id="brackets"),
        pytest.param(b'{"a":' * (MAX_HEADER_BYTES // 5), id="nested"),
        pytest.param(b'{"' + b"a" * (MAX_HEADER_BYTES - 2), id="endless name"),
        pytest.param(b'{"__metadata__":{"a":"' + b"\\\\" * (MAX_HEADER_BYTES // 2 - 20), id="endless metadata"),
        pytest.param(b'{"__metadata__":{' + b'"":"",' * (MAX_HEADER_BYTES // 6 - 20), id="wide metadata"),
        pytest.param(b'{"a":{"shape":[' + b"1," * (MAX_HEADER_BYTES // 2 - 20), id="endless shape"),
        pytest.param(
            b"{" + ENTRY * (MAX_HEADER_BYTES // len(ENTRY) - 1), id="too many tensors", marks=pytest.mark.slow
        ),
        pytest.param(b"{" + b" " * (MAX_HEADER_BYTES - 1), id="blanks"),
    ],
)
def test_no_header_takes_more_than_100_mb(header: bytes, tmp_path: Path) -> None:
    path = tmp_path / NAME
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little"))
        file.write(header)
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError):
            read_shard(tmp_path, NAME)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        path.unlink()
    assert peak_bytes < 100_000_000
