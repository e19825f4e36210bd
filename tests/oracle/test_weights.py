"""Stored numbers, by hand. The libraries that engines read them with are asked in tests/e2e/test_oracle.py."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from tests.oracle.model import dequantised
from tests.oracle.weights import fp8_blocks, fp8_e4m3, int4_groups, read_safetensors


@pytest.mark.parametrize(
    ("code", "value"),
    [(0x00, 0.0), (0x01, 2.0**-9), (0x08, 2.0**-6), (0x38, 1.0), (0x39, 1.125), (0x7E, 448.0), (0xB8, -1.0)],
)
def test_e4m3(code: int, value: float) -> None:
    assert fp8_e4m3(np.array([code], np.uint8))[0] == value


def test_e4m3_has_two_nans_and_no_infinity() -> None:
    values = fp8_e4m3(np.arange(256, dtype=np.uint8))
    assert np.flatnonzero(np.isnan(values)).tolist() == [0x7F, 0xFF]
    assert not np.isinf(values).any()


def test_blocks_are_cut_at_the_edge() -> None:
    codes = np.full((130, 200), 0x38, np.uint8)
    blocks = fp8_blocks(codes, np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
    assert blocks.shape == (130, 200)
    assert [blocks[0, 0], blocks[127, 128], blocks[128, 127], blocks[129, 199]] == [1.0, 2.0, 3.0, 4.0]


def test_int4() -> None:
    """Eight numbers from -8 to 7, the first in the lowest bits."""
    numbers = [-8, -1, 0, 1, 2, 3, 6, 7]
    word = sum((number + 8) << (4 * place) for place, number in enumerate(numbers))
    packed = np.array([[word] * 8], np.uint32).view(np.int32)
    groups = int4_groups(packed, np.array([[0.5, 2.0]], np.float32))
    assert groups[0, :8].tolist() == [number * 0.5 for number in numbers]
    assert groups[0, 32:40].tolist() == [number * 2.0 for number in numbers]


def test_safetensors(tmp_path: Path) -> None:
    bfloat = struct.pack("<2H", 0x3F80, 0xC040)  # 1 and -3
    floats = struct.pack("<2f", 0.1, 2.5)
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [0, 4]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
    }
    text = json.dumps(header).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bfloat + floats)
    tensors = read_safetensors(path)
    assert tensors["a"].tolist() == [[1.0], [-3.0]]
    assert tensors["b"].tolist() == [np.float32(0.1), 2.5]


def test_each_format_gets_its_plain_name() -> None:
    tensors = {
        "x.weight": np.full((2, 2), 0x38, np.uint8),
        "x.weight_scale_inv": np.full((1, 1), 0.5, np.float32),
        "y.weight_packed": np.full((1, 4), 0, np.int32),
        "y.weight_scale": np.ones((1, 1), np.float32),
        "y.weight_shape": np.array([1, 32]),
        "z.weight": np.ones(3, np.float32),
    }
    weights = dequantised(tensors)
    assert sorted(weights) == ["x.weight", "y.weight", "z.weight"]
    assert weights["x.weight"].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert set(weights["y.weight"].ravel()) == {-8.0}
