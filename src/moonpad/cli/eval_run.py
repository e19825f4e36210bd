"""What `moonpad eval` does: questions, limitations, answers, scores, figures. Every step can be taken up again."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moonpad import __version__
from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.eval_answers import Answers, only_one
from moonpad.cli.eval_options import EvalOptions
from moonpad.cli.eval_progress import ProgressLines
from moonpad.cli.eval_task import Work, saved_work, work_of
from moonpad.cli.eval_verdict import show
from moonpad.cli.interrupts import terminated_as_interrupted
from moonpad.cli.output import bar, note
from moonpad.cli.run_argument import eval_path
from moonpad.cli.verify_target import writing
from moonpad.evaluate.asking import ask_all
from moonpad.evaluate.endpoint_facts import EndpointFacts, gather
from moonpad.evaluate.gate import EvalGate
from moonpad.evaluate.limitations import Limitation, limitations
from moonpad.evaluate.question import Question, read_questions
from moonpad.evaluate.saved import HEAD_FILE, REQUESTS_FILE, SAMPLES_FILE, SCHEMA, is_eval, read_head, read_kept
from moonpad.evaluate.setup import Setup, setup_of
from moonpad.report.eval_table import limitation_lines
from moonpad.run.endpoints import find_run
from moonpad.spec.loader import load_spec
from moonpad.store.atomic_files import replace_json
from moonpad.store.result_folders import new_eval_folder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost, Interrupted, MoonpadError, PreflightRefused, UsageError
from moonpad.values.records import replace
from moonpad.values.visible_text import shell_word
from moonpad.verify.api import Deadlines, connect
from moonpad.verify.judged_model import Card, subject_of

ANSWER_S: Final = 600.0
"""The longest that an answer may take without --timeout."""
DAY_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Evaluation:
    spec: Path | None
    at: EndpointOptions
    gate: bool
    json: bool
    against: Path | None

    def run(self, what: EvalOptions, resume: Path | None, out: Path | None) -> None:
        with terminated_as_interrupted():
            self._run(what, resume, out)

    def _run(self, what: EvalOptions, resume: Path | None, out: Path | None) -> None:
        limits = self._limits()
        if self.against is not None:
            read_head(eval_path(str(self.against)))  # before anything is asked
        if resume is not None:
            folder = eval_path(str(resume))
            head, setup = read_head(folder)
            work = saved_work(head)
            endpoint = self._endpoint(head)
            with only_one(folder):
                self._go(folder, work, setup, endpoint, head, limits)
            return
        for name, value, least in (("--limit", what.limit, 1), ("--again", what.again, 0)):
            if value is not None and value < least:
                raise UsageError(f"{name} must be at least {least}, not {value}", remedy=f"{name} 100")
        work = work_of(what.task, what.data)
        setup = setup_of(work.kind, what.protocol, what.concurrency, what.max_tokens)
        endpoint = self._endpoint({})
        folder = self._folder(out)
        with only_one(folder):
            if out is not None:
                _refuse_used(out)
            try:
                self._go(folder, work, setup, endpoint, {"limit": what.limit, "again": what.again}, limits)
            except BaseException:
                if not (folder / SAMPLES_FILE).exists():  # nothing was answered: the same --out may be used again
                    for name in (HEAD_FILE, REQUESTS_FILE):
                        (folder / name).unlink(missing_ok=True)
                    if out is None:
                        shutil.rmtree(folder, ignore_errors=True)
                raise

    def _go(
        self,
        folder: Path,
        work: Work,
        setup: Setup,
        endpoint: Endpoint,
        head: Mapping[str, Any],
        limits: EvalGate | None,
    ) -> None:
        endpoint, card = asyncio.run(named_model(endpoint))
        if head.get("model", endpoint.model) != endpoint.model:
            message = f"{folder} is of the model {head['model']}, and this endpoint serves {endpoint.model}"
            raise UsageError(message, remedy="name the same model, or evaluate into another folder")
        if "data" in head and not work.same_data(head["data"]):
            raise UsageError(
                f"{work.task}'s data have changed since {folder} was started",
                remedy="evaluate again, into another folder",
            )
        head = {**eval_head(work, setup, endpoint, card), **head}
        with writing(folder, "--out FOLDER"):
            replace_json(folder / HEAD_FILE, head)
            if not (folder / REQUESTS_FILE).exists():
                more = work.make(setup.protocol, endpoint.model, folder / REQUESTS_FILE, head["limit"])
                head = {**head, **more}
                replace_json(folder / HEAD_FILE, head)
        questions = read_questions(folder / REQUESTS_FILE)
        answers = Answers(folder, read_kept(folder), questions)
        try:
            rows = asyncio.run(ask_missing(endpoint, card, setup, questions, answers, int(head["again"])))
            show(self, folder, work, setup, head, questions, answers.samples, rows, limits)
        except (ContactLost, KeyboardInterrupt) as error:
            if not answers.samples:
                raise
            raise _stopped(error, answers) from error

    def _endpoint(self, head: Mapping[str, Any]) -> Endpoint:
        """With --url a spec may be given for its [gate]; of --resume the address is in the folder."""
        spec = None if self.gate and self.at.url else self.spec
        if head and spec is None and self.at.url is None:
            at = replace(self.at, url=str(head["base_url"]), model=self.at.model or str(head["model"]))
            return resolve_endpoint(None, at)
        return resolve_endpoint(spec, self.at)

    def _limits(self) -> EvalGate | None:
        """The [gate] of the spec, or of the run that is up; None without --gate."""
        if not self.gate:
            return None
        path = self.spec
        if path is None or path.suffix != ".toml":
            if self.at.url:
                raise UsageError("--gate needs a spec", remedy="moonpad eval SPEC.toml --url … --gate")
            path = find_run(self.spec).path / "spec.toml"
        table = load_spec(path).spec.gate
        return EvalGate(table.accuracy, table.cut_share, table.accuracy_drop)

    def _folder(self, out: Path | None) -> Path:
        if out is None:
            with writing(Path("moonpad's folder of evaluations"), "--out FOLDER"):
                return new_eval_folder()
        _refuse_used(out)
        with writing(out, "--out FOLDER"):
            out.mkdir(parents=True, exist_ok=True)
        return out


def _refuse_used(out: Path) -> None:
    """
    Raises:
        UsageError: the folder already holds an evaluation.
    """
    if is_eval(out):
        remedy = f"moonpad eval --resume {shell_word(out)}, or another --out"
        raise UsageError(f"{out} already holds an evaluation", remedy=remedy)


async def ask_missing(
    endpoint: Endpoint,
    card: Card,
    setup: Setup,
    questions: Sequence[Question],
    answers: Answers,
    again: int = 0,
    *,
    quiet: bool = False,
) -> tuple[Limitation, ...]:
    """Asks what has no answer yet, `again` of the questions twice; what the protocol cannot measure of this endpoint.

    `quiet`: shows no bar and no limitation. Raises what `ask_all` raises, and PreflightRefused: no answer would count.
    """
    protocol = setup.protocol
    missing = [question for question in questions if not answers.has(question, 1)]
    twice = sorted(questions, key=lambda question: question.doc_id)[:again]
    again_missing = [question for question in twice if not answers.has(question, 2)]
    if not missing and not again_missing:
        return ()
    most_s = endpoint.timeout_s or ANSWER_S
    deadlines = Deadlines(answer_s=most_s, most_s=max(most_s, DAY_S))
    async with connect(replace(endpoint, timeout_s=None), deadlines) as api:
        longest = max(questions, key=lambda question: len(str(question.payload)))
        facts = await gather(api, card, longest, protocol.path)
        rows = limitations(protocol, facts, len(questions))
        _say(rows, facts, quiet=quiet)
        total = len(questions) + len(twice)
        with nullcontext() if quiet else bar("answering", total) as show_bar:
            if show_bar is not None:
                answers.report_to(show_bar, ProgressLines(total, answers.count))
            await ask_all(api, missing, protocol.path, protocol.concurrency, answers.keep)
            await ask_all(api, again_missing, protocol.path, protocol.concurrency, answers.keep, round_=2)
    return rows


async def named_model(endpoint: Endpoint) -> tuple[Endpoint, Card]:
    async with connect(replace(endpoint, timeout_s=None)) as api:
        named, card = await subject_of(api)
        return replace(named, timeout_s=endpoint.timeout_s), card


def eval_head(work: Work, setup: Setup, endpoint: Endpoint, card: Card) -> dict[str, Any]:
    root = card.get("root")
    return {
        "schema": SCHEMA,
        "moonpad": __version__,
        "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "task": work.task,
        **setup.as_json(),
        "base_url": endpoint.base_url,
        "model": endpoint.model,
        "root": root if isinstance(root, str) else "",
        "data": dict(work.data),
    }


def _say(rows: Sequence[Limitation], facts: EndpointFacts, *, quiet: bool) -> None:
    """
    Raises:
        PreflightRefused: no answer would count.
    """
    if not quiet:
        for line in limitation_lines([each for each in rows if not each.refuses]):
            note(line)
    if refused := next((each for each in rows if each.refuses), None):
        raise PreflightRefused(f"{facts.model}: {refused.text}", remedy=refused.remedy)


def _stopped(error: BaseException, answers: Answers) -> MoonpadError:
    count = sum(not each.failed for each in answers.samples)
    remedy = f"moonpad eval --resume {shell_word(answers.folder)} asks the others"
    if isinstance(error, ContactLost):
        return ContactLost(f"{error.message}; {count:,} answers are kept", remedy=remedy)
    return Interrupted(f"stopped; {count:,} answers are kept", remedy=remedy)
