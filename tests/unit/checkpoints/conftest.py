"""Writes checkpoint folders from the format's own text, without a line of the reader."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

CONFIG = {"model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"]}
SIZES = {"BF16": 2, "F32": 4, "U8": 1}

Shapes = Mapping[str, tuple[str, tuple[int, ...]]]


class Writer:
    """https://huggingface.co/docs/safetensors/index#format"""

    @staticmethod
    def safetensors(header: bytes, data_bytes: int = 0) -> bytes:
        return struct.pack("<Q", len(header)) + header + b"\xff" * data_bytes

    @staticmethod
    def header(shapes: Shapes, **more: object) -> tuple[bytes, int]:
        """The header, padded to eight as the reference writer does, and the size of the data behind it."""
        entries: dict[str, object] = dict(more)
        end = 0
        for name, (dtype, shape) in shapes.items():
            begin, count = end, 1
            for size in shape:
                count *= size
            end += count * SIZES[dtype]
            entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
        header = json.dumps(entries, separators=(",", ":")).encode()
        return header + b" " * (-len(header) % 8), end

    def shard(self, path: Path, shapes: Shapes, **more: object) -> int:
        """The size of its data in bytes."""
        header, data_bytes = self.header(shapes, **more)
        path.write_bytes(self.safetensors(header, data_bytes))
        return data_bytes

    def checkpoint(self, folder: Path, shards: int = 62, tensors: int = 4) -> int:
        """A whole checkpoint of numbered shards; the size of its tensors in bytes."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(CONFIG))
        (folder / "tokenizer.json").write_text("{}")
        places: dict[str, str] = {}
        total = 0
        for number in range(1, shards + 1):
            name = f"model-{number:05d}-of-{shards:05d}.safetensors"
            shapes = {f"model.layers.{number}.experts.{index}.weight": ("BF16", (3, 8)) for index in range(tensors)}
            total += self.shard(folder / name, shapes)
            places.update(dict.fromkeys(shapes, name))
        index = {"metadata": {"total_size": total}, "weight_map": places}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        return total


@pytest.fixture(scope="session")
def write() -> Writer:
    return Writer()
