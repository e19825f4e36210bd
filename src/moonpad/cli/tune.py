"""`moonpad tune`: the best settings for a workload on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from moonpad.cli.asked_load import LoadOptions
from moonpad.cli.output import Json


def tune(
    spec: Path,
    *,
    workload: str | None = None,
    concurrency: int | None = None,
    rate: float | None = None,
    prefix: float | None = None,
    slo: str = "",
    goal: Literal["latency", "throughput"] | None = None,
    requests: int | None = None,
    budget: str = "60m",
    knobs: str = "",
    in_place: bool = False,
    numerics: Annotated[bool, Parameter(negative="--no-numerics")] = True,
    eval_: Annotated[str | None, Parameter(name="--eval")] = None,
    eval_limit: int | None = None,
    eval_max_tokens: int | None = None,
    fresh: bool = False,
    explain: bool = False,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    json: Json = False,
) -> None:
    """Find settings that beat those of a spec for a workload, prove that they answer the same, and say why.

    Each candidate is started under a name and a port of its own, loaded and stopped; the default is measured beside
    them. Killed at any time, the same command goes on where it was.

    Parameters
    ----------
    spec
        The spec whose settings to improve.
    workload
        chat, agent, rag, INPUT:OUTPUT tokens (8192:1024; also 6554..8192, lognormal:512,0.6 or @FILE), or a file of
        requests, as for moonpad plan.
    concurrency
        Users, 16: each sends its next request when the last one is answered.
    rate
        Requests a second that arrive whatever the server does, instead.
    prefix
        The share of each prompt that the engine has seen before, from 0 to below 1.
    slo
        Limits of a good request, ttft=500ms,tpot=50ms,e2el=20s: good requests a second then count.
    goal
        throughput (without it, this): good requests a second with --slo, else output tokens a second. latency: the
        median time of a whole answer.
    requests
        Requests of one run of the last stage; without it, 8 for each user and at least 32.
    budget
        The most time for measuring, all sessions together, like 60m; the best so far is then given with its standing.
    knobs
        Change these alone: max_num_seqs,prefix_caching,layout. A name that is none shows all that the engine has.
    in_place
        Where the spec's own deployment is up: drain it, and start it again at the end. Without this it is left alone.
    numerics
        Compare log-probabilities with the default's.
    eval_
        Ask the winner and the default the same questions too, and compare in pairs: gsm8k, tools, or a FILE.jsonl, as
        for moonpad eval. A setting that is less accurate is told and not taken.
    eval_limit
        Of these questions the first N.
    eval_max_tokens
        The longest answer to one of them, instead of the task's own limit.
    fresh
        Measure again what this command has measured before.
    explain
        Measure nothing; show what the last tune of the spec found: what each knob brought, and what was left out.
    out
        The file for the spec with the changes; without it, beside the spec, NAME-tuned.toml.
    """
    if explain:
        from moonpad.cli.tune_run import run_explain

        run_explain(spec, json=json)
        return
    from moonpad.cli.tune_run import QuestionOptions, TuneOptions, run_tune

    questions = QuestionOptions(eval_, eval_limit, eval_max_tokens)
    load = LoadOptions(workload=workload, rate=rate, prefix=prefix, slo=slo)
    options = TuneOptions(load, concurrency, goal, requests, budget, in_place, numerics, questions, knobs, fresh, out)
    run_tune(spec, options, json=json)
