"""Builds from source: real git, venv and pip, with two tiny repositories and a pretended CANN."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from moonpad.catalog.source_builds import Repository, SourceBuild, source_build, source_builds
from moonpad.catalog.toml_rows import Provenance
from moonpad.cli import engine_install
from moonpad.environments.build import InstallProgress
from moonpad.environments.installed import find
from moonpad.environments.source_install import SourceInstall
from moonpad.environments.source_steps import steps
from moonpad.facts.cann import Cann, cann, parse_install_info
from moonpad.facts.probe import Unknown
from moonpad.values.errors import InstallError, PreflightRefused
from moonpad.values.records import replace

INFO = "package_name=Ascend-cann-toolkit\nversion={}\ninnerversion=V100R001\narch=x86_64\n"
OURS = sys.version_info[:2]
# A build backend of its own, so that building needs no index. It fails without the variable that the step must set.
BACKEND = """
import os, zipfile
def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    assert os.environ.get({variable!r}) == {value!r}, "{variable} is not set"
    name = "{package}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        info = "{package}-{version}.dist-info"
        wheel.writestr("{package}.pth", os.getcwd())
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: {package}\\nVersion: {version}\\n")
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "/RECORD", "")
    return name
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def git(folder: Path, *argv: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(
        ("git", *identity, "-C", str(folder), *argv), check=True, capture_output=True, text=True
    ).stdout.strip()


def repository(folder: Path, package: str, version: str, variable: str, value: str) -> Repository:
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / package).mkdir()
    (folder / package / "__init__.py").write_text("")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    backend = BACKEND.format(variable=variable, value=value, package=package, version=version)
    (folder / "backend.py").write_text(backend)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "first")
    git(folder, "tag", f"v{version}")
    return Repository(folder.as_uri(), f"v{version}", git(folder, "rev-parse", "HEAD")[:9])


@dataclass(frozen=True)
class World:
    root: Path
    build: SourceBuild

    @property
    def install(self) -> SourceInstall:
        return SourceInstall(self.build, "python", self.root / "engines", self.root / "Ascend")


def install_cann(root: Path, version: str = "9.1.0") -> None:
    info = root / "ascend-toolkit" / "latest" / f"{platform.machine()}-linux" / "ascend_toolkit_install.info"
    info.parent.mkdir(parents=True)
    info.write_text(INFO.format(version))
    (root / "ascend-toolkit" / "set_env.sh").write_text("export CANN_WAS_SOURCED=yes\n")
    (root / "nnal" / "atb").mkdir(parents=True)
    (root / "nnal" / "atb" / "set_env.sh").write_text('export ATB_WAS_SOURCED="${CANN_WAS_SOURCED}"\n')


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    index = tmp_path / "index"
    triton = index / "triton-ascend" / "triton_ascend-3.2.2-py3-none-any.whl"
    triton.parent.mkdir(parents=True)
    subprocess.run(
        (
            sys.executable,
            "-c",
            BACKEND.format(variable="A", value="", package="triton_ascend", version="3.2.2")
            + f"\nos.environ['A'] = ''\nbuild_editable({str(triton.parent)!r})",
        ),
        check=True,
    )
    (triton.parent / "index.html").write_text(f'<a href="{triton.name}">{triton.name}</a>')
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("npu-smi", "gcc", "g++", "cmake"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    build = SourceBuild(
        engine="vllm-ascend",
        version="0.23.0",
        pythons=(OURS,),
        cann="9.1.0",
        base=repository(tmp_path / "vllm.git", "vllm_base", "0.23.0", "VLLM_TARGET_DEVICE", "empty"),
        plugin=repository(tmp_path / "plugin.git", "vllm_ascend", "0.23.0", "ATB_WAS_SOURCED", "yes"),
        base_env={"VLLM_TARGET_DEVICE": "empty"},
        imports=("vllm_base", "vllm_ascend"),
        triton="triton-ascend==3.2.2",
        provenance=Provenance("here", "2026-11-25", "verified"),
        triton_index=index.as_uri(),
    )
    install_cann(tmp_path / "Ascend")
    return World(tmp_path, build)


@pytest.mark.slow
def test_it_is_built_once_and_found(world: World) -> None:
    world.install.refuse()
    built = world.install.run(InstallProgress())
    assert built.version == "0.23.0"
    assert find("vllm-ascend", world.root / "engines") == built
    log = world.install.place.log
    log.unlink()
    assert world.install.run(InstallProgress()) == built
    assert not log.exists()  # nothing was run
    moved = replace(world.build, plugin=replace(world.build.plugin, commit="0123456"))
    with pytest.raises(
        InstallError, match=r"comparing its commit with 0123456 failed: it is [0-9a-f]{40}: the tag was"
    ):
        replace(world.install, build=moved).run(InstallProgress())
    assert find("vllm-ascend", world.root / "engines") is None


@pytest.mark.slow
def test_the_printed_script_builds_the_same(world: World, tmp_path: Path) -> None:
    script = tmp_path / "build.sh"
    script.write_text(world.install.script)
    ran = subprocess.run(("bash", script.name), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith("vllm-ascend 0.23.0\n")
    assert (tmp_path / "vllm-ascend-0.23.0" / "src" / "plugin" / "vllm_ascend").is_dir()
    script.write_text(world.install.script.replace(world.build.base.commit, "0123456"))
    ran = subprocess.run(("bash", script.name), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr.endswith("another commit than 0123456\n")


def test_without_cann_it_is_refused_with_its_files(world: World, tmp_path: Path) -> None:
    with pytest.raises(PreflightRefused) as refused:
        replace(world.install, root=tmp_path / "none", build=replace(world.build, pythons=((3, 9),))).refuse()
    findings = {finding.where: finding.message for finding in refused.value.findings}
    assert set(findings) == {"CANN", "Python"}
    assert "ascend_toolkit_install.info: No such file or directory" in findings["CANN"]


def test_another_release_of_cann_is_refused(world: World, tmp_path: Path) -> None:
    install_cann(tmp_path / "old", "8.5.1")
    with pytest.raises(PreflightRefused) as refused:
        replace(world.install, root=tmp_path / "old").refuse()
    (finding,) = refused.value.findings
    assert finding.message == "8.5.1 is installed; vllm-ascend 0.23.0 needs 9.1.0"
    install_cann(tmp_path / "rebuilt", "9.1.0.1")
    replace(world.install, root=tmp_path / "rebuilt").refuse()


def test_without_npu_smi_the_chip_must_be_named(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin" / "npu-smi").unlink()
    with pytest.raises(PreflightRefused) as refused:
        world.install.refuse({})
    (finding,) = refused.value.findings
    assert finding.where == "npu-smi"
    assert "SOC_VERSION: ascend910_9391 for A3" in finding.remedy
    world.install.refuse({"SOC_VERSION": "ascend910_9391"})


def test_the_files_of_cann(tmp_path: Path) -> None:
    install_cann(tmp_path)
    found = cann(tmp_path, {})
    assert isinstance(found, Cann)
    assert found.version == "9.1.0"
    elsewhere = cann(tmp_path, {"ASCEND_HOME_PATH": str(tmp_path / "elsewhere")})
    assert isinstance(elsewhere, Unknown)
    (tmp_path / "nnal" / "atb" / "set_env.sh").unlink()
    without_nnal = cann(tmp_path, {})
    assert isinstance(without_nnal, Unknown)
    assert without_nnal.reason.endswith("nnal/atb/set_env.sh does not exist")
    with pytest.raises(ValueError, match="no line begins with version="):
        parse_install_info("innerversion=1\n")


@pytest.mark.parametrize("build", source_builds(), ids=lambda build: build.version)
def test_pairs_belong_together(build: SourceBuild) -> None:
    """vLLM-Ascend is versioned after the vLLM that it is for."""
    assert build.plugin.tag == f"v{build.version}"
    assert build.plugin.tag.startswith(build.base.tag)
    assert source_build(build.engine, build.version) is build
    assert len(build.base.commit) >= 9


@pytest.mark.parametrize(("machine", "indexes"), [("x86_64", 2), ("aarch64", 1)])
def test_the_steps_of_the_tutorial_are_all_there(machine: str, indexes: int) -> None:
    """Both clones, their tags, the empty target, both editable installations and the import."""
    build = source_build("vllm-ascend")
    assert build is not None
    scripts = (Path("/a/set_env.sh"), Path("/b/set_env.sh"))
    listed = steps(build, Path("env"), Path("python3"), machine, scripts)
    commands = [" ".join([*(f"{key}={value}" for key, value in each.env.items()), *each.argv]) for each in listed]
    text = "\n".join(commands)
    for repository_url in ("https://github.com/vllm-project/vllm ", "https://github.com/vllm-project/vllm-ascend.git "):
        assert f"git clone --depth 1 --branch v0.23.0 {repository_url}" in text
    assert any(each.startswith("VLLM_TARGET_DEVICE=empty env/bin/python") for each in commands)
    assert sum("--editable" in each for each in commands) == 2
    (built,) = [each for each in listed if each.what == "building vllm-ascend"]
    assert len(built.env["PIP_EXTRA_INDEX_URL"].split()) == indexes
    assert "import torch, torch_npu, vllm, vllm_ascend" in commands[-1]
    assert shlex.join(listed[-1].argv).startswith("bash -c ")


def test_here_the_steps_are_printed_and_the_build_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "none"))
    engine_install.install("vllm-ascend", dry_run=True)
    assert capsys.readouterr().out.startswith("set -euo pipefail\n# vllm-ascend 0.23.0, for CANN 9.1.0\n")
    with pytest.raises(PreflightRefused) as refused:
        engine_install.install("vllm-ascend")
    assert refused.value.remedy.endswith("moonpad engine install vllm-ascend --dry-run")
    assert "CANN" in {finding.where for finding in refused.value.findings}
    assert not list(tmp_path.iterdir())
