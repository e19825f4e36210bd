"""`engine install --library`: where DeepEP and DeepGEMM come from, the steps of a build, and what refuses it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from moonpad.catalog.kernel_libraries import KernelLibrary, kernel_libraries, kernel_library
from moonpad.catalog.recipes import read_lock
from moonpad.cli import engine_install
from moonpad.engines import ENGINES
from moonpad.environments.kernel_build import KernelInstall, kernel_steps, nvcc
from moonpad.environments.source_steps import script_of
from moonpad.facts.probe import Unknown
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.records import replace


def deepep() -> KernelLibrary:
    library = kernel_library("vllm", "deepep")
    assert library is not None
    return library


def test_each_has_one_origin_and_goes_with_the_engine_that_is_installed() -> None:
    for library in kernel_libraries():
        assert sum(map(bool, (library.package, library.within, library.build))) == 1, library
        recipe = ENGINES[library.engine].recipe
        assert recipe is not None
        assert library.engine_version == recipe.version
        if library.package:
            assert library.package in read_lock(recipe.lock).pins
        if library.build is not None:
            assert library.build.torch == read_lock(recipe.lock).pins["torch"]
            assert library.build.torch_cuda == recipe.cuda
            assert len(library.commit) == 40


def test_the_steps_name_every_pin() -> None:
    library = deepep()
    assert library.build is not None
    steps = kernel_steps(library, library.build, Path("/env"))
    script = script_of("deepep", steps)
    build = next(step for step in steps if step.argv[0] == "bash")
    assert build.env == {"VIRTUAL_ENV": "/env", "TORCH_CUDA_ARCH_LIST": "9.0a 10.0a"}
    assert build.argv[-4:] == ("--deepep-ref", library.commit, "--nvshmem-ver", "3.3.24")
    assert [step.commit for step in steps if step.commit] == [library.build.tools.commit, library.commit]
    assert subprocess.run(("bash", "-n", "-c", script), check=False).returncode == 0


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No programs, no driver, no engine."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    return tmp_path


def test_refused_with_all_that_is_missing(bare: Path) -> None:
    with pytest.raises(PreflightRefused) as refused:
        engine_install.install("vllm", library="deepep")
    where = {finding.where for finding in refused.value.findings}
    assert {"vllm", "uv", "git", "nvcc", "nvidia-smi"} <= where
    assert "--dry-run" in refused.value.remedy


@pytest.mark.parametrize(("release", "says"), [("11.8", "of CUDA 11"), ("12.9", "torch 2.13.0")])
def test_a_compiler_of_another_cuda(bare: Path, release: str, says: str) -> None:
    program = bare / "cuda" / "bin" / "nvcc"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {release}, V{release}.1'\n")
    program.chmod(0o755)
    library = deepep()
    assert library.build is not None
    with pytest.raises(PreflightRefused) as refused:
        KernelInstall(library, library.build, bare).refuse({"CUDA_HOME": str(bare / "cuda")})
    (message,) = [finding.message for finding in refused.value.findings if finding.where == "nvcc"]
    assert says in message


def test_no_compiler(tmp_path: Path) -> None:
    assert isinstance(nvcc({"CUDA_HOME": str(tmp_path)}), Unknown)


def test_a_dry_run_needs_nothing_and_prints_json(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine_install.install("vllm", library="deepep", dry_run=True, json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["commit"] == deepep().commit
    assert document["pins"] == {"torch": "2.13.0", "cuda": 13, "nvshmem": "3.3.24", "architectures": "9.0a 10.0a"}
    assert document["steps"][0]["argv"][:2] == ["git", "clone"]


@pytest.mark.parametrize(
    ("engine", "library", "says"),
    [
        ("vllm", "deepgemm", "in its wheel, vllm/third_party/deep_gemm"),
        ("sglang", "deepep", "sgl-deep-ep 0.1.2.post1"),
        ("sglang", "deepgemm", "sgl-deep-gemm 0.2.3.post2"),
    ],
)
def test_what_comes_with_the_engine(
    bare: Path, engine: str, library: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    engine_install.install(engine, library=library)
    assert says in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("engine", "options"), [("ktransformers", {}), ("vllm", {"nightly": True}), ("sglang-router", {})]
)
def test_a_library_that_there_is_not(engine: str, options: dict[str, bool]) -> None:
    with pytest.raises(UsageError):
        engine_install.install(engine, library="deepep", **options)  # type: ignore[arg-type]


def test_one_that_is_there_is_known_by_its_commit(tmp_path: Path) -> None:
    library = deepep()
    assert library.build is not None
    install = KernelInstall(library, replace(library.build, distribution="deep_ep"), tmp_path)
    assert not install.is_there
    info = install.place.site_packages / f"deep_ep-2.0.0+{library.commit[:7]}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: deep_ep\nVersion: 2.0.0+{library.commit[:7]}\n")
    (info / "RECORD").write_text("")
    assert install.is_there
