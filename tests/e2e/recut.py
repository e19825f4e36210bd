"""The tiny checkpoint with fewer layers: the tensors of the first ones, copied byte for byte into a new file."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path


def recut(source: Path, target: Path, layers: int) -> Path:
    """A folder that an engine loads as a model of `layers` layers. Nothing of it is trained to work together."""
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.is_file() and path.suffix != ".safetensors":
            shutil.copy(path, target / path.name)
    config = json.loads((source / "config.json").read_text())
    assert 1 < layers <= config["num_hidden_layers"]
    config["num_hidden_layers"] = layers
    (target / "config.json").write_text(json.dumps(config))
    raw = (source / "model.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    kept: dict[str, object] = {}
    body = bytearray()
    for name, tensor in header.items():
        if name == "__metadata__":
            kept[name] = tensor
            continue
        match = re.match(r"model\.layers\.(\d+)\.", name)
        if match and int(match[1]) >= layers:
            continue
        begin, end = tensor["data_offsets"]
        kept[name] = {**tensor, "data_offsets": [len(body), len(body) + end - begin]}
        body += data[begin:end]
    text = json.dumps(kept).encode()
    text += b" " * (-len(text) % 8)
    (target / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(body))
    return target
