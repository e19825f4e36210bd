"""`moonpad tune` beside a deployment of the user's: killed at any time, it leaves nothing and goes on where it was."""

from __future__ import annotations

import random
import time
import tomllib
from pathlib import Path

import pytest

from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, set_process_option
from tests.conftest import Moonpad
from tests.drawn import of_the_day, seed_of_the_day
from tests.faults import oracle
from tests.faults.helpers import NAME, await_state, set_launch
from tests.faults.tuning import Tuning

pytestmark = pytest.mark.usefixtures("clean_world")


@pytest.fixture
def tuning(moonpad: Moonpad, fake_spec: Path) -> Tuning:
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    return Tuning(fake_spec, moonpad.env, moonpad.state, NAME)


def test_a_killed_tune_leaves_nothing_and_goes_on(moonpad: Moonpad, tuning: Tuning, free_port: int) -> None:
    tuning.budget = "2m"
    assert moonpad("up", str(tuning.spec)).code == 0
    before = tuning.own()
    child = tuning.start()
    tuning.await_events("visit", 1)
    tuning.await_events("begin", 2)
    tuning.kill(child)
    visits = tuning.count("visit")
    tuning.await_candidate_gone()  # without the command
    tuning.budget = "6s"
    document = tuning.finish()
    assert document["standing"] in ("confirmed", "not confirmed", "the default is best")
    assert tuning.count("visit") >= visits, "a slow machine may have used up the budget"
    assert sum(one["event"] == "order" for one in tuning.journal()) == 1, "nothing is planned twice"
    assert tuning.own() == before
    assert oracle.served(free_port)
    assert not tuning.candidate_lives()
    assert [row["name"] for row in moonpad("status", "--json").json["endpoints"]] == [NAME]
    assert moonpad("down", NAME).code == 0


@pytest.mark.slow
def test_in_place_drains_and_a_resumed_tune_puts_it_back(moonpad: Moonpad, tuning: Tuning, free_port: int) -> None:
    set_launch(tuning.spec, drain="1s")
    tuning.more = ("--in-place",)
    assert moonpad("up", str(tuning.spec)).code == 0
    before = tuning.own()
    child = tuning.start()
    tuning.await_events("begin", 1)
    assert not oracle.served(free_port), "it was taken down"
    tuning.kill(child)
    tuning.await_candidate_gone()
    assert not oracle.served(free_port)
    tuning.budget = "10s"
    tuning.finish()
    assert await_state(moonpad, "ready")["base_url"].endswith(f":{free_port}/v1")
    assert len(tuning.own()) == len(before)
    assert moonpad("up", str(tuning.spec), "--json").json["changed"] is False
    assert moonpad("down", NAME).code == 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_kills(moonpad: Moonpad, tuning: Tuning, free_port: int) -> None:
    """At moments that are drawn over the whole of a tune; every other one has the user's deployment drained first. Five
    a day; benchmarks/tune_kills.py does all twenty."""
    dice = random.Random(seed_of_the_day("tune"))
    assert moonpad("up", str(tuning.spec)).code == 0
    for number in range(of_the_day(20)):
        tuning.more = ("--in-place", "--fresh") if number % 2 else ("--fresh",)
        before = tuning.own()
        child = tuning.start()
        time.sleep(dice.uniform(0.5, 25.0))
        tuning.kill(child)
        tuning.await_candidate_gone()
        tuning.more = tuple(word for word in tuning.more if word != "--fresh")
        tuning.finish()
        await_state(moonpad, "ready")
        assert not tuning.candidate_lives(), number
        assert (tuning.own() == before) if not number % 2 else (len(tuning.own()) == len(before)), number
        assert oracle.served(free_port)
    assert moonpad("down", NAME).code == 0


@pytest.mark.slow
def test_of_copies_behind_a_router_one_is_tuned(moonpad: Moonpad, tuning: Tuning) -> None:
    """No router is installed here: none is started."""
    with tuning.spec.open("a") as spec:
        spec.write('\n[router]\nname = "sglang-router"\nreplicas = 2\n')
    tuning.budget = "15s"
    document = tuning.finish()
    assert document["load"]["concurrency"] == 1
    assert document["load"]["copies"] == 2
    assert document["standing"] in ("confirmed", "not confirmed", "the default is best")
    if written := document.get("spec_written"):
        assert tomllib.loads(Path(written).read_text())["router"]["replicas"] == 2
    assert moonpad("status", "--json").json["endpoints"] == []


@pytest.mark.slow
def test_a_second_tune_of_the_same_is_refused(moonpad: Moonpad, tuning: Tuning) -> None:
    child = tuning.start()
    tuning.await_events("order", 1)
    second = tuning.start()
    _, errors = second.communicate(timeout=60)
    assert second.returncode == 3
    assert "the same is being tuned by pid" in errors
    tuning.kill(child)
    tuning.await_candidate_gone()


def test_a_file_of_the_user_is_not_overwritten(moonpad: Moonpad, fake_spec: Path) -> None:
    taken = fake_spec.with_name("fake-tuned.toml")
    taken.write_text("# mine\n")
    other = moonpad("tune", str(fake_spec), "--workload", "32:8")
    assert other.code == 2
    assert "tune did not write it" in other.stderr
    assert taken.read_text() == "# mine\n"
