"""Nothing that was measured is lost, whoever forgot to name a folder; and what is there is listed, whatever it is."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.cli.command_line import run
from moonpad.cli.run_argument import measured_path, output_folder
from moonpad.store.result_folders import bench_name, benches_folder, new_bench_folder
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
    captured = capsys.readouterr()
    assert "6 of 6" in captured.out
    assert "moonpad compare last-1 last" in captured.err
    # Runs this short may be the client's own.
    assert run(["compare", "last-1", "last", "--accept-client-bound", "--json"]) == 0
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


@pytest.mark.parametrize(
    ("options", "whole", "cut", "load", "requested", "completed"),
    [
        (("--sweep", "concurrency=1,2,10", "--requests-per-stream", "2"), "sweep", "concurrency-10",
         "concurrency=1,2,10", 26, 25),
        (("--repeat", "2"), "repeat", "run-2", "4 users; random, 2 times", 12, 11),
    ],
    ids=["sweep", "repeats"],
)  # fmt: skip
def test_what_was_killed_among_its_parts_is_partial_with_the_counts_of_those(
    options: tuple[str, ...],
    whole: str,
    cut: str,
    load: str,
    requested: int,
    completed: int,
    server: StreamingServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert bench(server, *options) == 0
    folder = measured_path("last")
    (folder / f"{whole}.json").unlink()
    (folder / cut / "result.json").unlink()
    lines = (folder / cut / "requests.jsonl").read_bytes().splitlines(keepends=True)
    (folder / cut / "requests.jsonl").write_bytes(b"".join(lines[:-1]))
    (folder / f"{cut}.before-1").mkdir()
    (folder / f"{cut}.before-1" / "run.json").write_bytes((folder / cut / "run.json").read_bytes())
    capsys.readouterr()
    assert run(["runs", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (row["state"], row["load"], row["num_prompts"], row["completed"]) == ("partial", load, requested, completed)
    assert row["output_throughput"] > 0
    assert row["model_id"] == "kimi-k2"


@pytest.mark.parametrize(
    ("key", "value", "state"),
    [("p99_ttft_ms", "fast", "whole"), ("output_throughput", [1], "whole"), ("num_prompts", "six", "unreadable"),
     ("model_id", 5, "unreadable"), ("date", None, "unreadable")],
)  # fmt: skip
def test_a_result_of_others_may_hold_anything(
    key: str, value: object, state: str, server: StreamingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(server) == 0
    file = measured_path("last") / "result.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
    capsys.readouterr()
    assert run(["runs"]) == 0
    assert state in capsys.readouterr().out
    assert run(["runs", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["state"] == state
    assert row.get(key) in (None, "", 0)


def test_the_next_command_is_of_a_run_that_can_be_used(
    server: StreamingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(server) == 0
    whole = measured_path("last").name
    assert bench(server) == 0
    (measured_path("last") / "result.json").unlink()
    capsys.readouterr()
    assert run(["runs"]) == 0
    assert f"Next: moonpad report {whole}\n" in capsys.readouterr().err
    assert run(["runs", str(benches_folder())]) == 0
    assert f"Next: moonpad report {benches_folder() / whole}\n" in capsys.readouterr().err
    (benches_folder() / whole / "result.json").write_text("{")
    assert run(["runs"]) == 0
    assert "Next: moonpad bench SPEC.toml\n" in capsys.readouterr().err


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
    assert "No runs in" in capsys.readouterr().out
    assert run(["runs", str(home / "none")]) == 2


def test_names(home: Path) -> None:
    for name in ("20260101-000000-aaaa", "20260101-000000-aabb", "20260202-000000-cccc"):
        (benches_folder() / name).mkdir(parents=True)
    assert measured_path("last").name == "20260202-000000-cccc"
    assert measured_path("last-2").name == "20260101-000000-aaaa"
    assert measured_path("20260202").name == "20260202-000000-cccc"
    assert measured_path("20260101-000000-aaaa").name == "20260101-000000-aaaa"
    assert measured_path(str(home)) == home
    for wrong, why in (
        ("last-3", "there are only 3 runs"),
        ("20260101", "2 runs have names that begin with it"),
        ("x", "no such"),
    ):
        with pytest.raises(UsageError, match=why):
            measured_path(wrong)


def test_a_measurement_that_never_began_leaves_no_folder(free_port: int) -> None:
    assert run(["bench", "--url", f"http://127.0.0.1:{free_port}/v1"]) == 6
    assert list(benches_folder().iterdir()) == []


def test_names_sort_as_they_were_made() -> None:
    """Two of one second too."""
    instants = [1_800_000_000 + part / 65536 for part in (1, 20_001, 40_001, 60_001, 65_536)]
    names = [bench_name(at_s) for at_s in instants]
    assert names == sorted(set(names))
    assert names[0] == "20270115-080000-0001"
    assert names[-1] == "20270115-080001-0000"


@pytest.mark.parametrize("options", [(), ("--repeat", "2"), ("--sweep", "concurrency=1,2")], ids=str)
def test_a_full_disk_costs_the_files_and_not_the_run(
    options: tuple[str, ...],
    server: StreamingServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A folder can still be made on a full disk, and nothing be written in it."""

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("moonpad.store.result_folders.os.fsync", full)
    assert bench(server, "--requests-per-stream", "2", *options) == 0
    captured = capsys.readouterr()
    assert "No space left on device; this run is not saved" in captured.err
    assert "\nwritten: " not in captured.err
    assert captured.out
    assert list(benches_folder().iterdir()) == []


def test_a_place_that_cannot_be_written_costs_the_files_and_not_the_run(
    home: Path, server: StreamingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "state").write_text("a file where the folder should be")
    assert bench(server, "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["completed"] == 6
    assert "this run is not saved" in captured.err
    with output_folder(home) as folder:
        assert folder == home
