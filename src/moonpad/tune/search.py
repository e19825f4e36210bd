"""What is known so far, from the lines of the journal. What is next follows from nothing else (halving.py), so a search
that was killed goes on where it was. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final

from moonpad.stats.bootstrap import Ratio
from moonpad.tune.candidate import DEFAULT, UNCHANGED, Candidate
from moonpad.tune.order import Judged
from moonpad.tune.visit import Stage, Visit
from moonpad.tune.worth import TuneGoal, ratio_of_runs, ratio_within, widened

WORTH_IT: Final = 1.02
"""A ratio below this is not worth a changed spec, however sure it is."""
QUICKER: Final = 1.1
QUICKER_BESIDE_NONE: Final = 1.03
"""Where the default keeps the limits for nothing: all that a visit tells of such a change is how quick it is."""
NEXT_TO_NOTHING: Final = 0.001
"""Good requests of all that a default answers. Fewer of them count as so many, so that gains can be compared."""
STEADY: Final = 2.0
"""A default whose visits differ by more than this factor is near a limit, and no measure of the machine's speed."""
WHOLE: Final = "median_e2el_s"
SPEED: Final = "request_throughput"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured: requests of one run of the load in each stage; candidates that enter the first; rounds of
    the last, in each of which every finalist and the default run `runs` loads; how many reach it."""

    screen: int
    again: int
    final: int
    enter: int
    rounds: int
    runs: int
    finalists: int
    looks: int = 1
    """How often the last stage was judged: each look widens its intervals, so that all hold together."""


@dataclass(slots=True)
class Search:
    """`judged`: by id, all candidates. `order`: those that can run, most promising first. `entered`, `kept`: the ids of
    the first stage and of the second. `spent_s`: of the budget, by every session. `ended`: why it is over, "" if not.
    """

    goal: TuneGoal
    judged: dict[str, Judged] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    sizes: Sizes | None = None
    entered: tuple[str, ...] = ()
    kept: tuple[str, ...] | None = None
    visits: list[Visit] = field(default_factory=list)
    spent_s: float = 0.0
    running: str = ""
    """The candidate whose visit was begun and not ended: a session that was killed."""
    ended: str = ""

    def candidate(self, id_: str) -> Candidate:
        return UNCHANGED if id_ == DEFAULT else self.judged[id_].candidate

    def of(self, id_: str, stage: Stage) -> list[Visit]:
        return [visit for visit in self.visits if visit.candidate == id_ and visit.stage == stage]

    def problem(self, id_: str) -> str:
        """Why a candidate is out, "" if it is not: it does not run, gives wrong answers, or was hopeless."""
        for visit in self.visits:
            if visit.candidate == id_:
                if visit.problem:
                    return visit.problem
                if visit.answers:
                    return f"it answers otherwise: {visit.answers[0]}"
                if visit.hopeless:
                    return "it was given up halfway: whatever came, it could not have reached the default"
        return ""

    # --- ratios ---------------------------------------------------------------------------------------------------

    def beside(self, visit: Visit) -> list[Visit]:
        """The visits of the default just before and after one, in the same stage: what it is compared with."""
        place = next(at for at, each in enumerate(self.visits) if each is visit)
        before = [each for each in self.visits[:place] if _is_default(each, visit.stage)]
        after = [each for each in self.visits[place + 1 :] if _is_default(each, visit.stage)]
        return [*before[-1:], *after[:1]]

    def ratio(self, id_: str, stage: Stage) -> Ratio | None:
        """A candidate's worth over the default's beside it; None where there is none."""
        own = [visit for visit in self.of(id_, stage) if visit.worth is not None]
        if not own:
            return None
        if stage == "final":
            return self._final_ratio(id_)
        visit = own[-1]
        value = self._gain(visit)
        if value is None:
            return None
        samples = [sample for default in self.beside(visit) for sample in default.samples]
        within = ratio_within(samples, visit.samples, value, self.goal)
        return widened(within, [one.worth for one in self.of(DEFAULT, stage) if one.worth])

    def _gain(self, visit: Visit) -> float | None:
        """Its worth over that of the default beside it; None where that is worth nothing."""
        defaults = [default.worth or 0.0 for default in self.beside(visit)]
        base = fmean(defaults) if defaults else 0.0
        return None if base <= 0 or visit.worth is None else visit.worth / base

    def _final_ratio(self, id_: str) -> Ratio | None:
        default, own = self.final_worths(id_)
        others = max(1, len({visit.candidate for visit in self.visits if visit.stage == "final"}) - 1)
        return ratio_of_runs(default, own, questions=others * (self.sizes.looks if self.sizes else 1))

    def final_worths(self, id_: str) -> tuple[list[float], list[float]]:
        """The worths of the default and of a candidate in the rounds that both have, run by run."""
        mine = {visit.round: visit.worths for visit in self.of(id_, "final") if visit.worth is not None}
        base = {visit.round: visit.worths for visit in self.of(DEFAULT, "final") if visit.worth is not None}
        rounds = sorted(set(mine) & set(base))
        return [w for at in rounds for w in base[at]], [w for at in rounds for w in mine[at]]

    def final_gain(self, id_: str) -> float:
        """The ratio of the last stage; a very large one where the default is worth nothing."""
        default, own = self.final_worths(id_)
        return fmean(own) / max(fmean(default), 1e-9) if own else 0.0

    def is_better(self, id_: str) -> bool:
        """Every round was run, the ratio's interval lies above 1, and the gain is worth a changed spec. A default that
        keeps the limits for no request has no ratio: then it is enough that each run of the other kept some."""
        default, own = self.final_worths(id_)
        if self.sizes is None or self.problem(id_) or len(own) < self.sizes.rounds * self.sizes.runs:
            return False
        if not any(default):
            return all(worth > 0 for worth in own)
        ratio = self._final_ratio(id_)
        return ratio is not None and ratio.low is not None and ratio.low > 1 and ratio.value >= WORTH_IT

    def best_ratio(self, id_: str) -> tuple[Stage, Ratio] | None:
        """Of the last stage in which it was measured beside the default."""
        stages: tuple[Stage, ...] = ("final", "again", "screen")
        for stage in stages:
            if (found := self.ratio(id_, stage)) is not None:
                return stage, found
        return None

    def _share(self, visit: Visit) -> float:
        """Its worth, over the speed of a default beside it that keeps the limits for nothing: how fast the machine was
        then shows in that too."""
        speeds = [each.figures[SPEED] for each in self.beside(visit) if each.figures.get(SPEED)]
        return (visit.worth or 0.0) / (fmean(speeds) if speeds else 1.0)

    def _advantage(self, visit: Visit) -> float:
        """Its worth over the default's, without the machine's drift: by the default beside it where that is steady,
        else by its share of the default's speed over the default's own share in the whole stage."""
        local = self._gain(visit)
        defaults = [each for each in self.visits if _is_default(each, visit.stage)]
        worths = [each.worth or 0.0 for each in defaults]
        if local is not None and min(worths) * STEADY >= max(worths):
            return local
        shares = [(each.worth or 0.0) / each.figures[SPEED] for each in defaults if each.figures.get(SPEED)]
        return self._share(visit) / max(fmean(shares) if shares else 0.0, NEXT_TO_NOTHING)

    def ranked(self, ids: Iterable[str], stage: Stage) -> list[tuple[str, float]]:
        """Those without a problem, the best ratio first."""
        rows = []
        for id_ in ids:
            if self.problem(id_):
                continue
            own = [visit for visit in self.of(id_, stage) if visit.worth is not None]
            if own and self.beside(own[-1]):
                rows.append((id_, self._advantage(own[-1])))
        return sorted(rows, key=lambda row: -row[1])

    def partners(self, ids: Iterable[str], stage: Stage) -> list[str]:
        """Single changes that may help beside another though alone they do not: those whose median answer was complete
        clearly sooner than the default's beside it, whatever the limits say; a little sooner is enough where the
        default keeps the limits for nothing and so hides what they do. The quickest first."""
        rows = []
        for id_ in ids:
            own = [visit for visit in self.of(id_, stage) if visit.figures.get(WHOLE)]
            if own and not self.problem(id_):
                beside = self.beside(own[-1])
                base = [each.figures[WHOLE] for each in beside if each.figures.get(WHOLE)]
                gain = fmean(base) / own[-1].figures[WHOLE] if base else 0.0
                if gain >= (QUICKER if any(each.worth for each in beside) else QUICKER_BESIDE_NONE):
                    rows.append((-gain, id_))
        return [id_ for _, id_ in sorted(rows)]


def _is_default(visit: Visit, stage: Stage) -> bool:
    return visit.candidate == DEFAULT and visit.stage == stage and visit.worth is not None


# --- the journal's lines ---------------------------------------------------------------------------------------------


def replay(goal: TuneGoal, events: Sequence[Mapping[str, Any]]) -> Search:
    """What the lines say. Lines of other programs, or of a newer moonpad, are passed over."""
    search = Search(goal)
    lost_s, proving = 0.0, False
    for event in events:
        match event.get("event"):
            case "judged":
                judged = Judged(
                    Candidate.of(event["changes"]),
                    event["refused"],
                    event["predicted"],
                    event["order"],
                    event["restart"],
                    event["answers"],
                )
                search.judged[judged.candidate.id] = judged
            case "order":
                search.order = tuple(event["order"])
            case "sizes":
                search.sizes = Sizes(**event["sizes"])
                if search.entered != tuple(event["entered"]):
                    search.entered, search.kept = tuple(event["entered"]), None
            case "kept":
                search.kept = tuple(event["kept"])
            case "begin":
                search.spent_s += lost_s  # of a visit that was never ended
                proving = event["stage"] == "proof"
                search.running, lost_s = event["candidate"], 0.0
            case "beat":
                lost_s = 0.0 if proving else float(event["seconds"])
            case "visit":
                visit = Visit.of(event["visit"])
                search.visits.append(visit)
                search.spent_s += visit.seconds if visit.stage != "proof" else 0.0
                search.running, lost_s = "", 0.0
            case "ended":
                search.ended = event["because"]
            case "more":
                search.ended = ""
    search.spent_s += lost_s
    return search
