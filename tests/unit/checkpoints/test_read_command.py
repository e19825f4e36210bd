"""`moonpad checkpoint show`."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.unit.checkpoints.test_read import variants as variants  # a fixture


def test_the_embedded_one(moonpad: Any) -> None:
    done = moonpad("checkpoint", "show", "kimi-k2-tiny", "--json")
    assert done.code == 0, done.stderr
    document = done.json
    assert (document["name"], document["scheme"], document["parameters"]) == ("kimi-k2-tiny", "bf16", 9_170_200)
    assert (document["bytes"], document["tensors"], document["findings"]) == (18_340_400, 129, [])
    assert document["kv_bytes_per_token"] == 4 * (512 + 64) * 2
    assert document["architecture"]["layers"] == 4
    assert sum(row["bytes"] for row in document["components"].values()) == 18_340_400
    assert document["components"]["lm_head"] == {"parameters": 262_144, "bytes": 524_288, "tensors": 1}


def test_for_people(moonpad: Any) -> None:
    done = moonpad("checkpoint", "show", "kimi-k2-tiny")
    assert done.code == 0, done.stderr
    for words in ("9,170,200 parameters in 129 tensors", "4,608 bytes of KV cache a token", "routed_experts", "38.6 %"):
        assert words in done.stdout
    assert "Next: moonpad plan" in done.stderr


def test_files_that_are_not_what_the_configuration_says(moonpad: Any, tmp_path: Path, variants: ModuleType) -> None:
    variants.write(tmp_path / "model", variants.TINY, "fp8")
    path = tmp_path / "model" / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "quantization_config": variants.QUANTIZATION["int4"]}))
    done = moonpad("checkpoint", "show", str(tmp_path / "model"), "--json")
    assert done.code == 3
    assert done.json["bytes"] == 9_709_040
    assert len(done.json["findings"]) == 8
    assert "not what its config.json says" in done.stderr


def test_no_folder(moonpad: Any) -> None:
    done = moonpad("checkpoint", "show", "nowhere")
    assert done.code == 3
    assert done.stdout == ""
    assert "there is no folder nowhere" in done.stderr
    assert "Traceback" not in done.stderr
