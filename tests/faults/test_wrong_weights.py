"""Faults 25 and 26 at `moonpad up`: the files decide, never the name, and memory is judged before a start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Moonpad

pytestmark = pytest.mark.usefixtures("clean_world")


def add(spec: Path, text: str) -> None:
    spec.write_text(f"{spec.read_text()}\n{text}\n")


def copy_of_tiny(home: Path) -> Path:
    source = Path(__file__).parents[2] / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"
    home.mkdir(parents=True)
    for path in source.iterdir():
        (home / path.name).write_bytes(path.read_bytes())
    return home


def refused(moonpad: Moonpad, spec: Path) -> str:
    up = moonpad("up", str(spec))
    assert up.code == 3, up.stderr
    assert not list((moonpad.state / "runs").glob("*")), "nothing was started"
    return up.stderr


def test_another_format_than_the_spec_says(moonpad: Moonpad, fake_spec: Path) -> None:
    add(fake_spec, '[weights]\nscheme = "int4"')
    errors = refused(moonpad, fake_spec)
    assert "weights.scheme: the spec asks for int4" in errors
    assert "holds bf16" in errors


def test_the_format_that_the_spec_says(moonpad: Moonpad, fake_spec: Path) -> None:
    add(fake_spec, '[weights]\nscheme = "bf16"')
    assert moonpad("up", str(fake_spec)).code == 0
    assert moonpad("down", "fake").code == 0


def test_another_commit_than_the_pinned_one(moonpad: Moonpad, fake_spec: Path, tmp_path: Path) -> None:
    there, pinned = "a" * 40, "b" * 40
    home = copy_of_tiny(tmp_path / "models--someone--tiny" / "snapshots" / there)
    fake_spec.write_text(fake_spec.read_text().replace('"kimi-k2-tiny"', f'"{home}"', 1))
    add(fake_spec, f'[weights]\nrevision = "{pinned}"')
    errors = refused(moonpad, fake_spec)
    assert there in errors
    assert pinned in errors


def test_a_context_that_the_memory_does_not_hold(moonpad: Moonpad, fake_spec: Path, tmp_path: Path) -> None:
    """4 layers of 576 values in two bytes are 4,608 a token; 2**30 bytes hold 14,563 blocks of 16.

    The checkpoint's rotary positions reach further than the tiny one's, so that memory alone is in the way.
    """
    home = copy_of_tiny(tmp_path / "long")
    config = json.loads((home / "config.json").read_text())
    config["max_position_embeddings"] *= 16
    config["rope_scaling"]["factor"] *= 16
    (home / "config.json").write_text(json.dumps(config))
    fake_spec.write_text(fake_spec.read_text().replace('"kimi-k2-tiny"', f'"{home}"', 1))
    add(fake_spec, "[settings]\nmax_model_len = 300000")
    errors = refused(moonpad, fake_spec)
    assert "300,000 tokens need 1.29 GiB" in errors
    assert "1.00 GiB is left" in errors


def test_a_name_of_the_catalogue_has_no_weights(moonpad: Moonpad, fake_spec: Path) -> None:
    fake_spec.write_text(fake_spec.read_text().replace('"kimi-k2-tiny"', '"moonshotai/Kimi-K2-Thinking"', 1))
    assert "whose weights are not here" in refused(moonpad, fake_spec)
