"""The user's own deployment beside a tune: left alone, refused for, or taken down and put back."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from moonpad.tune import in_place
from moonpad.tune.in_place import make_room, put_back, taken_down
from moonpad.tune.journal import TuneFolder
from moonpad.values.errors import PreflightRefused
from moonpad.values.plan import Platform

SPEC = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n'


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A run `k` that is up; what is done to it is written down."""
    (tmp_path / "spec.toml").write_text(SPEC)
    done: list[str] = []
    run = SimpleNamespace(
        name="k", run_id="k-1", path=tmp_path, about=lambda: {"spec": str(tmp_path / "k.toml"), "stop_grace_s": 4.0}
    )
    state = SimpleNamespace(run=run, done=done, folder=TuneFolder(tmp_path / "tune"))

    def stop(*args: object, **options: object) -> None:
        assert taken_down(state.folder.events()), "the journal knows before anything is stopped"
        done.append(f"stopped, drained for {options['drain_s']}")
        state.run = None

    monkeypatch.setattr(in_place, "running_run", lambda name: state.run)
    monkeypatch.setattr(in_place, "current_run", lambda name: None)
    monkeypatch.setattr(in_place, "stop_run", stop)
    monkeypatch.setattr(in_place, "prepare", lambda loaded, despite: loaded)
    monkeypatch.setattr(in_place, "start", lambda loaded, tick, stays: done.append(f"started {loaded.spec.name}"))
    return state


def subject(platform: Platform, copies: int = 1, hosts: tuple[str, ...] = ()) -> Any:
    spec = SimpleNamespace(name="k", launch=SimpleNamespace(drain_s=7.0), hosts=hosts)
    return SimpleNamespace(
        loaded=SimpleNamespace(spec=spec),
        prepared=SimpleNamespace(engine=SimpleNamespace(platform=platform)),
        load=SimpleNamespace(copies=copies),
    )


def test_on_a_processor_it_is_left_alone(world: Any) -> None:
    said: list[str] = []
    make_room(world.folder, subject(Platform.CPU), in_place=False, say=said.append)
    assert world.done == []
    assert "stays as it is" in said[0]
    assert put_back(world.folder, said.append) is False


@pytest.mark.parametrize("tuned", [subject(Platform.CUDA), subject(Platform.CPU, hosts=("a", "b"))])
def test_on_devices_and_over_hosts_it_is_refused_with_the_remedy(world: Any, tuned: Any) -> None:
    with pytest.raises(PreflightRefused, match="holds what its candidates need") as caught:
        make_room(world.folder, tuned, in_place=False, say=lambda text: None)
    assert "--in-place" in caught.value.remedy
    assert world.done == []


@pytest.mark.parametrize("drained", [True, False])
def test_copies_behind_a_router_are_their_owners_to_stop(world: Any, drained: bool) -> None:
    with pytest.raises(PreflightRefused) as caught:
        make_room(world.folder, subject(Platform.CUDA, copies=2), in_place=drained, say=lambda text: None)
    assert caught.value.remedy.startswith("moonpad down k")
    assert world.done == []


def test_in_place_drains_it_and_puts_it_back_once(world: Any) -> None:
    make_room(world.folder, subject(Platform.CUDA), in_place=True, say=lambda text: None)
    assert world.done == ["stopped, drained for 7.0"]
    assert put_back(world.folder, lambda text: None)
    assert world.done[1:] == ["started k"]
    assert not put_back(world.folder, lambda text: None)


def test_a_deployment_that_its_owner_started_again_stays(world: Any) -> None:
    run = world.run
    make_room(world.folder, subject(Platform.CPU), in_place=True, say=lambda text: None)
    world.run = run
    assert put_back(world.folder, lambda text: None)
    assert world.done == ["stopped, drained for 7.0"]


def test_nothing_is_taken_down_where_nothing_runs(world: Any) -> None:
    world.run = None
    make_room(world.folder, subject(Platform.CUDA), in_place=False, say=lambda text: None)
    assert world.done == []
