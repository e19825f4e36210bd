"""The engine inside of a program that trains a model by its own answers: no server, so what is judged are the options
that the trainer hands to it, and nothing is corrected.

The devices, the memory and the release are those that the training leaves to it, which its options do not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Final

from msgspec import Struct

from moonpad.catalog.options import option_set, releases_with
from moonpad.engines import ENGINES
from moonpad.engines.trainer_names import (
    ENGINE_OF_VERL,
    SHARED_ATTENTION,
    SIZED,
    SLIME,
    SPOKEN_SIZES,
    TRAINERS,
    VERL,
    VERL_NAMES,
    Trainer,
)
from moonpad.engines.value_checks import whole
from moonpad.explain.commands import Script
from moonpad.explain.results import Judged, Remark, make_remark, printable
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

ROLLOUT: Final = "rollout"
"""The kind of such a judgement."""
_LEAST: Final = 2
"""Options of the engine: a text that names one may only speak of it."""
_LONGEST: Final = 2000
_COMMENT: Final = re.compile(r"[ \t]*#")
_ALIKE: Final = 0.87
_SLIP: Final = 0.7


class _Given(Struct, frozen=True):
    written: str
    """As it stands in the text."""
    flag: str
    """The engine's name of it."""
    value: str


def trainer_rollout(script: Script) -> Judged | None:
    """None where the text trains nothing, or hands no options to an engine."""
    script.budget.work(10 * len(script.lines), "the options of a trainer")
    lines = [line[:_LONGEST] for line in script.lines if not _COMMENT.match(line)]
    for trainer in TRAINERS:
        given = list(_given(trainer, lines))
        for engine in dict.fromkeys(engine for engine, _ in given):
            of_engine = [option for name, option in given if name == engine]
            known = {option.flag for option in of_engine if _releases(engine, option.flag)}
            if len(known) >= _LEAST:
                return _judged(trainer, engine, of_engine, script, lines)
    return None


def _given(trainer: Trainer, lines: Sequence[str]) -> Iterator[tuple[str, _Given]]:
    """Each option with its engine."""
    spoken = next((match["engine"] for line in lines for match in ENGINE_OF_VERL.finditer(line)), "")
    for line in lines:
        for match in trainer.option.finditer(line):
            groups = match.groupdict()
            name = VERL_NAMES.get(match["name"], match["name"]) if trainer is VERL else match["name"]
            engine = groups.get("engine") or trainer.engine or spoken
            flag = f"--{name.replace('_', '-')}"
            if engine and flag not in trainer.own and not flag.startswith("--router-"):
                yield engine, _Given(match.group().split("=")[0].split()[0], flag, match["value"] or "")
        for own, flag in trainer.sizes.items():
            if size := re.search(rf"(?<![\w-]){own}[ =](\d{{1,5}})(?![\w.])", line):
                yield SIZED, _Given(own, flag, size[1])


def _releases(engine: str, flag: str) -> Sequence[str]:
    return releases_with(ENGINES[engine].program, flag)


def _judged(trainer: Trainer, engine: str, given: Sequence[_Given], script: Script, lines: Sequence[str]) -> Judged:
    title = next((match["title"] for line in lines for match in trainer.named.finditer(line)), trainer.title)
    title = trainer.title if title.casefold() == trainer.title.casefold() else title
    sizes = _sizes(engine, given)
    layout = ", ".join(f"{name} {size}" for name, size in sizes.items())
    name = ENGINES[engine].facts.title
    begins = trainer.spoken.format(engine=engine)
    summary = f"{title} trains a model, and runs {name} inside of it{f', with {layout}' if layout else ''}"
    version = script.versions.get(engine, "")
    because = f"the text names {engine} {version}" if version else "none is named"
    remarks = (*_misspelt(trainer, engine, given), *_refused(trainer, engine, given, sizes, title))
    model = next((match["model"] for line in lines for match in trainer.model.finditer(line)), "")
    sentence = (
        f"{summary}: its options ({begins}…) are judged, and neither memory nor devices, which the training shares"
    )
    unjudged = printable(sentence)
    return Judged(engine, version, because, remarks, kind=ROLLOUT, model_written=printable(model), unjudged=unjudged)


def _sizes(engine: str, given: Sequence[_Given]) -> Mapping[str, int]:
    """`TP` → 16. The last one counts; a variable says nothing."""
    options = option_set(ENGINES[engine].program)
    sizes: dict[str, int] = {}
    for option in given:
        recorded = options.named(option.flag) if options is not None else None
        names = {option.flag, *(recorded.names if recorded is not None else ())}
        size = whole(option.value)
        for flag, word in SPOKEN_SIZES[engine].items():
            if flag in names and size:
                sizes[word] = size
    return {word: sizes[word] for word in SPOKEN_SIZES[engine].values() if word in sizes}


def _misspelt(trainer: Trainer, engine: str, given: Sequence[_Given]) -> Iterator[Remark]:
    """Options that no release has, and that are written nearly like one. Another may be the trainer's own."""
    options = option_set(ENGINES[engine].program)
    if trainer is not SLIME or options is None:
        return
    names = [name for option in options.options for name in option.names if name.startswith("--")]
    for option in dict.fromkeys(given):
        if _releases(engine, option.flag) or option.written in trainer.sizes:
            continue
        near_names = get_close_matches(option.flag, names, n=1, cutoff=_ALIKE)
        for near in (name for name in near_names if _is_slip(option.flag, name)):
            meant = f"--{engine}-{near.removeprefix('--')}"
            message = f"{option.written}: no recorded release of {ENGINES[engine].facts.title} has {option.flag}"
            yield _remark(option.written, message, f"write {meant}", Code.UNKNOWN_FLAG)


def _is_slip(flag: str, name: str) -> bool:
    """Whether one word of them differs, and by a slip. A name with other words is an option of its own, which a build
    of the trainer's may have: `--x-loader-ib-device` beside `--x-loader-backend`."""
    words, others = flag.split("-"), name.split("-")
    if len(words) != len(others):
        return flag.replace("-", "") == name.replace("-", "")
    apart = [(word, other) for word, other in zip(words, others, strict=True) if word != other]
    return len(apart) == 1 and SequenceMatcher(None, *apart[0]).ratio() >= _SLIP


def _refused(
    trainer: Trainer, engine: str, given: Sequence[_Given], sizes: Mapping[str, int], title: str
) -> Iterator[Remark]:
    """What the trainer, or the engine of each release, ends at."""
    if engine != SIZED:
        return
    shared, replicas = SHARED_ATTENTION
    flags = {option.flag for option in given}
    tp, dp, ep = sizes.get("TP", 0), sizes.get("DP", 1), sizes.get("EP", 1)
    if trainer is SLIME and dp > 1 and shared not in flags:
        where = next(option.written for option in given if option.flag in (replicas, "--data-parallel-size"))
        message = f"{title} ends where {dp} data-parallel ranks are asked for without --{engine}{shared[1:]}"
        yield _remark(where, message, f"add --{engine}{shared[1:]}, or leave {where} out", Code.CONFLICT)
    if tp and shared in flags and tp % dp:
        message = f"{dp} ranks of attention do not divide the {tp} devices of an engine"
        yield _remark(_written(given, replicas), message, f"take a divisor of {tp}", Code.ILLEGAL_LAYOUT)
    if tp and tp % ep:
        message = f"{ep} ranks of experts do not divide the {tp} devices of an engine"
        yield _remark(_written(given, "--ep-size"), message, f"take a divisor of {tp}", Code.ILLEGAL_LAYOUT)


def _written(given: Sequence[_Given], flag: str) -> str:
    return next((option.written for option in given if option.flag == flag), flag)


def _remark(where: str, message: str, remedy: str, code: Code) -> Remark:
    """A warning: how the trainer reads its options by release is not recorded. It is of no command: none is judged."""
    remark = make_remark(Severity.WARNING, code, printable(where), printable(message), printable(remedy))
    return replace(remark, command=None)
