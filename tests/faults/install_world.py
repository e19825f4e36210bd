"""A home, wheels and a fallback index for a recipe of three tiny packages.

This file is also the program that the tests interrupt: `python install_world.py ROOT`.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from moonpad.catalog.recipes import Lock, parse_lock
from moonpad.engines.base import Engine
from moonpad.engines.install_recipe import Recipe
from moonpad.engines.vllm import VLLM_CPU
from moonpad.environments.build import InstallProgress
from moonpad.environments.install import Installation, install
from moonpad.environments.paths import EnvironmentFolder, folder_of
from moonpad.environments.preflight import Machine
from moonpad.facts.memory import Ram
from moonpad.facts.platform import System, this_system
from moonpad.facts.processor import Processor
from moonpad.values.errors import MoonpadError
from moonpad.values.records import replace
from moonpad.values.units import GIB

PYTHON = sys.version_info[:2]

# Says its version, after as many seconds as the test wants.
PROGRAM = """#!python
import os, sys, time
import fake_dep
time.sleep(float(os.environ.get("FAKE_SLEEP_S", "0")))
print("some library says 3.14")
print(fake_dep.VERSION)
"""


@dataclass(frozen=True)
class World:
    """A home of its own, the wheels that the user's pip finds, and a fallback index that `only_the_fallback` fills."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "engines"

    @property
    def wheels(self) -> Path:
        return self.root / "wheels"

    @property
    def fallback(self) -> Path:
        return self.root / "fallback"

    @property
    def lock(self) -> Lock:
        return parse_lock((self.root / "lock.txt").read_text())

    @property
    def engine(self) -> Engine:
        recipe = Recipe(
            name="fake-engine",
            version="1.0",
            lock="",
            unlocked=("fake-torch==2.0+cpu",),
            fallback_index=self.fallback.as_uri(),
            python=(PYTHON, PYTHON),
            system="Linux",
            machine=this_system().machine,
            glibc=None,
            processor_flags_any=("wide",),
            disk_bytes=20_000_000,
            download_bytes=10_000,
            memory_bytes=GIB,
            alias=("fake", "1.0+cpu"),
        )
        facts = replace(VLLM_CPU.facts, name="fake-engine")
        return replace(VLLM_CPU, facts=facts, command="fake-engine", recipe=recipe)

    @property
    def place(self) -> EnvironmentFolder:
        assert self.engine.recipe is not None
        return folder_of(self.engine.recipe, PYTHON, self.home)

    def install(self, **given: object) -> Installation:
        facts: dict[str, object] = {"machine": MACHINE, **given}
        return install(self.engine, InstallProgress(), home=self.home, lock=self.lock, **facts)  # type: ignore[arg-type]

    def start(self, **env: str) -> subprocess.Popen[str]:
        """The installation as a process; the first word of each of its lines is `phase`."""
        return subprocess.Popen(
            (sys.executable, __file__, str(self.root)),
            env={**os.environ, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )

    def processes(self) -> list[psutil.Process]:
        """Whatever still works in the environment."""
        processes = []
        folder = f"{self.place.folder}/"
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if any(word.startswith(folder) for word in process.cmdline()):
                    processes.append(process)
        return processes


MACHINE = Machine(
    system=System("Linux", this_system().machine, (2, 36)),
    python=PYTHON,
    has_venv=True,
    processor=Processor("Fake", frozenset({"wide"}), 2, 2),
    memory=Ram(8 * GIB, 6 * GIB),
)


def make_wheel(folder: Path, name: str, version: str, files: dict[str, str]) -> str:
    """The sha256 of a wheel with these files."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name.replace('-', '_')}-{version}"
    files = {
        **files,
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},sha256={_digest(text)},{len(text)}" for path, text in files.items()]
    record = "\n".join([*rows, f"{stem}.dist-info/RECORD,,", ""])
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inner, text in {**files, f"{stem}.dist-info/RECORD": record}.items():
            entry = zipfile.ZipInfo(inner)
            entry.external_attr = 0o100755 << 16  # the mode, or the script could not be executed
            wheel.writestr(entry, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world = World(tmp_path)
    dep = make_wheel(world.wheels, "fake-dep", "1.0", {"fake_dep.py": "VERSION = '1.0'\n"})
    scripts = {"fake_engine-1.0.data/scripts/fake-engine": PROGRAM, "fake_engine.py": "\n"}
    engine = make_wheel(world.wheels, "fake-engine", "1.0", scripts)
    make_wheel(world.wheels, "fake-torch", "2.0+cpu", {"fake_torch.py": "\n"})
    (world.fallback / "fake-torch").mkdir(parents=True)
    page = '<a href="fake_torch-2.0+cpu-py3-none-any.whl">fake_torch-2.0+cpu-py3-none-any.whl</a>'
    (world.fallback / "fake-torch" / "index.html").write_text(page)
    write_lock(world, dep=dep, engine=engine)
    (tmp_path / "empty-index").mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "empty-index").as_uri())
    monkeypatch.setenv("PIP_FIND_LINKS", str(world.wheels))
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "pip-cache"))
    yield world
    assert world.processes() == []


def write_lock(world: World, **hashes: str) -> None:
    lines = [f"fake-{name}==1.0 \\\n    --hash=sha256:{sha256}" for name, sha256 in hashes.items()]
    (world.root / "lock.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with pip alone: what an installation leaves that was interrupted early."""
    folder = tmp_path_factory.mktemp("bare") / "env"
    subprocess.run((sys.executable, "-m", "venv", folder), check=True)
    return folder


@pytest.fixture
def begun(world: World, bare: Path) -> World:
    """Saves the seconds that making an environment takes, where a test is not about that."""
    shutil.copytree(bare, world.place.folder, symlinks=True)
    return world


@pytest.fixture
def installed(begun: World) -> World:
    begun.install()
    return begun


def hash_in(world: World, name: str) -> str:
    wheel = next(world.wheels.glob(f"{name.replace('-', '_')}-*.whl"))
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


class Printed(InstallProgress):
    def phase(self, name: str, total: int | None = None) -> None:
        print(f"phase {name}", flush=True)


def main(root: Path) -> int:
    world = World(root)
    try:
        done = install(world.engine, Printed(), home=world.home, lock=world.lock, machine=MACHINE)
    except MoonpadError as error:
        print(error.message)
        return error.exit_code
    print("already" if done.already else "installed")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
