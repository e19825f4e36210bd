"""Installing an engine, with a recipe of three tiny packages and the real pip: every way that it can go wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from moonpad.environments.cancellation import Cancellation
from moonpad.environments.install import remove
from moonpad.environments.installed import find, list_installed, list_unfinished
from moonpad.environments.lock import locked
from moonpad.environments.preflight import Machine
from moonpad.facts.disk import Disk
from moonpad.facts.memory import Ram
from moonpad.facts.platform import System
from moonpad.facts.processor import Processor
from moonpad.values.errors import InstallError, PreflightRefused
from moonpad.values.finding import Code
from moonpad.values.records import replace
from moonpad.values.units import GIB
from tests.faults.install_world import MACHINE, World, bare, begun, hash_in, installed, make_wheel, world, write_lock

__all__ = ["bare", "begun", "installed", "world"]

DEADLINE_S = 120.0


def assert_good(world: World) -> None:
    engine = find("fake-engine", world.home)
    assert engine is not None
    answer = subprocess.run((engine.executable, "--version"), capture_output=True, text=True, check=True)
    assert answer.stdout.endswith("1.0\n")
    alias = "import importlib.metadata as m; print(m.version('fake'), m.version('fake-torch'))"
    answer = subprocess.run((engine.python, "-c", alias), capture_output=True, text=True, check=True)
    assert answer.stdout == "1.0+cpu 2.0+cpu\n"


def test_a_fresh_installation(world: World) -> None:
    assert find("fake-engine", world.home) is None
    done = world.install()
    assert not done.already
    assert_good(world)
    receipt = json.loads(world.place.receipt.read_text())
    assert receipt["packages"].items() >= {"fake-engine": "1.0", "fake-dep": "1.0", "fake-torch": "2.0+cpu"}.items()
    assert receipt["size_bytes"] > 1_000_000  # pip alone is larger
    assert done.engine == list_installed(world.home)[0]


def test_an_existing_one_is_recognised_without_any_process(installed: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError(f"a process was started: {args}")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    before = installed.place.receipt.stat().st_mtime_ns
    assert installed.install().already
    assert installed.place.receipt.stat().st_mtime_ns == before


def test_several_at_once_leave_one_good_environment(world: World) -> None:
    started = [world.start() for _ in range(3)]
    outputs = [process.communicate(timeout=DEADLINE_S)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], outputs
    builders = [process for process, output in zip(started, outputs, strict=True) if "phase fetching" in output]
    assert len(builders) == 1
    waited = [output for output in outputs if f"phase waiting for pid {builders[0].pid}" in output]
    assert waited, outputs
    assert sum("already" in output for output in outputs) == 2
    assert_good(world)


PHASES = ("making", "fetching fake-torch", "fetching 2", "asking")

MOMENTS = [
    *(pytest.param(phase, 0.3, signal.SIGINT, id=f"{phase}-INT") for phase in PHASES),
    pytest.param("fetching 2", 0.0, signal.SIGTERM, id="at once-TERM"),
    *(
        pytest.param(phase, after_s, number, id=f"{phase}-{after_s}-{number.name}", marks=pytest.mark.slow)
        for phase in PHASES
        for after_s in (0.0, 0.1, 0.6, 1.2)
        for number in (signal.SIGINT, signal.SIGTERM)
    ),
]


@pytest.mark.parametrize(("phase", "after_s", "number"), MOMENTS)
def test_interrupted_at_any_moment_leaves_no_process_and_the_next_one_finishes(
    world: World, bare: Path, phase: str, after_s: float, number: signal.Signals
) -> None:
    if phase != "making":
        shutil.copytree(bare, world.place.folder, symlinks=True)
    running = world.start(FAKE_SLEEP_S="60")  # or the last phase could be over before the signal comes
    wait_for(running, f"phase {phase}")
    time.sleep(after_s)
    running.send_signal(number)
    output, _ = running.communicate(timeout=30)
    assert running.returncode == 130, output
    assert "Traceback" not in output
    assert world.processes() == []
    assert find("fake-engine", world.home) is None
    assert set(list_unfinished(world.home)) <= {world.place.folder}  # none where the folder was still to be made
    assert not world.install().already
    assert_good(world)


def test_interrupted_while_waiting_for_another(begun: World) -> None:
    with locked(begun.place.lock, Cancellation()):
        waiting = begun.start()
        wait_for(waiting, f"phase waiting for pid {os.getpid()}")
        waiting.send_signal(signal.SIGINT)
        waiting.communicate(timeout=30)
        assert waiting.returncode == 130


def test_killed_without_warning_its_command_keeps_the_lock_until_it_has_ended(begun: World) -> None:
    running = begun.start(FAKE_SLEEP_S="60")
    wait_for(running, "phase asking")
    wait_until(lambda: bool(begun.processes()))
    (orphan,) = begun.processes()
    running.kill()
    running.wait()
    with pytest.raises(PreflightRefused, match=rf"a process that pid {running.pid} left running is working on it"):
        remove("fake-engine", begun.home)
    orphan.kill()
    wait_until(lambda: not begun.processes())
    assert not begun.install().already
    assert_good(begun)


def test_a_damaged_environment_is_repaired_each_time(installed: World) -> None:
    place = installed.place
    harms: dict[str, Callable[[], object]] = {
        "a torn receipt": lambda: place.receipt.write_text("{"),
        "a receipt of something else": lambda: place.receipt.write_text('{"schema": 1, "witnesses": 3}'),
        "a package without its record": lambda: (place.site_packages / "fake_engine-1.0.dist-info/RECORD").unlink(),
        "no program": lambda: place.program("fake-engine").unlink(),
        # Without it bin/python is the Python that the environment was made from, and pip would install there.
        "no pyvenv.cfg": lambda: (place.folder / "pyvenv.cfg").unlink(),
    }
    for name, harm in harms.items():
        harm()
        assert find("fake-engine", installed.home) is None, name
        assert not installed.install().already, name
        assert_good(installed)


def test_a_removal_that_was_killed_leaves_nothing_that_the_next_installation_trusts(installed: World) -> None:
    """Fault seen on a real machine: half of the environment was gone, pip's packages and pyvenv.cfg among it, and the
    engine was installed into the Python of the system."""
    installed.place.receipt.unlink()
    (installed.place.folder / "pyvenv.cfg").unlink()
    shutil.rmtree(installed.place.site_packages)
    installed.place.site_packages.mkdir()
    installed.install()
    assert_good(installed)


def test_a_package_that_was_installed_by_half_is_installed_again(installed: World) -> None:
    """pip itself would take it for installed: its metadata is there."""
    installed.place.receipt.unlink()
    (installed.place.site_packages / "fake_dep.py").write_text("VERSION")
    installed.install()
    assert_good(installed)


def test_another_lock_rebuilds_the_environment(installed: World) -> None:
    stale = installed.place.site_packages / "stale.py"
    stale.write_text("")
    dep = make_wheel(installed.wheels, "fake-dep", "1.0", {"fake_dep.py": "VERSION = '1.0'  # anew\n"})
    write_lock(installed, dep=dep, engine=hash_in(installed, "fake-engine"))
    assert not installed.install().already
    assert "anew" in (installed.place.site_packages / "fake_dep.py").read_text()
    assert not stale.exists()


def test_a_file_that_is_not_the_one_of_the_lock_is_refused_by_name(begun: World) -> None:
    write_lock(begun, dep="0" * 64, engine=hash_in(begun, "fake-engine"))
    with pytest.raises(InstallError, match=r"fake-dep==1\.0 is not the locked file: its sha256 is \w{64}") as error:
        begun.install()
    assert str(begun.place.log) in error.value.remedy
    assert "DO NOT MATCH" in begun.place.log.read_text()
    assert find("fake-engine", begun.home) is None


def test_the_fallback_is_not_asked_when_the_users_own_source_has_the_package(begun: World) -> None:
    begun.install()
    assert_good(begun)
    assert begun.fallback.as_uri() not in begun.place.log.read_text()


def test_the_fallback_is_asked_for_that_package_alone(begun: World) -> None:
    only_the_fallback(begun)
    begun.install()
    commands = [line for line in begun.place.log.read_text().splitlines() if line.startswith("$")]
    assert [begun.fallback.as_uri() in line for line in commands if "pip install" in line] == [False, True, False]


def test_a_package_that_no_index_has(begun: World) -> None:
    only_the_fallback(begun)
    shutil.rmtree(begun.fallback)
    with pytest.raises(InstallError, match=r"none of pip's sources has fake-torch==2\.0\+cpu") as error:
        begun.install()
    assert begun.fallback.as_uri() in error.value.remedy


def test_an_engine_of_another_version_gets_no_receipt(begun: World) -> None:
    dep = make_wheel(begun.wheels, "fake-dep", "1.0", {"fake_dep.py": "VERSION = '0.9'\n"})
    write_lock(begun, dep=dep, engine=hash_in(begun, "fake-engine"))
    with pytest.raises(InstallError, match=r"reports version 0\.9, expected 1\.0"):
        begun.install()
    assert not begun.place.receipt.exists()


def test_an_engine_that_cannot_be_imported_says_why(begun: World) -> None:
    dep = make_wheel(begun.wheels, "fake-dep", "1.0", {"fake_dep.py": "raise ImportError('libfake.so is missing')\n"})
    write_lock(begun, dep=dep, engine=hash_in(begun, "fake-engine"))
    with pytest.raises(InstallError, match=r"libfake\.so is missing"):
        begun.install()


SMALL = replace(MACHINE, memory=Ram(GIB // 2, GIB // 2, "/batch/7"))

REFUSALS = [
    (SMALL, Code.MEMORY_LOW, "1.00 GiB is needed to run it, the limit of the cgroup /batch/7 is 0.50 GiB"),
    (
        replace(MACHINE, processor=Processor("Old", frozenset({"sse2"}), 1, 1)),
        Code.PROCESSOR_UNSUPPORTED,
        "Old has none of",
    ),
    (replace(MACHINE, python=(3, 9)), Code.PLATFORM_UNSUPPORTED, "moonpad runs on Python 3.9"),
    (replace(MACHINE, has_venv=False), Code.PLATFORM_UNSUPPORTED, "without the modules venv and ensurepip"),
]


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is downloaded where nothing is started."""

    def refuse(*args: object, **kwargs: object) -> int:
        raise AssertionError(f"a command was run: {args}")

    monkeypatch.setattr("moonpad.environments.process.subprocess.Popen", refuse)


@pytest.mark.parametrize(("machine", "code", "words"), REFUSALS)
def test_refused_before_anything_is_downloaded(
    world: World, no_process: None, machine: Machine, code: Code, words: str
) -> None:
    with pytest.raises(PreflightRefused) as error:
        world.install(machine=machine)
    assert error.value.exit_code == 3
    assert [finding.code for finding in error.value.findings] == [code]
    assert words in error.value.findings[0].message
    assert error.value.findings[0].remedy
    assert not world.place.folder.exists()


def test_macos_is_refused_in_one_sentence(world: World, no_process: None) -> None:
    with pytest.raises(PreflightRefused) as error:
        world.install(machine=replace(MACHINE, system=System("Darwin", "arm64", None)))
    assert error.value.exit_code == 3
    assert "this is macOS on arm64; everything that needs no local engine still works." in error.value.message
    assert not error.value.findings
    assert not world.home.exists()


def test_a_full_disk_is_refused_with_both_numbers(world: World, no_process: None) -> None:
    with pytest.raises(PreflightRefused) as error:
        world.install(disk_of=lambda path: Disk(device=1, free_bytes=10_000_000))
    (finding,) = error.value.findings
    assert finding.code is Code.DISK_LOW
    assert finding.message == "0.02 GiB is needed there, 9.5 MiB is free"
    assert not world.place.folder.exists()


def test_a_place_that_cannot_be_written_is_an_error_and_not_a_traceback(world: World) -> None:
    world.home.write_text("a file where the folder should be")
    with pytest.raises(InstallError, match=str(world.home)):
        world.install()


def test_remove(installed: World) -> None:
    assert remove("fake", installed.home) == ()
    assert remove("fake-engine", installed.home) == (installed.place.folder,)
    assert list(installed.home.iterdir()) == []
    assert remove("fake-engine", installed.home) == ()


def test_what_is_in_use_is_not_removed(installed: World) -> None:
    program = installed.place.program("fake-engine")
    with subprocess.Popen((program, "--version"), env={**os.environ, "FAKE_SLEEP_S": "60"}) as running:
        try:
            wait_until(lambda: bool(installed.processes()))
            with pytest.raises(PreflightRefused, match=f"in use by pid {running.pid}"):
                remove("fake-engine", installed.home)
        finally:
            running.kill()
    assert_good(installed)


def only_the_fallback(world: World) -> None:
    """As on an ordinary machine: PyPI does not have the CPU build of torch."""
    shutil.move(world.wheels / "fake_torch-2.0+cpu-py3-none-any.whl", world.fallback / "fake-torch")


def wait_for(running: subprocess.Popen[str], line_start: str) -> None:
    """Reads lines until one begins so."""
    assert running.stdout is not None
    read = []
    for line in running.stdout:
        read.append(line)
        if line.startswith(line_start):
            return
    raise AssertionError(f"{line_start!r} never came: {read}")


def wait_until(true: Callable[[], bool], timeout_s: float = 20.0) -> None:
    until = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < until, "it never became true"
        time.sleep(0.05)
