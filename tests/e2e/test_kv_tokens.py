"""The planned KV cache against the real engine's log: equal to the token, for each setting that moves it."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.environments.installed import InstalledEngine
from tests.e2e.conftest import CHECKPOINT, assert_planned_is_measured, command_in, write_spec
from tests.e2e.recut import recut

SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("layers", "extra"),
    [
        pytest.param(4, "[layout]\ntp = 2\n[settings]\nmax_model_len = 2048\n", id="tp2", marks=SLOW),
        pytest.param(3, "[settings]\nkv_cache_gib = 2\nmax_num_seqs = 8\n", id="3-layers-2-gib", marks=SLOW),
        pytest.param(2, "[settings]\nmax_model_len = 16384\n", id="2-layers-16k", marks=SLOW),
        pytest.param(4, "[settings]\nkv_cache_gib = 3\nmax_num_seqs = 1\n", id="3-gib-1-sequence", marks=SLOW),
        pytest.param(3, "[layout]\ntp = 2\n[settings]\nmax_num_seqs = 128\n", id="3-layers-tp2", marks=SLOW),
    ],
)
def test_planned_is_measured(engine: InstalledEngine, tmp_path: Path, layers: int, extra: str) -> None:
    """The quick ones are the served endpoint (test_endpoint.py) and the one without YaRN (test_numerics.py)."""
    folder = CHECKPOINT if layers == 4 else recut(CHECKPOINT, tmp_path / f"tiny-{layers}", layers)
    moonpad = command_in(tmp_path / "home")
    spec, _ = write_spec(tmp_path, "kv", extra, model=str(folder))
    up = moonpad("up", str(spec), "--json", timeout_s=600)
    assert up.code == 0, up.stderr
    try:
        assert_planned_is_measured(moonpad, up)
    finally:
        assert moonpad("down", str(spec)).code == 0
