"""What a command line is about: which engine in which version, which model, on which devices, and how we know."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from moonpad.catalog.model_row import Model
from moonpad.catalog.models import find_model, models
from moonpad.catalog.options import versions as recorded_versions
from moonpad.engines import ENGINES
from moonpad.engines.base import Engine, Reading
from moonpad.explain.checks.other_families import is_other, other_in_text
from moonpad.explain.commands import Command, Script, Wrapper
from moonpad.explain.documents import text_hints
from moonpad.explain.documents.device_mentions import (
    Mention,
    capability_of,
    cluster_named,
    mentions,
    named_by_names,
    platform_of,
)
from moonpad.explain.documents.device_nearness import by_nearness, of_layout, owned, sections, sure_mentions
from moonpad.explain.documents.spoken_builds import is_spoken_of
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.results import shortened
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.plan import Platform
from moonpad.values.versions import checked_version

# The names of checkpoints in prose: "Kimi-K2-Thinking", "Kimi K2.5".
_NAME: Final = re.compile(r"Kimi[- ]K?[0-9][\w.]*(?:[- ][A-Za-z0-9.]+){0,4}", re.ASCII | re.IGNORECASE)
# `org/name` as on Hugging Face, and no folder.
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_REPOSITORY_IN: Final = re.compile(r"(?<![\w./-])[A-Za-z0-9][\w.-]{0,40}/[\w.-]*[Kk]imi[\w.-]{0,60}(?![\w/])", re.ASCII)
_POINT: Final = re.compile(r"k2[5-9]", re.ASCII)
_SERIES: Final = re.compile(r"v?[0-9]{1,4}\.[0-9]{1,4}", re.ASCII)

NO_DEVICES: Final = "no devices are named"

_ROCM: Final = re.compile(r"\b(?:rocm|amd|mi3[0-9]{2}x?)\b", re.IGNORECASE)
_OF_GFX950: Final = re.compile(r"\Aamd/.*mxfp4", re.IGNORECASE)
"""Checkpoints in a format that is made for devices of this kind: a text that compares names other devices too."""
_ROCM_ENV: Final = ("HIP_", "HSA_", "ROCR_", "AITER_")
_LONGEST: Final = 2000
"""A longer line is data, not prose."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the person who asks has said beside the command line."""

    checkpoint: Checkpoint | None = None
    cluster: Cluster | None = None
    version: str = ""
    engine: str = ""
    """Which build of an engine; "": the one for the platform."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Our names of layout and settings, and what they are: what the command line leaves to a variable or a file."""


@dataclass(frozen=True, slots=True)
class Version:
    text: str
    because: str


def engine_of(command: Command, question: Question, script: Script | None = None) -> str | None:
    """The engine that a command starts, its build for the platform that is meant; None where it serves nothing.

    Where the text (`script`) names a build alone, with a version or by variables that only it reads, that is meant.
    """
    program = program_named(command.program)
    if program is None or program.kind != "server":
        return None
    engine = program_table().engines[program.name]
    if question.engine and engine in (question.engine, _base_of(question.engine)):
        return question.engine
    if build := next((name for name in ENGINES if _is_build(name, engine, command, question)), None):
        return build
    named = script.versions if script is not None else {}
    builds = [name for name in named if name != engine and _base_of(name) == engine]
    if not builds and script is not None:
        builds = [
            name for name in ENGINES if name != engine and _base_of(name) == engine and is_spoken_of(name, script)
        ]
    elsewhere = question.cluster is not None or (command.container is not None and command.container.image is not None)
    return builds[0] if len(builds) == 1 and engine not in named and not elsewhere else engine


def _base_of(engine: str) -> str:
    """The engine that it is a build of; itself where it is none."""
    build = ENGINES[engine].command_line.build
    return build.of if build else engine


def _is_build(name: str, engine: str, command: Command, question: Question) -> bool:
    """Whether the command starts this build of the engine."""
    build = ENGINES[name].command_line.build
    if build is None or build.of != engine:
        return False
    platform = question.cluster.device.platform if question.cluster is not None else None
    image = command.container.image.text if command.container and command.container.image else ""
    words = [word.text for word in command.argv]
    values = {*words, *(f"{flag}={value}" for flag, value in pairwise(words))}
    return (
        (platform is not None and platform is build.platform)
        or (build.image != "" and build.image in image)
        or any(variable.startswith(build.environment) for variable in command.env)
        or any(option in values for option in build.options)
        or any(value.startswith(option) for value in values for option in build.options if "{" in option)
        or any(word.startswith(option) for word in words for option in build.options if "=" not in option)
    )


def version_of(engine: str, script: Script, question: Question, command: Command | None = None) -> Version:
    """The version that was asked for or named, else "" for the newest that the catalogue knows.

    Raises UsageError where --engine-version is neither a version number nor a channel like `nightly`.
    """
    if question.version:
        return _of_series(engine, checked_version(question.version), "as asked")
    line = ENGINES[engine].command_line
    # A build that has no name of its own in texts is called what it is a build of.
    image = command.container.image if command is not None and command.container is not None else None
    own = text_hints.version_of_image(image.text) if image is not None else None
    versions, minimum = script.versions, script.minimum_versions
    if command is not None and len(script.objects) > 1:
        about = script.lines_about(command.line)
        script.budget.work(20 + len(about) + sum(map(len, about)) // 40, "the text around its engine commands")
        versions, minimum = text_hints.versions_of("\n".join(about))
    for name in (engine, line.build.of) if line.build and not line.names else (engine,):
        if own is not None and own[0] == name:
            return _of_series(engine, own[1], f"the text names {name} {own[1]}")
        if named := versions.get(name):
            return _of_series(engine, named, f"the text names {name} {named}")
        if least := minimum.get(name):
            return Version("", f"the text asks for {name} {least} or later: judged by the newest")
    return Version("", "none is named: judged by the newest")


def _of_series(engine: str, text: str, because: str) -> Version:
    """`0.11` is not a release: it stands for the newest of that series."""
    recorded = recorded_versions(ENGINES[engine].program)
    if text in recorded or not _SERIES.fullmatch(text):
        return Version(text, because)
    series = [version for version in recorded if version.startswith(f"{text.removeprefix('v')}.")]
    return Version(series[-1], f"{because}, the newest of {text}") if series else Version(text, because)


def model_of(written: str, served: str, commands: Sequence[Command], script: Script) -> tuple[Model | None, str]:
    """The checkpoint of the catalogue, and how it was found; None, and why, where it is not known.

    A folder, a placeholder or nothing is taken for what the text around it names. `served` is the name that clients
    use.
    """
    unknown = f'no checkpoint of the catalogue is called "{shortened(written, 80)}"' if written else "no model is named"
    if written and (model := find_model(written)) is not None:
        return model, f"named {written}"
    if _REPOSITORY.fullmatch(written):
        ours = [name for name, model in models().items() if not is_other(model)]
        close = difflib.get_close_matches(written, ours, n=1, cutoff=0.8)
        return None, f"{unknown} (did you mean {close[0]}?)" if close else unknown
    only_gguf = _reads_gguf(commands)
    if served and (model := find_model(served)) is not None and not only_gguf:
        return model, f"served as {served}"
    if is_of_another(written):
        return None, unknown
    headings = [command.heading or "" for command in commands]
    script.budget.work(_scan(script), "the text around its engine commands")
    line = min((command.line for command in commands if command.line), default=1)
    script.budget.work(len(script.lines) * len(script.objects) // 4, "the text around its engine commands")
    near = _named_near(script, line)
    for where, model in (("the heading", _named_in(headings)), ("the text", near)):
        if model is not None:
            served_form = "" if _FORMATS.search(model.id.casefold()) else served
            form = _other_format(f"{written} {served_form} {_asked_format(commands)}", model)
            is_gguf = model.quantization is not None and model.quantization.scheme == "gguf"
            if form or (only_gguf and not is_gguf):
                return None, f"{unknown}; {where} names {model.id}, whose weights are not {form or 'GGUF'}"
            return model, f"{where} names {model.id}"
    stands_in = re.fullmatch("x+", written, re.IGNORECASE)
    if not only_gguf and not stands_in and (other := other_in_text(script)) is not None:
        return other, f"the text names {other.id}"
    return None, unknown


_OTHER_NAME: Final = re.compile(
    r"(?:(?<![/\w-])|(?<=deepseek-ai/)|(?<=Qwen/)|(?<=zai-org/)|(?<=meta-llama/)|(?<=MiniMaxAI/))"
    r"(?:Qwen[0-9.]*|QwQ|Deep[Ss]eek|Llama|GLM|MiniMax|Mi[sx]tral|Gemma|Nemotron|EXAONE|Hunyuan|ERNIE|gpt-oss)-[A-Z0-9]"
)


def _named_near(script: Script, line: int) -> Model | None:
    """Of the line that is nearest, above before below; None where that names a model of another family. A repository
    goes before a name, where the text has one alone."""
    lines = [text if script.says_of(at, line) else "" for at, text in enumerate(script.lines, 1)]
    repositories = {
        model.id: model
        for text in lines
        if "kimi" in text[:_LONGEST].casefold()
        for name in _REPOSITORY_IN.findall(text[:_LONGEST])
        if (model := find_model(name)) is not None
        and (model.quantization is None or model.quantization.scheme != "gguf")  # which file it is, is not said
    }
    for at in (*range(line - 2, -1, -1), *range(line - 1, len(lines))):
        text = lines[at][:_LONGEST]
        written = [name for name in _REPOSITORY_IN.findall(text) if "gguf" not in name.casefold()]
        if any(find_model(name) is None for name in written):
            return None  # a checkpoint of the family that the catalogue does not have
        if "k" in text.casefold() and (model := _named_in((text,))):
            return next(iter(repositories.values())) if len(repositories) == 1 else model
        if _OTHER_NAME.search(text):
            return None
    return None


_OURS: Final = re.compile(r"kimi|moonshot|(?<![a-z0-9])k[23](?![a-z0-9])")
_SAYS_NOTHING: Final = re.compile(
    r"(?:my|your|the|base|local)?[-_]?(?:models?|weights?|checkpoints?|ckpts?|snapshots?|hf|llm|path|repo|data|main|"
    r"default|merged|target|dir|folder|latest|x+)(?:[-_]?(?:path|dir|name|folder|id|cache))?|v?[0-9.]*|[0-9a-f]{12,64}"
)
_FAMILIES: Final = re.compile(
    r"qwen|qwq|deepseek|llama-?[0-9]|glm|minimax|mi[sx]tral|gpt-?oss|gemma|nemotron|exaone|hunyuan|ernie|internlm|"
    r"internvl|baichuan|granite|olmo|jamba|command-?r|falcon|phi-?[0-9]|step-?[0-9]|longcat|dsv[0-9]|\bds-?(?:r1|v3)"
)


def is_of_another(written: str) -> bool:
    """Whether the name or the folder says that it is another family's, or simply has a name of its own."""
    plain = written.casefold().rstrip("/")
    if not plain or "$" in plain or "<" in plain or "{" in plain or _OURS.search(plain):
        return False
    return bool(_FAMILIES.search(plain)) or _SAYS_NOTHING.fullmatch(plain.rpartition("/")[2]) is None


_FORMATS: Final = re.compile(
    r"(?<![a-z0-9])(nvfp4|mxfp4|fp4|fp8|w4a8|w8a8|w4a16|int4|int8|awq|gptq|bf16|gguf|u?d?-?q[1-8]_\w+|ascend)(?![a-z0-9])"
)
_SAME: Final[Mapping[str, tuple[str, ...]]] = {
    "fp4": ("nvfp4", "mxfp4"),
    "w4a16": ("int4",),
    "ascend": ("w8a8", "w4a8"),
}


def _other_format(written: str, model: Model) -> str:
    """The format that a folder's name or `--quantization ascend` gives its weights, where the model's is another; ""
    where it says none."""
    scheme = model.quantization.scheme if model.quantization else ""
    for form in _FORMATS.findall(written.casefold()):
        if scheme and form != scheme and scheme not in _SAME.get(form, ()):
            return str(form).upper()
    return ""


def _asked_format(commands: Sequence[Command]) -> str:
    words = [word.text for word in commands[0].argv] if commands else []
    pairs = {(flag, value) for flag, value in pairwise(words)}
    return "ascend" if ("--quantization", "ascend") in pairs or "--quantization=ascend" in words else ""


def _reads_gguf(commands: Sequence[Command]) -> bool:
    """Whether the engine takes nothing but GGUF files."""
    engine = program_table().engines.get(commands[0].program, "") if commands else ""
    return engine in ENGINES and ENGINES[engine].facts.gguf_only


def _named_in(texts: Iterable[str]) -> Model | None:
    """The first checkpoint that is named in full."""
    known = {model.id.rpartition("/")[2].casefold(): model for model in reversed(tuple(models().values()))}
    family: Model | None = None
    for text in texts:
        for name in _NAME.findall(text[:2000]):
            words = [word.strip(".") for word in name.casefold().replace(" ", "-").split("-")]
            words[1] = f"k{words[1].removeprefix('k')}"  # `kimi-2.5`
            if _POINT.fullmatch(words[1]):  # `kimi-k25`
                words[1] = f"{words[1][:2]}.{words[1][2:]}"
            elif len(words) > 2 and words[1] == "k2" and re.fullmatch("[5-9]", words[2]):  # `kimi-k2-5`
                words[1:3] = [f"k2.{words[2]}"]
            for length in range(len(words), 1, -1):
                if model := known.get("-".join(words[:length])):
                    return model
            if words[:2] == ["kimi", "k2"] and family is None:
                family = known.get("kimi-k2-instruct")
    return family


# --- devices ---


def cluster_of(
    engine: Engine,
    reading: Reading,
    script: Script,
    commands: Sequence[Command],
    question: Question,
    *,
    layout_known: bool = True,
) -> tuple[Cluster | None, str]:
    """The devices and how they were found: as asked, as the text says; None, and why, where they are not known.

    A machine that the text counts goes before a kind that it only names, what stands above the command before what
    stands below it. A guide that speaks of another number than the command uses has the kind right.
    """
    if question.cluster is not None:
        return question.cluster, "as asked"
    platforms = engine.platforms
    if platforms == (Platform.CPU,):
        return cluster_named("cpu"), f"{engine.name} runs on a CPU"
    script.budget.work(_scan(script) + 8 * len(script.placed_hints), "the text around its engine commands")
    used = _used(reading, commands[0].container, commands[0].pods)
    first = min(command.line for command in commands)
    variables = (*_ROCM_ENV, *engine.command_line.rocm_env)
    of_gfx950 = _OF_GFX950.search(reading.model) is not None
    of_amd = of_gfx950 or _speaks_of_rocm(script, commands, first, variables)
    rocm = Platform.ROCM in platforms and of_amd
    allowed = (Platform.ROCM,) if rocm else platforms
    named = [
        each
        for each in mentions(script.lines, script.placed_hints)
        if (not each.known or platform_of(each.kind) in allowed) and script.says_of(each.line, first)
    ]
    if not layout_known and commands[0].more and commands[0].arms:
        return None, NO_DEVICES  # a recipe for several kinds
    if of_gfx950:  # a text that compares names other devices too
        named = [each for each in named if capability_of(each.kind) == "gfx950"] or named
    named = [*owned(named, script.lines)]
    if layout_known:
        named = [*of_layout(named, script.lines, {"tp": reading.layout.tp, "pp": reading.layout.pp})]
    others = [each for each in named if rocm or platform_of(each.kind) is not Platform.ROCM] or named
    script.budget.work(2 * len(named), "the text around its engine commands")
    whole = is_fragment(commands[0])  # of the machines that are named, whatever part of the layout it gives
    before = max((other.line for other in script.commands if other.line < first and _serves(other)), default=0)
    sure = sure_mentions(named, script.asked, script.lines, before, first)
    for near in (*sure, *by_nearness(named, others, script.lines, first, document=script.markdown)):
        copy = reading.layout.world_size
        cluster, because = _of_mentions(near, used, copy, allowed, layout_known=layout_known, whole=whole)
        if cluster is not None or because:
            return cluster, because
    if not named:
        names = [each for each in named_by_names(script.lines) if script.says_of(each.line, first)]
        cluster, _ = _of_mentions(
            names, used, reading.layout.world_size, allowed, layout_known=layout_known, whole=whole
        )
        if cluster is not None and layout_known:
            return (
                cluster,
                f"a name in the text has {cluster.name.rpartition('x')[2]}, the command uses {cluster.devices}",
            )
    if rocm:
        return None, "the text is about ROCm, and names no AMD device"
    return None, NO_DEVICES


def _serves(command: Command) -> bool:
    program = program_named(command.program)
    return program is not None and program.kind == "server"


def _of_mentions(
    near: Sequence[Mention],
    used: tuple[int, int | None],
    copy: int,
    allowed: Sequence[Platform],
    *,
    layout_known: bool,
    whole: bool,
) -> tuple[Cluster | None, str]:
    """Of mentions in the order of nearness; (None, "") where they say nothing. `copy`: devices of one whole copy."""
    devices, per_node = used
    machines = [
        (each, machine)
        for each in near
        if each.machine is not None and each.known and (machine := cluster_named(each.machine)) is not None
    ]
    counted = [(each, machine) for each, machine in machines if machine.device.platform in allowed]
    # Of several whole copies a text may count the devices of one, where they are meant to share them.
    fitting = devices if any(machine.devices == devices for _, machine in counted) else copy
    exact = [
        (each, machine)
        for each, machine in counted
        if machine.devices == fitting and per_node in (None, machine.per_node)
    ]
    if exact and (kinds := _kinds_named([each for each, _ in exact])):
        return (exact[0][1], f"the text names {exact[0][1].name}") if len(kinds) == 1 else (None, _several(kinds))
    kinds = _kinds_named([each for each, _ in counted])
    if len(kinds) > 1:
        return None, _several(kinds)
    if counted and (devices == 1 or not layout_known or (whole and counted[0][1].devices >= copy)):
        return counted[0][1], f"the text names {counted[0][1].name}"
    foreign = next((each.kind for each in near if not each.known and (each.machine or len(each.kind) > 3)), None)
    if foreign is not None and not counted:
        return None, f"the text names {foreign}, which the catalogue does not have: --on 8xH200 names another"
    if not layout_known:
        return None, ""
    if not kinds:
        kinds = _kinds_named([each for each in near if each.known and platform_of(each.kind) in allowed])
        if len(kinds) > 1:
            return None, _several(kinds)
    for kind in kinds:
        nodes = cluster_named(f"{devices // per_node}x{per_node}x{kind}") if per_node is not None else None
        if (cluster := nodes or cluster_named(f"{devices}x{kind}")) is not None:
            return cluster, f"the text names {kind}, the command uses {devices}"
    return None, ""


def _kinds_named(near: Sequence[Mention]) -> list[str]:
    """Each kind once; of several on one line the first, for `8x H200/H20` are two that will both do."""
    firsts: dict[int, str] = {}
    for each in near:
        firsts.setdefault(each.line, each.kind)
    return list(dict.fromkeys(firsts.values()))


def _several(kinds: Sequence[str]) -> str:
    return f"the text names {' and '.join(kinds[:4])}: say which with --on"


def _used(reading: Reading, container: Wrapper | None, pods: int) -> tuple[int, int | None]:
    """How many devices a command line uses, and how many of them on each node, as far as it says."""
    layout, node = reading.layout, reading.node
    devices = layout.world_size * reading.replicas
    local = node.data_parallel_local * layout.tp * layout.pp if node.data_parallel_local else None
    if container is not None and local is None and node.nodes is None:
        local = container.devices
    if local is not None and 0 < local <= devices and devices % local == 0:
        return devices, local
    if node.nodes is not None and 0 < node.nodes <= devices and devices % node.nodes == 0:
        return devices, devices // node.nodes
    if pods > 1 and devices % pods == 0:
        return devices, devices // pods
    return devices, None


def _speaks_of_rocm(script: Script, commands: Sequence[Command], line: int, variables: tuple[str, ...]) -> bool:
    """By the headings above, the container's image, and variables whose names begin as those that only ROCm reads."""
    texts = [*_titles(script, line)]
    for command in commands:
        if any(name.startswith(variables) for name in command.env):
            return True
        image = command.container.image if command.container else None
        texts += (*command.comments, command.heading or "", image.text if image else "")
    return any(_ROCM.search(text[:_LONGEST]) for text in texts)


def _titles(script: Script, line: int) -> Iterator[str]:
    """The headings of a document that a line stands under."""
    chains = sections(script.lines) if script.markdown else ()
    for number in chains[min(line, len(chains)) - 1] if chains else ():
        yield script.lines[number - 1].strip("# ")


def _scan(script: Script) -> int:
    """Steps of work to look through the whole text once."""
    return 20 + len(script.lines) + sum(min(len(line), _LONGEST) for line in script.lines) // 40
