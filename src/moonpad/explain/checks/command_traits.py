"""What rows of faults ask of a command: what its options say, what its model is called, what its devices are."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from moonpad.catalog.former_options import same_options
from moonpad.catalog.hardware import find_hardware
from moonpad.catalog.options import option_set
from moonpad.catalog.other_models import other_model
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.ktransformers_read import ALWAYS_PASSED
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.documents.built_forks import built_fork
from moonpad.explain.documents.spoken_capabilities import (
    names_nvidia_alone,
    sm_of,
    speaks_of_amd,
    spoken_capability,
    spoken_generation_of_amd,
)
from moonpad.explain.documents.spoken_models import spoken_model
from moonpad.explain.documents.spoken_platform import ROCM_ENV, speaks_of_rocm
from moonpad.explain.equal_options import equal_option, written_with_dots
from moonpad.explain.model_detection import has_name_of_its_own, says_nothing
from moonpad.explain.mounted_models import on_the_host
from moonpad.values.platform import Platform

LONGEST: Final = 2000
_VARIABLE: Final = re.compile(r"\$\{?\w{1,60}\}?", re.ASCII)
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_FOLDER: Final = re.compile(r"\.{0,2}/|~|\$|[A-Za-z]:\\")
_DASHED: Final = re.compile(r"(?<![a-z0-9])(kimi-k2)[-_p]([5-9])(?![0-9a-z])", re.IGNORECASE)
_LEFT_OUT: Final = frozenset({"none", "auto"})
_LAID_OVER: Final = re.compile(r"\.py:[^:]*/(?:site|dist)-packages/[^:]+\.py(?::|$)")
_OFF_BY_ITSELF: Final = frozenset({"--enable-expert-parallel", "--enforce-eager", "--enable-eplb", "--enable-lora"})
"""Switches that `--no-…` leaves as they are without it."""


def option_text(flag: str, case: Case) -> tuple[Occurrence, str] | None:
    """Where an option stands that is not switched off, and its whole text. `--no-option` asks for what switches off."""
    place = case.option(flag) or _as_written(flag, case)
    if place is None:
        return equal_option(case, flag)
    if place.value is False:
        return (place, "") if flag == place.written and flag.startswith("--no-") else None
    texts = place.value if isinstance(place.value, tuple) else (place.value if isinstance(place.value, str) else "",)
    return place, written_with_dots(case, place) or " ".join(texts)


def with_other_names(flags: tuple[str, ...], case: Case) -> tuple[str, ...]:
    same = same_options(case.engine.program)
    return (*flags, *(other for flag in flags for other in same.get(flag, ())))


def are_left_out(flags: tuple[str, ...], case: Case) -> bool:
    """Whether none of them is given, or only with a value that says what is so without it, nor passed on by a program
    that always does."""
    if not {*flags}.isdisjoint(ALWAYS_PASSED.get(case.commands[0].program, ())):
        return False
    return not any(_is_given(flag, case) and not _is_off(flag, case) for flag in with_other_names(flags, case))


def _is_given(flag: str, case: Case) -> bool:
    """Options that the release which is meant knows no more count too, and beginnings that may be of this one."""
    return (
        case.option(flag) is not None
        or equal_option(case, flag) is not None
        or any(word.text.partition("=")[0] == flag for word in case.commands[0].argv)
        or any(place.problem == "ambiguous" and flag in place.matches for place in case.first.parsed.occurrences)
    )


def _is_off(flag: str, case: Case) -> bool:
    """`--moe-a2a-backend none` and `--moe-runner-backend auto` say what is so without them. Of other options such a
    word may be a choice of its own."""
    place = case.option(flag)
    if place is not None and place.value is False and flag in _OFF_BY_ITSELF:
        return True
    text = case.text(flag).strip("'\"").casefold()
    if text not in _LEFT_OUT:
        return False
    options = option_set(case.engine.program, case.version or None)
    known = options.named(flag) if options is not None else None
    return known is not None and known.default == text


def _as_written(flag: str, case: Case) -> Occurrence | None:
    """An option that the release which is judged knows no more."""
    return next((place for place in case.first.parsed.occurrences if place.written == flag), None)


def model_names(case: Case, served: bool) -> Sequence[str]:
    """As `_model_names`, `kimi-k2-6` with its dot: rows look for the generation."""
    return [_DASHED.sub(r"\1.\2", name) for name in _model_names(case, served)]


def _model_names(case: Case, served: bool) -> Sequence[str]:
    """`served`: whether the name that clients use counts where the path says nothing. It does for rows that look at
    more than the model: guides serve early builds of a model that the release of the same number does not start."""
    written = case.model_named.rstrip("/").replace("--", "/")
    known = [case.checkpoint.name] if case.checkpoint else []
    called = case.first.served_name or ""
    served = served or (unresolved(case.model_named) and _REPOSITORY.fullmatch(called) is not None)
    other = called if served else ""
    if not says_nothing(case.model_named):
        recognised = bool(known) or other_model(case.model_named) is not None
        own = _FOLDER.match(case.model_named) is not None and has_name_of_its_own(case.model_named)
        # Searched in both at once: what a folder says of its weights, such as `distill`, keeps a row away.
        both = [f"{other[-LONGEST:]} {written}"] if other and own and not recognised else []
        return [*known, written, *both]
    if served and not known:
        mounted = on_the_host(case.first.model, case.commands)
        other = mounted or (_by_parsers(case) if not other or says_nothing(other) else other)
        if _VARIABLE.fullmatch(case.first.model.strip("'\"")) and (not other or unresolved(other)):
            other = spoken_model(case.script) or other
    return [*known, other or written or case.taken_for]


def _by_parsers(case: Case) -> str:
    """The generation that both parsers are called after, where a variable holds the model: `minimax-m3`."""
    tools, reasoning = case.first.serving.tool_parser, case.first.serving.reasoning_parser
    return tools.replace("_", "-") if tools and tools == reasoning else ""


def spoken_devices(case: Case) -> str:
    """The capability or the generation that the text speaks of where no devices are known, `cuda` where it names
    several of NVIDIA's, or `rocm` where it is about AMD's at large; "" for none."""
    if case.cluster is not None:
        return ""
    known = spoken_capability(case.script) or spoken_generation_of_amd(case.script)
    if not known and not case.platform and names_nvidia_alone(case.script):
        return str(Platform.CUDA)
    if known or case.platform or Platform.ROCM not in case.engine.platforms:
        return known
    return str(Platform.ROCM) if is_of_amd(case) else ""


def is_of_amd(case: Case) -> bool:
    """Whether the text or the command is about AMD's devices, without a word on which."""
    variables = (*ROCM_ENV, *case.engine.command_line.rocm_env)
    line = min(command.line for command in case.commands)
    return speaks_of_rocm(case.script, case.commands, line, variables) or speaks_of_amd(case.script)


def is_generation_of_amd(word: str) -> bool:
    return word.startswith("gfx") or word.casefold().startswith("mi")


def unnamed_device(spoken: str) -> str:
    """How a message speaks of a device of which no more is known than `spoken`: as of one that may be meant."""
    if spoken in (Platform.ROCM, Platform.CUDA):
        return f"an {'AMD' if spoken == Platform.ROCM else 'NVIDIA'} device"
    return f"a device of capability {spoken}" if spoken else "such a device"


def is_device_of(platform: str, word: str) -> bool:
    """Whether it is a capability, a generation or a label of that platform's: where only the platform is known, the
    devices may be just those."""
    if platform == Platform.ROCM or sm_of(word.removeprefix("<")) is not None:
        return is_generation_of_amd(word) if platform == Platform.ROCM else platform == Platform.CUDA
    row = find_hardware(word)
    return row is not None and row.device is not None and row.device.platform == platform


def _are_spoken(asked: Collection[str], others: Collection[str], spoken: str) -> bool:
    """Of a platform alone it is not known which of its devices it is, so none of them may be left out."""
    platform = str(Platform.CUDA if sm_of(spoken) is not None or spoken == Platform.CUDA else Platform.ROCM)
    if spoken in asked or not asked:
        of_some = spoken == platform and any(is_device_of(platform, each) for each in others)
        return not of_some and not {*others} & {spoken, spoken.partition(".")[0], platform}
    return platform in asked and not others


def has_started(command: Command, *, by_words: bool) -> bool:
    """Whether the server started, by its log or, `by_words`, by what the text says."""
    return command.held_tokens is not None or (by_words and command.serves)


def are_devices(asked: Collection[str], others: Collection[str], case: Case, spoken: str) -> bool:
    """Whether the devices are one of `asked` and none of `others`: ids, labels, platforms, capabilities, or `<8.0`.
    `spoken` is the capability that the text speaks of where no devices are known."""
    if not asked and not others:
        return True
    cluster = case.cluster
    sm = sm_of(cluster.device.capability if cluster is not None else spoken)
    below = [sm_of(each.removeprefix("<")) for each in asked if each.startswith("<")]
    if below:
        return sm is not None and sm < (below[0] or 0)
    if cluster is None and spoken and _are_spoken(asked, others, spoken):
        return True
    if cluster is None and case.platform:
        of_it = (not asked or case.platform in asked) and case.platform not in others
        return of_it and not any(is_device_of(case.platform, each) for each in others)
    if cluster is None:
        return False
    device = cluster.device
    label = cluster.name.rpartition("x")[2] if not cluster.name.casefold().endswith("x") else cluster.name
    kinds = {word.casefold() for word in (device.id, device.platform, device.capability, device.product, label)}
    kinds |= {device.id.partition("-")[0].casefold(), device.architecture.casefold()}
    given, kept_out = ({word.casefold() for word in words} for words in (asked, others))
    return (not given or bool(kinds & given)) and not kinds & kept_out


def laid_over(case: Case) -> str:
    """What is laid over the release: modules of Python over those of the image,
    `-v ./dflash.py:/…/site-packages/…/dflash.py`, or a fork that is built; "" for nothing."""
    container = case.commands[0].container
    if container is not None:
        over = any(_LAID_OVER.search(word.text) for word in container.words)
        return "a file that is laid over the image's" if over else ""
    case.script.budget.once("forks that are built", len(case.script.lines), "the text around its engine commands")
    fork = built_fork(case.engine.name, case.script.lines)
    return f"the build of {fork}" if fork else ""


def reaches_over_machines(case: Case) -> bool:
    """Whether the ranks of one group of tensor parallelism do not all share a machine."""
    layout, nodes, cluster = case.first.layout, case.first.node.nodes or 1, case.cluster
    if cluster is not None and cluster.nodes > 1:
        return cluster.per_node < layout.tp
    return nodes > 1 and layout.tp * nodes > layout.world_size
