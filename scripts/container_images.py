"""Builds images of the embedded engine, and of the fake one of the tests, from this machine's own packages.

    python scripts/container_images.py fake|vllm-cpu|systemd|mpi …

They are `localhost/moonpad-fake` and `localhost/moonpad-vllm-cpu`, each a Debian of its own (mmdebstrap takes the
machine's sources) with `vllm` on its path, `localhost/moonpad-systemd`, which runs systemd for the units of the tests,
and `localhost/moonpad-mpi`, with Open MPI, sshd and the tests' stand-in for TensorRT-LLM. The engine is the one that
`moonpad engine install vllm-cpu` made, at the same path inside. Printed is each image's name with its digest, which is
what `[engine] image` takes.

Needs mmdebstrap and podman. A podman that cannot run a container for want of rights over limits and cgroups gets
settings of its own (`workable_settings`); they are printed first, as a line for the shell.
"""

from __future__ import annotations

import configparser
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PLACE: Final = Path.home() / ".cache" / "moonpad" / "podman"
BASE: Final = "localhost/moonpad-base"
# g++ compiles what torch makes of the sampler at the first request, numa and gomp are what its wheels link to.
PACKAGES: Final = (
    *("python3", "g++", "ca-certificates", "libnuma1", "libgomp1", "libssl3", "libffi8", "libsqlite3-0"),
    *("zlib1g", "libbz2-1.0", "liblzma5", "libreadline8", "libncursesw6"),
)
# podman asks for higher limits than a machine without CAP_SYS_RESOURCE may give.
WITHOUT_LIMITS: Final = """#!/usr/bin/env python3
import json, os, sys
words = sys.argv[1:]
for word, value in zip(words, words[1:] + [""]):
    word, _, rest = word.partition("=")
    value = rest or value
    if word in ("--bundle", "-b"):
        path, process = os.path.join(value, "config.json"), lambda document: document["process"]
    elif word in ("--process", "-p"):
        path, process = value, lambda document: document
    else:
        continue
    with open(path) as file:
        document = json.load(file)
    process(document).pop("rlimits", None)
    with open(path, "w") as file:
        json.dump(document, file)
os.execv(%r, ["runc", *words])
"""


def main(names: list[str]) -> None:
    if not names or set(names) - {"fake", "vllm-cpu", "systemd", "mpi"}:
        sys.exit(__doc__)
    for program in ("podman", "mmdebstrap"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not on PATH; install it first, as: apt-get install {program}")
    settings = workable_settings()
    if settings is not None:
        os.environ["CONTAINERS_CONF"] = str(settings)
        print(f"export CONTAINERS_CONF={settings}")
    if subprocess.run(("podman", "image", "exists", BASE), check=False).returncode:
        _make_debian(BASE, PACKAGES)
    for name in names:
        print({"fake": fake, "vllm-cpu": vllm_cpu, "systemd": systemd, "mpi": mpi}[name](), flush=True)


def workable_settings() -> Path | None:
    """A containers.conf with which podman runs a container here; None where it does so by itself.

    Without systemd podman has to manage cgroups itself, and crun refuses where versions 1 and 2 of them are mixed.
    """
    if shutil.which("systemctl") and subprocess.run(("systemctl", "is-system-running"), capture_output=True).stdout in (
        b"running\n",
        b"degraded\n",
    ):
        return None
    runc = shutil.which("runc")
    if runc is None:
        sys.exit("without systemd podman needs runc; install it first, as: apt-get install runc")
    PLACE.mkdir(parents=True, exist_ok=True)
    wrapper = PLACE / "runc"
    wrapper.write_text(WITHOUT_LIMITS % runc)
    wrapper.chmod(0o755)
    settings = PLACE / "containers.conf"
    settings.write_text(
        '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
        f"[engine.runtimes]\nrunc = [{json.dumps(str(wrapper))}]\n"
    )
    return settings


def fake() -> str:
    """The engine of tests/fake_engine as an image with `vllm` on its path."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _copy_fake(folder)
        text = f"FROM {BASE}\nCOPY fake_engine /opt/fake_engine\nCOPY vllm /usr/local/bin/vllm\n"
        (folder / "Dockerfile").write_text(f'{text}ENTRYPOINT ["vllm"]\n')
        return _build("localhost/moonpad-fake", folder)


def vllm_cpu() -> str:
    """The embedded engine at the path where it is on this machine, with the Python that it runs on."""
    engines = sorted((Path.home() / ".cache" / "moonpad" / "engines").glob("vllm-cpu-*/pyvenv.cfg"))
    if not engines:
        sys.exit("the embedded engine is not installed; first: moonpad engine install vllm-cpu")
    engine = engines[-1].parent
    config = configparser.ConfigParser()
    config.read_string("[venv]\n" + engines[-1].read_text())
    python = Path(config["venv"]["home"]).parent
    packed = ("tar", "--create", "--directory=/", "--exclude=__pycache__", str(engine)[1:])
    if python != Path("/usr"):  # Debian's own is in the base
        packed = (*packed, str(python)[1:])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with (folder / "engine.tar").open("wb") as file:
            subprocess.run(packed, stdout=file, check=True)
        path = f"{engine}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        text = f'FROM {BASE}\nADD engine.tar /\nENV PATH={path}\nENTRYPOINT ["vllm"]\n'
        (folder / "Dockerfile").write_text(text)
        return _build("localhost/moonpad-vllm-cpu", folder)


def systemd() -> str:
    """A Debian whose first process is systemd, with the fake engine as `bin/vllm` of an environment, /opt/engine."""
    name = "localhost/moonpad-systemd"
    _make_debian(name, (*PACKAGES, "systemd", "dbus"), change=("--change", 'CMD ["/lib/systemd/systemd"]'))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _copy_fake(folder)
        text = f"FROM {name}\nCOPY fake_engine /opt/fake_engine\nCOPY vllm /opt/engine/bin/vllm\n"
        (folder / "Dockerfile").write_text(text)
        return _build(name, folder)


def mpi() -> str:
    """A Debian with Open MPI, sshd and the stand-in for the programs of TensorRT-LLM."""
    sys.path.insert(0, str(ROOT))
    from tests.e2e.mpi_stand_in import make_stand_in

    name = "localhost/moonpad-mpi"
    _make_debian(name, ("python3", "openssh-server", "openmpi-bin"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_stand_in(folder / "engine", "/usr/bin/python3")
        (folder / "Dockerfile").write_text(f"FROM {name}\nCOPY engine/bin/ /usr/local/bin/\n")
        return _build(name, folder)


def _make_debian(name: str, packages: tuple[str, ...], change: tuple[str, ...] = ()) -> None:
    print(f"{name}: some two minutes", file=sys.stderr)
    with tempfile.TemporaryDirectory() as place:
        tar = Path(place) / "base.tar"
        words = ("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(packages)}", _release(), str(tar))
        subprocess.run(words, check=True)
        subprocess.run(("podman", "import", "--quiet", *change, str(tar), name), check=True, stdout=subprocess.DEVNULL)


def _copy_fake(folder: Path) -> None:
    """Its code, and `vllm`, which runs it."""
    shutil.copytree(ROOT / "tests" / "fake_engine", folder / "fake_engine", ignore=shutil.ignore_patterns("__py*__"))
    program = folder / "vllm"
    program.write_text('#!/bin/sh\nexec python3 -I -S /opt/fake_engine/vllm.py "$@"\n')
    program.chmod(0o755)


def _release() -> str:
    """`bookworm`: that of the machine, for then its sources and its engine's libraries fit."""
    lines = Path("/etc/os-release").read_text().splitlines()
    return next(line.partition("=")[2].strip('"') for line in lines if line.startswith("VERSION_CODENAME="))


def _build(name: str, folder: Path) -> str:
    subprocess.run(("podman", "build", "--quiet", "--tag", name, str(folder)), check=True, stdout=subprocess.DEVNULL)
    asked = ("podman", "image", "inspect", "--format", "{{.Digest}}", name)
    return f"{name}@{subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()}"


if __name__ == "__main__":
    main(sys.argv[1:])
