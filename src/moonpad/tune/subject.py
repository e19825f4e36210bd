"""What is tuned: the spec, its plan, and its engine's candidates, each judged by the planner before anything starts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from moonpad.catalog.knobs import Knob, knobs, knobs_of
from moonpad.catalog.options import option_set
from moonpad.checkpoints.draft import draft_of
from moonpad.engines import ENGINES
from moonpad.facts.devices import this_host
from moonpad.facts.probe import Unknown
from moonpad.plan.from_spec import finished, request_of
from moonpad.plan.search import search
from moonpad.predict.calibrate import StepCalibration
from moonpad.predict.prediction import predict
from moonpad.predict.serving_plan import serving_plan
from moonpad.run.knowledge import knowledge
from moonpad.run.planning import PlannedSpec, plan_spec
from moonpad.run.prepare import Prepared, prepare
from moonpad.spec.loader import LoadedSpec, parse_spec
from moonpad.store.speed_calibrations import calibration_for, own_speed_calibrations
from moonpad.tune.candidate import LAYOUT, Candidate
from moonpad.tune.candidates import InForce, single_changes
from moonpad.tune.load import TuneLoad
from moonpad.tune.order import Judged
from moonpad.tune.spec_change import changed_text
from moonpad.values.errors import MoonpadError, UsageError
from moonpad.values.records import as_dict, replace

MOST_LAYOUTS: Final = 6
LONGEST_NAME: Final = 63


@dataclass(frozen=True, slots=True)
class Subject:
    """`prepared`: the spec as it is, which can start here; of several copies behind a router one, for its share of the
    load: what is best for one is best for all, and the router only chooses among them."""

    loaded: LoadedSpec
    prepared: Prepared
    load: TuneLoad
    numerics: bool = True
    """Its log-probabilities are compared."""
    questions: str = ""
    """What the winner is asked besides; "": nothing."""
    only: tuple[str, ...] = ()
    """The knobs that may be changed, in their order, and `layout`; none: all of the engine's."""
    _base: list[float | None] = field(default_factory=list)
    """The predicted worth of the default, once it was asked for."""

    @classmethod
    def of(
        cls,
        loaded: LoadedSpec,
        load: TuneLoad,
        *,
        numerics: bool = True,
        questions: str = "",
        only: Collection[str] = (),
    ) -> Subject:
        """
        Raises:
            UsageError: prefill and decode pools, which this does not start; `only` names a knob that the engine lacks.
            MoonpadError: what `prepare` raises: it cannot start here.
        """
        spec = loaded.spec
        if spec.prefill:
            raise UsageError("a spec with pools is not tuned", remedy="tune each pool's engine by itself, without them")
        own = load.of_one(spec.router.replicas) if spec.router else load
        subject = cls(loaded, prepare_one(loaded), own, numerics, questions, tuple(sorted(set(only))))
        known = [*(knob.name for knob in subject._knobs()), LAYOUT]
        if unknown := [name for name in subject.only if name not in known]:
            engine = subject.prepared.engine.name
            raise UsageError(f"{engine} has no knob {unknown[0]!r}", remedy=f"of these: {', '.join(known)}")
        return subject

    @property
    def name(self) -> str:
        """Of the deployments that are measured."""
        return f"{self.loaded.spec.name[: LONGEST_NAME - 5].rstrip('-')}-tune"

    @property
    def digest(self) -> str:
        """The same where the same is asked: the spec without its comments, the engine's release, and the load."""
        spec = self.loaded.spec.model_dump_json(exclude={"gate", "goal", "launch"})
        here = [str(self.prepared.checkpoint.folder), self.prepared.engine_version, self.numerics]
        here += [self.questions] if self.questions else []
        here += ["of these:", *self.only] if self.only else []
        words = json.dumps([spec, here, self.load.as_json()], sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()

    def spec_of(self, candidate: Candidate, port: int) -> LoadedSpec:
        """To be started under a name and a port of its own; paths stay relative to the user's spec."""
        text = changed_text(self.loaded.text, self.loaded.spec.settings.extra_args, candidate)
        spec = parse_spec(text, name=self.loaded.spec.name, where=str(self.loaded.path))
        endpoint = spec.endpoint.model_copy(update={"port": port, "expose": False})
        launch = spec.launch.model_copy(update={"restarts": 0})
        changed = spec.model_copy(update={"name": self.name, "endpoint": endpoint, "launch": launch})
        return LoadedSpec(changed, text, self.loaded.path)

    def fingerprint(self, prepared: Prepared, requests: int) -> str:
        """The same where the same would be measured: engine, release, command line, weights, device, load."""
        processes = [
            (process.name, list(map(repr, process.argv)), sorted((k, repr(v)) for k, v in process.env.items()))
            for process in prepared.deployment.processes
        ]
        host = prepared.planned.cluster.host
        words: list[Any] = [
            prepared.engine.name,
            prepared.engine_version or prepared.plan.engine_version,
            processes,
            str(prepared.checkpoint.folder),
            prepared.plan.weights_bytes,
            prepared.planned.cluster.name,
            [host.processor, host.cores],
            {**self.load.as_json(), "requests": requests},
        ]
        return hashlib.sha256(json.dumps(words, sort_keys=True, default=str).encode()).hexdigest()[:32]

    # --- candidates -----------------------------------------------------------------------------------------------

    def candidates(self) -> tuple[Candidate, ...]:
        """Every single change of what may be changed."""
        plan, spec = self.prepared.plan, self.loaded.spec
        contents = self.prepared.checkpoint.contents
        before = InForce(
            as_dict(plan.settings),
            spec.settings.extra_args,
            plan.layout.words,
            cores=this_host().cores or 0,
            numa_nodes=plan.host_numa_nodes or 1,
            has_draft=bool(spec.settings.draft),
            shares_experts=plan.layout.ep > 1,
            has_state=not isinstance(contents, Unknown) and contents.architecture.linear is not None,
            has_option=self._has_option,
        )
        own = [knob for knob in self._knobs() if not self.only or knob.name in self.only]
        layouts = tuple(self._layouts()) if not self.only or LAYOUT in self.only else ()
        return single_changes(own, before, layouts)

    def _knobs(self) -> tuple[Knob, ...]:
        return knobs_of(self.prepared.engine.name, str(self.prepared.plan.platform))

    def _has_option(self, flag: str, value: str | None) -> bool:
        """Nothing is tried that the release is not known to have."""
        version = self.prepared.engine_version or self.prepared.plan.engine_version
        options = option_set(self.prepared.engine.program, version.partition("+")[0] or None)
        option = options.named(flag) if options else None
        return option is not None and (value is None or not option.choices or value in option.choices)

    def _layouts(self) -> Iterator[str]:
        """What the planner would take besides, the best first."""
        planned = self.prepared.planned
        if isinstance(planned.checkpoint, Unknown):
            return
        request = request_of(self.loaded.spec)
        free = replace(
            request, layout={}, engine_version=self.prepared.plan.engine_version, draft=draft_of(self.loaded)
        )
        spec = self.loaded.spec
        known = replace(knowledge(), finish=lambda plan: finished(spec, plan))
        answer = search(planned.checkpoint, planned.cluster, free, known)
        yield from list(dict.fromkeys(choice.plan.layout.words for choice in answer.choices))[:MOST_LAYOUTS]

    def judge(self, candidate: Candidate) -> Judged:
        """By the planner, which knows what does not fit, and by the model of its speed."""
        judged = _by_knobs(candidate)
        try:
            planned = self._plan(candidate)
        except MoonpadError as error:
            return replace(judged, refused=_reason(error))
        if not self._base:
            self._base.append(self._worth(self.prepared.planned))
        base, own = self._base[0], self._worth(planned)
        return replace(judged, predicted=own / base if own and base else None)

    def _plan(self, candidate: Candidate) -> PlannedSpec:
        loaded = self.spec_of(candidate, self.loaded.spec.endpoint.port)
        version = (self.prepared.engine_version or "").partition("+")[0] or None
        planned = plan_spec(loaded, self.prepared.checkpoint.contents, installed_version=version)
        # The engine's own tables say whether its release can be told that.
        self.prepared.engine.processes(planned.plan, self.prepared.deployment.processes[0].runtime)
        return planned

    def _worth(self, planned: PlannedSpec) -> float | None:
        """None where nothing can be predicted of it."""
        if planned.choice is None or isinstance(planned.checkpoint, Unknown):
            return None
        plan = serving_plan(planned.choice, planned.checkpoint, planned.cluster, ENGINES)
        calibration: StepCalibration | None = calibration_for(plan.configuration, own_speed_calibrations())
        try:
            return self.load.predicted(predict(plan, self.load.workload, calibration=calibration, quick=True))
        except (MoonpadError, ValueError, ZeroDivisionError):
            return None


def prepare_one(loaded: LoadedSpec) -> Prepared:
    """The deployment, or the first of the copies behind a router, on its part of the devices. Raises as `prepare`."""
    if loaded.spec.router is None:
        return prepare(loaded)
    return replace(prepare(loaded, group=loaded.spec.name), group="")  # it belongs to no router that runs


def _by_knobs(candidate: Candidate) -> Judged:
    own = [knobs()[change.knob] for change in candidate.changes if change.knob != LAYOUT]
    order = min((knob.order for knob in own), default=0)
    restart = any(knob.restart for knob in own) or candidate.change_of(LAYOUT) is not None
    return Judged(candidate, order=order, restart=restart, answers=any(knob.answers for knob in own))


def _reason(error: MoonpadError) -> str:
    """The planner's own: its first finding, which has the figures."""
    findings = getattr(error, "findings", ())
    return str(findings[0].message) if findings else error.message.splitlines()[0]
