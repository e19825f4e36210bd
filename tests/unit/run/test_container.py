"""What a container gets to see of a checkpoint, and who runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.facts.probe import Unknown
from moonpad.run import container
from moonpad.run.container import ContainerEngine, checkpoint_mount, find_client, running_container
from moonpad.values.deployment import Mount
from moonpad.values.errors import CheckpointError, PreflightRefused


def test_a_plain_folder(tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()
    assert checkpoint_mount(tmp_path) == (Mount(str(tmp_path), "/checkpoint"), "/checkpoint")


def test_a_snapshot_of_a_cache(tmp_path: Path) -> None:
    """Its files are links to blobs beside it, so the repository is what the container needs."""
    repository = tmp_path / "models--org--name"
    snapshot = repository / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    (repository / "blobs" / "1").touch()
    (snapshot / "config.json").symlink_to("../../blobs/1")
    assert checkpoint_mount(snapshot) == (Mount(str(repository), "/checkpoint"), "/checkpoint/snapshots/abc")


@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_that_leads_out(tmp_path: Path, absolute: bool) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "weights").touch()
    (folder / "weights").symlink_to(tmp_path / "weights" if absolute else "../weights")
    with pytest.raises(CheckpointError) as caught:
        checkpoint_mount(folder)
    assert str(folder / "weights") in caught.value.findings[0].where


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_docker_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PreflightRefused) as caught:
        find_client("i")
    assert "neither docker nor podman" in caught.value.findings[0].message
    program(tmp_path, "podman", "exit 0")
    assert find_client("i") == ContainerEngine(str(tmp_path / "podman"), "i")
    program(tmp_path, "docker", "echo no daemon >&2; exit 1")
    assert find_client("i") == ContainerEngine(str(tmp_path / "podman"), "i"), "the one that answers"
    program(tmp_path, "podman", "echo no rights >&2; exit 125")
    with pytest.raises(PreflightRefused) as caught:
        find_client("i")
    assert "no daemon" in caught.value.findings[0].message
    assert "no rights" in caught.value.findings[0].message
    program(tmp_path, "docker", "exit 0")
    assert find_client("i") == ContainerEngine(str(tmp_path / "docker"), "i")


def test_whether_the_container_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its label, and an unknown answer is neither yes nor no."""
    client = str(tmp_path / "docker")
    program(tmp_path, "docker", 'test "$3" = label=moonpad.run=tiny-1 && echo moonpad-tiny-1')
    assert running_container(client, "tiny-1") == "moonpad-tiny-1"
    program(tmp_path, "docker", "echo a warning >&2")
    assert running_container(client, "tiny-1") is None
    program(tmp_path, "docker", "echo Cannot connect to the Docker daemon >&2; exit 1")
    away = running_container(client, "tiny-1")
    assert isinstance(away, Unknown)
    assert "Cannot connect" in away.reason
    program(tmp_path, "docker", "exec sleep 60")
    monkeypatch.setattr(container, "ASK_LIMIT_S", 0.2)
    hung = running_container(client, "tiny-1")
    assert isinstance(hung, Unknown)
    assert "timed out" in hung.reason
