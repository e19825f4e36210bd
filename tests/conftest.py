"""What every test may ask for: a world of its own, and the proof that nothing of it is left."""

from __future__ import annotations

import datetime
import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from moonpad.values.redaction import forget_all
from tests import ports
from tests.fake_environment import compiled, make_environment
from tests.world import World

ROOT = Path(__file__).resolve().parent.parent

# Hypothesis fails an example that takes longer than 0.2 s; on a busy machine any does.
settings.register_profile("moonpad", deadline=None)
settings.register_profile("same-again", deadline=None, derandomize=True)
settings.load_profile("moonpad")


# Tests that run by themselves after all others, which share the machine among workers.
SERIAL = {
    "tests/e2e": "the real engine uses every core",
    "tests/engines": "the parsers of the real engines use gigabytes",
    "tests/live": "the real engine uses the GPU",
    "tests/browser": "one browser for all its pages",
    "tests/faults/test_bench_honesty.py": "measures the client's own delay",
    "tests/unit/load/test_client_error.py": "measures the client's own delay",
}


def pytest_configure(config: pytest.Config) -> None:
    """`make test` draws the same each time: what fails there is what was changed. All else looks for what is new."""
    if "not slow" in config.getoption("markexpr"):
        settings.load_profile("same-again")
    # Before xdist starts its workers, which must all draw the same.
    os.environ.setdefault("DRAWN", datetime.datetime.now(datetime.UTC).date().isoformat())


def pytest_sessionstart() -> None:
    gc.disable()  # collecting makes a million objects that all stay


def pytest_collection_finish() -> None:
    """Twenty thousand tests are no garbage: each full collection of it within a test took longer than most tests do."""
    gc.freeze()
    gc.enable()


def pytest_report_header() -> str:
    return f"of the tests marked `drawn`: DRAWN={os.environ['DRAWN']}"


SHARE = 20
"""Of the tests marked `drawn`, which take hours together, one in so many runs: `DRAWN=2026-11-25 make test-all` runs
those of that day, `DRAWN=all` all."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of the tests that run alone only their files are imported: of seven hundred some ten. Nor are those that
    `make test` leaves out: to import a file of tests takes as long as to run it, in each worker."""
    if not TEST_FILE.fullmatch(collection_path.name):
        return None
    if config.option.markexpr in ("serial", "not slow and serial"):
        runs_alone = _is_below(collection_path, _serial()) or "mark.serial" in collection_path.read_text()
        return None if runs_alone else True
    asked = any(Path(arg.partition("::")[0]).resolve() == collection_path for arg in config.args)
    if "not slow" not in config.option.markexpr or asked:
        return None
    return True if _is_dear(str(collection_path.relative_to(ROOT)), _dear_tests(files=True)) else None


TEST_FILE = re.compile(r"test_\w+\.py")


@cache
def _serial() -> tuple[Path, ...]:
    places = tuple(ROOT / place for place in SERIAL)
    assert all(path.exists() for path in places), "SERIAL names a file that has moved"
    return places


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = os.environ["DRAWN"]
    if seed != "all":
        left_out = {item for item in items if item.get_closest_marker("drawn") and not _chosen(item.nodeid, seed)}
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))
    dear = _dear_tests()
    for item in items:
        if _is_below(item.path, _serial()):
            item.add_marker(pytest.mark.serial)
        if _is_dear(item.nodeid, dear):
            item.add_marker(pytest.mark.slow)


@cache
def _is_below(path: Path, places: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(place) for place in places)


@cache
def _dear_tests(files: bool = False) -> dict[int, re.Pattern[str]]:
    """The patterns of tests/dear_tests.txt by the share that `make test` runs: 4 is one in four, 0 none. Those of
    tests, or those of files."""
    patterns: dict[int, list[str]] = {}
    for line in (ROOT / "tests" / "dear_tests.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            share = DEAR_SHARE.match(line)
            if files is not (share is not None and share["files"] is not None):
                continue
            # Only `*` means something: ids hold brackets, which fnmatch reads as sets.
            pattern = re.escape(line[share.end() if share else 0 :]).replace(re.escape("*"), ".*")
            patterns.setdefault(int(share["of"]) if share else 0, []).append(pattern)
    return {share: re.compile(f"(?:{'|'.join(wanted)})" + r"\Z") for share, wanted in patterns.items()}


DEAR_SHARE = re.compile(r"1 of (?P<of>[0-9]+) (?P<files>files )?")


def _is_dear(nodeid: str, dear: dict[int, re.Pattern[str]]) -> bool:
    return any(
        pattern.match(nodeid) and (share == 0 or zlib.crc32(nodeid.encode()) % share != 0)
        for share, pattern in dear.items()
    )


def one_and_drawn(values: Iterable[Any]) -> list[Any]:
    """For `parametrize`: the first always, of the others as many as are drawn."""
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.drawn) for value in others)]


def _chosen(nodeid: str, seed: str) -> bool:
    return zlib.crc32(f"{seed} {nodeid}".encode()) % SHARE == 0


# What a script starts with `&` has SIGINT ignored, and so would every command that is interrupted here.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the user's own runs have measured must not reach the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True)
def _no_signal_handler_of_another_test() -> Iterator[None]:
    """A command that is interrupted within this process leaves its signals ignored, as it would at its end."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.fixture(autouse=True)
def _no_secret_of_another_test() -> Iterator[None]:
    """What a test has as a key may be a plain word of the next one."""
    yield
    forget_all()


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Moonpad:
    """The `moonpad` command in a home of its own."""

    home: Path
    env: dict[str, str]

    def command(self, *argv: str) -> tuple[str, ...]:
        return (sys.executable, "-m", "moonpad", *argv)

    def __call__(self, *argv: str, timeout_s: float = 120.0, **env: str) -> Done:
        done = subprocess.run(
            self.command(*argv),
            env={**self.env, **env},
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *argv: str, **env: str) -> subprocess.Popen[str]:
        """The command without waiting for it, in a process group of its own, as a shell would."""
        return subprocess.Popen(
            self.command(*argv),
            env={**self.env, **env},
            cwd=self.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )

    @property
    def state(self) -> Path:
        return self.home / "state" / "moonpad"

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of the current run of that name."""
        run = json.loads((self.state / "endpoints" / f"{name}.json").read_text())["run"]
        lines = (self.state / "runs" / run / "events.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def moonpad(tmp_path: Path) -> Moonpad:
    """The command with an empty HOME and empty caches."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH", "MOONPAD_CGROUP") if name in os.environ}
    env = {
        **kept,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "NO_COLOR": "1",
    }
    return Moonpad(home, env)


@pytest.fixture(scope="session")
def _kept_by_explain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache that a first `explain` leaves: to make it takes seconds of the processor."""
    home = tmp_path_factory.mktemp("explained")
    (home / "start.txt").write_text("vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8\n")
    command = (sys.executable, "-m", "moonpad", "explain", "--file", "start.txt")
    env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    subprocess.run(command, env=env, cwd=home, capture_output=True, timeout=120, check=False)
    return home / "cache"


@pytest.fixture
def explained_before(moonpad: Moonpad, _kept_by_explain: Path) -> None:
    """The home of `moonpad` has what an earlier `explain` kept; tests/unit/store compares with what it says without."""
    shutil.copytree(_kept_by_explain, moonpad.home / "cache")


@pytest.fixture(scope="session")
def _engine_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("code"))


@pytest.fixture
def fake_engine(tmp_path: Path, _engine_code: Path) -> Path:
    """A pretended environment whose `vllm` is the fake engine; the path of its Python."""
    return make_environment(tmp_path / "engine", _engine_code)


@pytest.fixture
def free_port() -> int:
    return ports.free_port()


# A policy that a test can wait for. `restarts = 0`: one end is final, unless the test asks for more (`set_launch`).
LAUNCH = {
    "start_timeout": "20s",
    "stop_grace": "4s",
    "drain": "0s",
    "restarts": 0,
    "restart_backoff": "100ms",
    "min_healthy": "1s",
    "stall_after": "2s",
    "stall_probe": "1s",
}


@pytest.fixture
def fake_spec(moonpad: Moonpad, fake_engine: Path, free_port: int) -> Path:
    """A spec that runs the fake engine."""
    spec = moonpad.home / "fake.toml"
    launch = "".join(f"{name} = {json.dumps(value)}\n" for name, value in LAUNCH.items())
    spec.write_text(
        f'model = "kimi-k2-tiny"\n\n[engine]\nname = "vllm-cpu"\npython = "{fake_engine}"\n\n'
        f"[endpoint]\nport = {free_port}\n\n[launch]\n{launch}"
    )
    return spec


@pytest.fixture
def clean_world(moonpad: Moonpad, free_port: int) -> Iterator[None]:
    """No process, port, lock, shared memory or temporary file of the test is left at its end (tests/world.py)."""
    world = World(moonpad.home, free_port)
    yield
    left = world.sweep()
    assert not left, "\n".join(left)
