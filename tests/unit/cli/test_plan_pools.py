"""`plan` and `up` for a spec with two pools, by the words that a person types."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moonpad.cli import command_line

POOLS = Path(__file__).parents[3] / "examples" / "pools"
SGLANG = POOLS / "instruct-16x8xh200-sglang-4p12d.toml"


@pytest.fixture(autouse=True)
def _no_measured_starts_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = command_line.run(list(words))
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_each_pool_and_both_together(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = asked(capsys, "plan", str(SGLANG), "--json")
    assert code == 0
    answer = json.loads(text)
    layouts = {role: pool["plans"][0]["layout"] for role, pool in answer["pools"].items()}
    assert {role: (layout["dp"], layout["ep"]) for role, layout in layouts.items()} == {
        "prefill": (32, 32),
        "decode": (96, 96),
    }
    assert answer["share"] == {"prefill": 32, "decode": 96}
    assert answer["connector"] == "mooncake"
    assert answer["kv_bytes_per_token"] == {"prefill": 70_272, "decode": 70_272}
    assert answer["predicted_ratio"] is None
    assert answer["findings"] == []


def test_the_table_says_what_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = asked(capsys, "plan", str(SGLANG))
    assert code == 0
    assert "Of the devices 32 are for prefill and 96 for decode; mooncake carries the KV cache." in text
    assert "is not predicted" in text


def test_a_pair_that_does_not_fit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = tmp_path / "unlike.toml"
    spec.write_text(SGLANG.read_text().replace("[decode.settings]", '[decode.settings]\nkv_cache_dtype = "fp8"'))
    code, text, _ = asked(capsys, "plan", str(spec), "--json")
    assert code == 3
    (finding,) = json.loads(text)["findings"]
    assert (finding["severity"], finding["where"]) == ("error", "kv_cache_dtype")
    code, _, error = asked(capsys, "render", str(spec), "--to", "shell", "--out", str(tmp_path / "out"))
    assert code == 3
    assert "fp8 in decode" in error
    assert not (tmp_path / "out").exists()


def test_options_of_one_deployment_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = asked(capsys, "plan", str(SGLANG), "--set", "tp=8")
    assert code == 2
    assert "--on" in error


def test_up_says_that_it_does_not_start_them(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = asked(capsys, "up", str(SGLANG), "--dry-run")
    assert code == 2
    assert "not started here yet" in error
