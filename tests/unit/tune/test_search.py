"""The search on a pretended machine: what it finds, what it costs, and that a kill changes neither."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from moonpad.catalog.knobs import knobs
from moonpad.stats.bootstrap import Ratio
from moonpad.tune.candidate import DEFAULT, Candidate, Change
from moonpad.tune.halving import Measure, finalists
from moonpad.tune.kept import kept_visit
from moonpad.tune.order import Judged
from moonpad.tune.outcome import effects_of, outcome_of, ratio_words
from moonpad.tune.search import Search, replay
from moonpad.tune.visit import Visit
from moonpad.values.records import replace
from tests.unit.tune.world import CANDIDATES, START_S, Killed, Machine, machine

FAST = "--async-scheduling"
MORE = "max_num_batched_tokens = 2048"
EFFECTS = {FAST: 1.3, MORE: 1.2, "max_num_seqs = 8": 0.6}


def test_the_best_changes_are_found_together_and_confirmed(tmp_path: Path) -> None:
    world = machine(tmp_path, effects=EFFECTS)
    outcome = outcome_of(world.run(), "good requests/s")
    assert outcome.standing == "confirmed"
    assert outcome.winner is not None
    assert outcome.winner.id == f"{FAST}; {MORE}"
    assert outcome.best is not None
    ratio = outcome.best.ratio
    assert ratio is not None
    assert ratio.low is not None
    assert ratio.high is not None
    assert ratio.low < 1.56 < ratio.high
    assert ratio.low > 1
    assert len(outcome.sentences) == 2


def test_what_brings_nothing_is_not_in_the_winner(tmp_path: Path) -> None:
    outcome = outcome_of(machine(tmp_path, effects={FAST: 1.3}, noise=0.001).run(), "x")
    assert outcome.winner is not None
    assert outcome.winner.id == FAST


def test_where_nothing_helps_the_default_stays(tmp_path: Path) -> None:
    outcome = outcome_of(machine(tmp_path, noise=0.02).run(), "x")
    assert outcome.standing == "the default is best"
    assert outcome.winner is None


def test_the_default_is_measured_beside_every_few_candidates(tmp_path: Path) -> None:
    world = machine(tmp_path, effects=EFFECTS)
    world.run()
    screened = [id_ for id_, stage in world.measured if stage == "screen"]
    places = [at for at, id_ in enumerate(screened) if id_ == DEFAULT]
    assert places[0] == 0
    assert places[-1] == len(screened) - 1
    assert all(after - before <= 5 for before, after in pairwise(places))


def test_the_last_rounds_change_their_order(tmp_path: Path) -> None:
    world = machine(tmp_path, effects=EFFECTS)
    world.run()
    final = [id_ for id_, stage in world.measured if stage == "final"]
    assert final[0] == final[5] == final[6] == DEFAULT  # forth and back again


def test_a_faster_setting_that_answers_otherwise_is_told_and_the_next_is_tried(tmp_path: Path) -> None:
    world = machine(tmp_path, effects=EFFECTS, wrong=frozenset({FAST}))
    outcome = outcome_of(world.run(), "x")
    assert outcome.winner is not None
    assert outcome.winner.id == MORE
    refused = [row for row in outcome.rows if "answers otherwise" in row.because]
    assert any(FAST in row.candidate.id for row in refused)


def test_what_does_not_fit_is_never_started_and_what_does_not_start_is_tried_once(tmp_path: Path) -> None:
    world = machine(tmp_path, effects=EFFECTS, refused=frozenset({MORE}), broken=frozenset({"enforce_eager = false"}))
    outcome = outcome_of(world.run(), "x")
    started = [id_ for id_, _ in world.measured]
    assert not any(MORE in id_ for id_ in started)
    assert started.count("enforce_eager = false") == 1
    assert (MORE, "needs 3.0 GiB, 2.0 GiB is left") in [(one.id, because) for one, because in outcome.left_out]
    broken = next(row for row in outcome.rows if row.candidate.id == "enforce_eager = false")
    assert broken.because == "it did not start: no such option"


def test_what_is_predicted_to_help_is_measured_first(tmp_path: Path) -> None:
    world = machine(tmp_path, predicted={"max_num_seqs = 32": 1.4, FAST: 0.5})
    world.run()
    screened = [id_ for id_, stage in world.measured if stage == "screen" and id_ != DEFAULT]
    assert screened[0] == "max_num_seqs = 32"
    assert screened.index(FAST) > screened.index("prefix_caching = false")


@pytest.mark.parametrize("budget_s", [40.0, 200.0, 700.0, 1500.0, 2500.0])
def test_the_budget_is_a_hard_limit(tmp_path: Path, budget_s: float) -> None:
    world = machine(tmp_path, effects=EFFECTS)
    search = world.run(budget_s)
    assert search.spent_s <= budget_s
    outcome = outcome_of(search, "x")
    if budget_s < 1000:
        assert outcome.standing == "not confirmed"
        assert outcome.winner is None
        assert "budget" in outcome.ended


def test_a_larger_budget_goes_on(tmp_path: Path) -> None:
    world = machine(tmp_path, effects=EFFECTS)
    world.run(800.0)
    before = list(world.measured)
    assert outcome_of(world.run(1e6), "x").standing == "confirmed"
    again = world.measured[len(before) :]
    assert [one for one in again if one in before and one[1] == "screen" and one[0] != DEFAULT] == []


def test_what_had_no_time_enters_with_a_larger_budget(tmp_path: Path) -> None:
    world = machine(tmp_path, effects={"enforce_eager = false": 1.5})
    search = world.run(500.0)
    assert 0 < len(search.entered) < len(search.order)
    assert outcome_of(search, "x").standing == "not confirmed"
    assert outcome_of(world.run(1e6), "x").standing == "confirmed"


def killed_at(path: Path, whole: Machine, wanted: dict[str, object], moment: int) -> None:
    world = machine(path / str(moment), effects=EFFECTS, kill_at=moment)
    with pytest.raises(Killed):
        world.run()
    assert replay("throughput", world.folder.events()).running  # whose visit was begun
    assert outcome_of(world.run(), "x").as_json() == wanted
    assert world.calls == whole.calls + 1  # the one that was killed, again
    assert world.judged == whole.judged


def test_a_kill_changes_nothing_of_the_result(tmp_path: Path) -> None:
    whole = machine(tmp_path / "whole", effects=EFFECTS)
    wanted = outcome_of(whole.run(), "x").as_json()
    for moment in (1, whole.calls // 2, whole.calls):
        killed_at(tmp_path, whole, wanted, moment)


@pytest.mark.slow
def test_a_kill_at_any_moment_changes_nothing_of_the_result(tmp_path: Path) -> None:
    whole = machine(tmp_path / "whole", effects=EFFECTS)
    wanted = outcome_of(whole.run(), "x").as_json()
    for moment in range(1, whole.calls + 1):
        killed_at(tmp_path, whole, wanted, moment)


def test_a_torn_line_is_measured_again(tmp_path: Path) -> None:
    world = machine(tmp_path, effects=EFFECTS, kill_at=7)
    with pytest.raises(Killed):
        world.run()
    lines = world.folder.journal_path.read_bytes().splitlines(keepends=True)
    at = max(place for place, line in enumerate(lines) if json.loads(line)["event"] == "visit")
    world.folder.journal_path.write_bytes(b"".join(lines[:at]) + lines[at][:50])
    assert outcome_of(world.run(), "x").standing == "confirmed"


def test_the_time_of_a_killed_visit_counts(tmp_path: Path) -> None:
    world = machine(tmp_path)
    folder = world.folder
    for event, fields in (
        ("begin", {"candidate": DEFAULT, "stage": "screen", "round": 0}),
        ("beat", {"seconds": 17.5}),
        ("begin", {"candidate": DEFAULT, "stage": "screen", "round": 0}),
        ("beat", {"seconds": 4.0}),
    ):
        folder.append(event, **fields)
    assert replay("throughput", folder.events()).spent_s == 21.5


def test_nothing_is_done_once_it_is_over(tmp_path: Path) -> None:
    world = machine(tmp_path, effects=EFFECTS)
    world.run()
    calls = world.calls
    world.run()
    assert world.calls == calls


def test_a_noisy_machine_gets_more_rounds_and_wider_intervals(tmp_path: Path) -> None:
    world = machine(tmp_path, effects={FAST: 1.2}, noise=0.15)
    search = world.run()
    assert search.sizes is not None
    assert 3 < search.sizes.rounds <= 8
    assert search.sizes.looks == search.sizes.rounds - 2
    assert search.final_worths(FAST)[1]


def test_half_of_the_machine_speed_changes_no_ratio(tmp_path: Path) -> None:
    """What an earlier tune kept is taken over as a ratio to its own default."""
    folder = tmp_path / "state" / "moonpad" / "tunes" / "a-000000000000"
    machine(folder, effects=EFFECTS, base=10.0).run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        kept = kept_visit(tmp_path / "other", f"{FAST} 16", f"{DEFAULT} 16", "screen", 5.0)
        assert kept is not None
        assert kept.worth == pytest.approx(6.5, rel=0.05)
        assert kept.kept_from == "a-000000000000"
        assert kept.seconds == 0.0
        assert kept_visit(tmp_path / "other", f"{FAST} 17", f"{DEFAULT} 17", "screen", 5.0) is None
        assert kept_visit(folder, f"{FAST} 16", f"{DEFAULT} 16", "screen", 5.0) is None  # its own


def test_each_knob_s_effect_is_its_own_alone(tmp_path: Path) -> None:
    outcome = outcome_of(machine(tmp_path, effects=EFFECTS).run(), "x")
    effects = {effect.knob: effect for effect in effects_of(outcome)}
    assert effects["async_scheduling"].ratio.value == pytest.approx(1.3, rel=0.05)
    assert effects["max_num_batched_tokens"].value == MORE
    assert effects["async_scheduling"].in_winner
    assert not effects["max_num_seqs"].in_winner


def test_halving_measures_less_than_everything_at_length(tmp_path: Path) -> None:
    world = machine(tmp_path, effects=EFFECTS)
    search = world.run()
    everything_s = len(CANDIDATES) * 6 * (START_S + 64 * 0.25)
    assert search.spent_s < everything_s


def test_a_default_that_keeps_no_limit_has_no_ratio_and_can_be_beaten(tmp_path: Path) -> None:
    world = machine(tmp_path, base=0.0)
    world.true_worth = lambda candidate: 3.0 if FAST in candidate.id else 0.0  # type: ignore[method-assign]
    outcome = outcome_of(world.run(), "good requests/s")
    assert outcome.winner is not None
    assert outcome.winner.id == FAST
    assert "the default none" in outcome.sentences[0]


def test_what_the_limits_hide_of_one_change_is_found_beside_another(tmp_path: Path) -> None:
    """8 sequences keep the limit alone, 16 only with the graphs, which alone keep it for nobody."""
    worths = {
        frozenset({"max_num_seqs = 8"}): 10.0,
        frozenset({"max_num_seqs = 8", "enforce_eager = false"}): 12.0,
        frozenset({"max_num_seqs = 16", "enforce_eager = false"}): 18.0,
    }
    world = machine(tmp_path, whole_s={"enforce_eager = false": 0.7})
    world.true_worth = lambda one: worths.get(frozenset(each.words for each in one.changes), 0.0)  # type: ignore[method-assign]
    outcome = outcome_of(world.run(), "good requests/s")
    assert outcome.winner is not None
    assert outcome.winner.id == "enforce_eager = false; max_num_seqs = 16"


def test_how_fast_the_machine_was_counts_where_the_default_keeps_no_limit() -> None:
    def visit(id_: str, worth: float, speed: float) -> Visit:
        return Visit(id_, "screen", 0, 64, worths=(worth,), figures={"request_throughput": speed})

    early, late = "max_num_seqs = 16", "max_num_seqs = 8"
    slow, fast = visit(DEFAULT, 0.0, 10.0), visit(DEFAULT, 0.0, 30.0)
    search = Search("throughput", visits=[slow, visit(early, 12.0, 9.0), slow, fast, visit(late, 18.0, 25.0), fast])
    assert [id_ for id_, _ in search.ranked((late, early), "screen")] == [early, late]


@pytest.mark.parametrize("default", [0.0, 0.02])
def test_a_change_more_counts_by_its_gain_also_where_the_default_keeps_next_to_nothing(default: float) -> None:
    """21.9 beside 20.6 good requests a second is 6 % more, whatever either is over the default's 0."""
    part, whole = "max_num_seqs = 16", "enforce_eager = false; max_num_seqs = 16"
    graphs, few = Change.to(knobs()["enforce_eager"], False), Change.to(knobs()["max_num_seqs"], 16)

    def visit(id_: str, worth: float) -> Visit:
        return Visit(id_, "again", 0, 128, worths=(worth,), figures={"request_throughput": 25.0})

    search = Search("throughput", kept=(part, whole))
    search.judged = {part: Judged(Candidate((few,))), whole: Judged(Candidate((graphs, few)))}
    search.visits = [visit(DEFAULT, default), visit(part, 20.6), visit(whole, 21.9), visit(DEFAULT, 0.0)]
    assert finalists(search, 2) == (whole, part)
    assert dict(search.ranked((part, whole), "again"))[whole] > 20


def test_a_default_that_keeps_the_limits_for_next_to_nothing_has_no_exact_ratio() -> None:
    assert ratio_words(Ratio(961.5, 246.1, 3756.5)) == "more than × 20"
    assert ratio_words(Ratio(19.0, 15.0, 24.0)) == "× 19.00 (15.00 to 24.00)"


@pytest.mark.parametrize(("times", "ended"), [(1, "the winner is proved"), (3, "the default failed 3 times")])
def test_a_default_that_fails_later_is_measured_again(tmp_path: Path, times: int, ended: str) -> None:
    world = machine(tmp_path, effects=EFFECTS)
    real, seen = world.measure, []

    def measure(search: Search, action: Measure, left_s: float, beat: Callable[[float], None]) -> Visit:
        visit = real(search, action, left_s, beat)
        if (action.candidate, action.stage) == (DEFAULT, "again") and len(seen) < times:
            seen.append(action)
            return replace(visit, worths=(), problem="its port was taken")
        return visit

    world.measure = measure  # type: ignore[method-assign]
    search = world.run()
    assert search.ended.startswith(ended)
    assert (outcome_of(search, "x").winner is None) == (times == 3)


def test_a_default_that_does_not_start_ends_it(tmp_path: Path) -> None:
    world = machine(tmp_path)
    broken = Visit(DEFAULT, "screen", 0, 16, problem="port 8000 is taken")
    world.measure = lambda search, action, left_s, beat: broken  # type: ignore[method-assign]
    assert world.run().ended == "the default cannot be measured: port 8000 is taken"
