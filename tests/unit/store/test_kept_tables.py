"""Large tables of the catalogue are kept as they are built, and read back as the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from moonpad.catalog import kept_rows, known_failures, known_reports, mended_faults, other_models, start_refusals
from moonpad.explain.checks.releases import told_faults
from moonpad.store.kept_tables import tables_kept

FILES = ("known_reports.toml",)
TABLES: tuple[tuple[str, Callable[[], object]], ...] = (
    ("known_reports_sglang", lambda: known_reports._of_file.__wrapped__("known_reports_sglang.toml")),
    ("mended_sglang", lambda: mended_faults._faults.__wrapped__("sglang")),
    ("start_refusals", start_refusals.start_refusals.__wrapped__),
    ("known_failures", known_failures.known_failures.__wrapped__),
    ("fault_words_sglang", lambda: told_faults._weights.__wrapped__("sglang")),
    ("other_models", other_models.other_models.__wrapped__),
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "moonpad" / "tables"


@pytest.mark.parametrize(("name", "table"), TABLES, ids=[name for name, _ in TABLES])
def test_a_kept_table_is_the_one_that_was_built(name: str, table: Callable[[], object], cache: Path) -> None:
    built = table()
    with tables_kept():
        assert table() == built
        kept = cache / f"{name}.msgpack"
        assert kept.stat().st_mode & 0o777 == 0o600
        written = kept.stat().st_mtime_ns
        read = table()
    assert read == built
    assert type(read) is type(built)
    assert kept.stat().st_mtime_ns == written


def _first() -> dict[str, int]:
    return {"a": 1}


def _second() -> dict[str, int]:
    return {"b": 2}


def test_it_is_read_and_not_built_again() -> None:
    with tables_kept():
        assert kept_rows.table(FILES, dict[str, int], _first) == {"a": 1}
        assert kept_rows.table(FILES, dict[str, int], _second) == {"a": 1}
    assert kept_rows.table(FILES, dict[str, int], _second) == {"b": 2}


def test_of_another_state_of_a_file_it_is_built_anew(cache: Path) -> None:
    with tables_kept():
        kept_rows.table(FILES, dict[str, int], _first)
        path = cache / "known_reports.msgpack"
        kept = msgspec.msgpack.decode(path.read_bytes())
        kept["of"][-1][2] += 1
        path.write_bytes(msgspec.msgpack.encode(kept))
        assert kept_rows.table(FILES, dict[str, int], _second) == {"b": 2}
        assert kept_rows.table(FILES, dict[str, int], _first) == {"b": 2}


@pytest.mark.parametrize("content", [b"", b"[[", b"\x82\xa2of\x90\xa5table\x01", b"\xff" * 100])
def test_a_spoilt_file_is_as_good_as_none(content: bytes, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "known_reports.msgpack").write_bytes(content)
    with tables_kept():
        assert kept_rows.table(FILES, dict[str, int], _second) == {"b": 2}


def test_a_table_of_another_form_is_built_anew(cache: Path) -> None:
    with tables_kept():
        kept_rows.table(FILES, dict[str, int], _first)
        assert kept_rows.table(FILES, list[int], lambda: [3]) == [3]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners here")
def test_a_file_that_others_may_write_is_not_read(cache: Path) -> None:
    with tables_kept():
        kept_rows.table(FILES, dict[str, int], _first)
        (cache / "known_reports.msgpack").chmod(0o666)
        assert kept_rows.table(FILES, dict[str, int], _second) == {"b": 2}


def test_no_folder_to_write_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    with tables_kept():
        assert kept_rows.table(FILES, dict[str, int], _second) == {"b": 2}


def test_explain_says_the_same_with_and_without_it(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("# SGLang 0.4.6\npython -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8\n")
    command = [sys.executable, "-m", "moonpad", "explain", "--file", str(script), "--json"]
    said = [
        subprocess.run(command, capture_output=True, check=False, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
        for _ in range(2)
    ]
    assert said[0].stdout == said[1].stdout != b""
    assert (tmp_path / ".cache" / "moonpad" / "tables" / "mended_sglang.msgpack").exists()
