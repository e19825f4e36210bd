"""Nothing that was measured is lost, whoever forgot to name a folder; and what is there is listed, whatever it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.cli.main import run
from moonpad.cli.measured import kept_in, measured_path
from moonpad.store.benches import benches_folder, new_bench_folder
from moonpad.values.errors import UsageError
from tests.faults.streaming_server import StreamingServer, answer
from tests.unit.bench.test_run import in_thread


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def server() -> Iterator[StreamingServer]:
    with in_thread(lambda number: answer(3)) as served:
        yield served


def bench(server: StreamingServer, *more: str) -> int:
    fixed = ("--no-calibrate", "--warmup", "0", "--requests", "6")
    return run(["bench", "--url", server.endpoint.base_url, *fixed, *more])


def test_a_run_is_kept_listed_and_compared_by_its_name(
    server: StreamingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(server) == 0
    assert bench(server, "--concurrency", "2") == 0
    written = re.findall(r"written: (\S+)", capsys.readouterr().err)
    assert [Path(path).parent for path in written] == [benches_folder()] * 2
    assert run(["runs", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert {row["folder"] for row in rows} == set(written)
    assert {row["load"] for row in rows} == {"4 users; random", "2 users; random"}
    assert {(row["state"], row["completed"], row["num_prompts"], row["model_id"]) for row in rows} == {
        ("whole", 6, 6, "kimi-k2")
    }
    assert run(["runs"]) == 0
    said = capsys.readouterr()
    assert "6 of 6" in said.out
    assert "moonpad compare last-1 last" in said.err
    assert run(["compare", "last-1", "last", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["paired_requests"] == 6


def test_a_run_that_was_killed_is_partial_with_its_counts(
    server: StreamingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(server) == 0
    folder = measured_path("last")
    (folder / "result.json").unlink()
    lines = (folder / "requests.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "requests.jsonl").write_bytes(b"".join(lines[:4]) + lines[4][:30])
    capsys.readouterr()
    assert run(["runs", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (row["state"], row["completed"], row["num_prompts"], row["load"]) == ("partial", 4, 6, "4 users; random")
    assert row["median_ttft_ms"] > 0
    before = server.chats
    assert run(["bench", "--url", server.endpoint.base_url, "--resume", "last", "--json"]) == 0
    assert server.chats - before == 2
    assert json.loads(capsys.readouterr().out)["completed"] == 6


def test_a_sweep_is_one_row(server: StreamingServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(server, "--sweep", "concurrency=1,2", "--requests-per-stream", "2") == 0
    capsys.readouterr()
    assert run(["runs", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (row["state"], row["num_prompts"]) == ("sweep", 6)
    assert row["load"].startswith("concurrency=1,2")
    assert run(["runs"]) == 0


@pytest.mark.parametrize("text", ["{", "[]", "null", "{}", '{"moonpad": 5}'])
@pytest.mark.parametrize("name", ["result.json", "sweep.json", "run.json"])
def test_a_folder_that_is_no_run_is_said_to_be_none(text: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (new_bench_folder() / name).write_text(text)
    assert run(["runs", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["state"] == "unreadable"
    assert run(["runs"]) == 0
    assert "unreadable" in capsys.readouterr().out


def test_nothing_was_measured(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs"]) == 0
    assert "Nothing was measured" in capsys.readouterr().out
    assert run(["runs", str(home / "none")]) == 2


def test_names(home: Path) -> None:
    for name in ("20260101-000000-aaaa", "20260101-000000-aabb", "20260202-000000-cccc"):
        (benches_folder() / name).mkdir(parents=True)
    assert measured_path("last").name == "20260202-000000-cccc"
    assert measured_path("last-2").name == "20260101-000000-aaaa"
    assert measured_path("20260202").name == "20260202-000000-cccc"
    assert measured_path("20260101-000000-aaaa").name == "20260101-000000-aaaa"
    assert measured_path(str(home)) == home
    for wrong, why in (("last-3", "3 runs were measured"), ("20260101", "2 runs begin so"), ("x", "no such")):
        with pytest.raises(UsageError, match=why):
            measured_path(wrong)


def test_a_measurement_that_never_began_leaves_no_folder(free_port: int) -> None:
    assert run(["bench", "--url", f"http://127.0.0.1:{free_port}/v1"]) == 6
    assert list(benches_folder().iterdir()) == []


def test_a_place_that_cannot_be_written_costs_the_files_and_not_the_run(
    home: Path, server: StreamingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "state").write_text("a file where the folder should be")
    assert bench(server, "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["completed"] == 6
    assert "this run is not kept" in said.err
    with kept_in(home) as folder:
        assert folder == home
