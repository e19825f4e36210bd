"""What a command of the family lacks or has too much: its release, its own code, its parsers, its names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from moonpad.catalog.reasoning_parsers import without_thoughts
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.own_code_names import KNOWS_FAMILY, NEEDS_CODE, OTHER_PATTERN, TRUST_OPTION
from moonpad.engines.thinking_parsers import PASSES_ON
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.other_families import is_other
from moonpad.explain.checks.models.repository_names import REPOSITORY
from moonpad.explain.checks.models.serving_flags import of_family
from moonpad.explain.checks.models.trusted_code import log_asks, needed_by_options, said_to_need
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.shell.stand_in import stand_in
from moonpad.explain.target_detection import asked_least
from moonpad.plan.rules.formats import model_version
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.versions import since

INT4_OVER_DEEPEP: Final = "0.12.0"
"""The first vLLM whose INT4 experts (compressed-tensors) take tokens from DeepEP."""
INT4_REFUSED: Final = "0.5.12"
"""The oldest SGLang that was read whose table of kernels and exchanges lacks Marlin with DeepEP."""
_OF_DEEPEP: Final = ("deepep", "mooncake", "nixl")
"""Exchanges of tokens in DeepEP's form."""
_DEEPEP_ALONE: Final = ("--deepep-mode", "--deepep-config")
_EXPERT_RANKS: Final = "--ep-size"
_INT4_SPREAD: Final = "0.5.6"
"""The first SGLang whose INT4 experts are spread over ranks (sgl-project/sglang#13725)."""
_FAMILY: Final = re.compile(r"kimi[-_ ]?k?(\d(?:\.\d)?)(?![\d.])", re.IGNORECASE)
_OWN_TOKENIZER: Final = re.compile(r"(?:^|/)(?:kimi-vl-|moonlight-16b)", re.IGNORECASE)
"""Smaller models of the same publisher, whose tokenizer is code too (their README.md start with the option)."""
_TRACEBACK: Final = re.compile(r"(?<!['\"])Traceback \(most recent call last\):?\s*$")
_LONGEST: Final = 400
_MOST_LINES: Final = 2000


def model_release(case: Case) -> Iterator[Remark]:
    """Where the devices are known, the rule of this name says it. What a publisher asks for is a warning: an older
    release may know the layers all the same."""
    if case.version and (configuration := stand_in(case)) is not None:
        for finding in model_version(configuration):
            if fork := case.commands[0].fork:  # its maker may have added the model to an older release
                message = f"{finding.message}; {fork} may"
                yield Remark(replace(finding, severity=Severity.NOTE, message=message, remedy=""), None)
                continue
            runs = case.commands[0].serves  # by the text: then another release is there than it names
            asked = configuration.architecture.model_type in configuration.engine.asked_versions
            level = Severity.WARNING if runs or asked else Severity.ERROR
            yield Remark(replace(finding, severity=level), None, ends_start=asked and not runs)


def served_name(case: Case) -> Iterator[Remark]:
    """Clients ask for another model than the one that answers."""
    served, checkpoint = case.first.served_name, case.checkpoint
    if checkpoint is None or not served or case.option("--served-model-name", "--alias") is None:
        return
    asked, is_it = _FAMILY.search(served), _FAMILY.search(checkpoint.name)
    if asked and is_it and asked[1] != is_it[1] and not is_it[1].startswith(asked[1]):
        place = case.option("--served-model-name", "--alias")
        message = f"clients will ask for {shortened(served)}, and {checkpoint.name} answers"
        remedy = "serve the model of that name, or rename it"
        at = place.index if place else None
        yield make_remark(Severity.WARNING, Code.MODEL_NAME, "--served-model-name", message, remedy, at=at)


def no_thoughts(case: Case) -> Iterator[Remark]:
    """A parser of reasoning for a model that has none."""
    name = (case.checkpoint.name if case.checkpoint else case.model_named).rstrip("/").rpartition("/")[2]
    flag = case.engine.command_line.reasoning_parser
    place = case.option(flag) if flag else None
    if place is None or not without_thoughts(name):
        return
    message = (
        f"{shortened(name)} does not think: the parser waits for the end of thoughts that never come, so answers may "
        "arrive as reasoning with an empty content, and some releases refuse the start"
    )
    until = PASSES_ON.get(case.base, {}).get(str(place.value).strip("'\""))
    if until == "" or (until and case.version and not since(case.version, until)):
        message = f"{shortened(name)} does not think, and this parser looks for thoughts between their marks alone: "
        message += "it has no effect, and some releases refuse the start"
    edit = Edit(place.index, place.length, ())
    code = Code.CONFLICT
    yield make_remark(Severity.WARNING, code, flag, message, "leave it out", at=place.index, edits=[edit])


def remote_code(case: Case) -> Iterator[Remark]:
    """Checkpoints of the family bring Python code of their own: the tokenizer, of some the configuration too.

    With releases that know none of it the start fails; later ones load a part of the family by classes of their own.
    """
    option = TRUST_OPTION.get(case.base)
    name = case.checkpoint.name if case.checkpoint else case.model_named
    served = case.first.served_name or ""
    if case.checkpoint is None and (not name or unresolved(name)) and REPOSITORY.fullmatch(served):
        name = served
    if option is None or case.first.serving.trust_remote_code or case.open_ended or "tiny" in name:
        return
    if not case.laid_out and not all(word.text for word in case.commands[0].argv):
        return  # a script that is told more when it is called
    of_ours = of_family(name) or _OWN_TOKENIZER.search(name) is not None
    if case.checkpoint is None and not (REPOSITORY.fullmatch(name) and of_ours):
        return
    if case.checkpoint is not None and is_other(case.checkpoint) and not _OWN_TOKENIZER.search(case.checkpoint.name):
        return
    title, name = case.engine.facts.title, shortened(name)
    first = KNOWS_FAMILY.get(case.engine.name, "")
    written = case.model_named or (name if is_fragment(case.commands[0]) else "")
    named = _FAMILY.search(written) or "kimi-linear" in written.casefold()
    own = case.option("--tokenizer", "--tokenizer-path", "--skip-tokenizer-init", "--tokenizer-mode")
    known = case.checkpoint is not None and case.version and first
    model_type = case.checkpoint.architecture.model_type if case.checkpoint is not None else ""
    called = named or _OWN_TOKENIZER.search(written)
    always = model_type in NEEDS_CODE.get(case.engine.name, ()) and called and own is None
    if always or (known and not since(case.version, first) and named and own is None):
        release = f" {case.version}" if case.version else ""
        message = f"{name} brings a tokenizer in Python, and {title}{release} ends at its start without it"
        for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
            if not reading.serving.trust_remote_code:
                edits = [Edit(len(command.argv), 0, (option,))]
                severity = Severity.NOTE if is_fragment(command) else Severity.ERROR  # a list need not be whole
                of_newest = severity is Severity.ERROR and not case.version
                if severity is Severity.ERROR and (of_newest or not _serves(case)):
                    severity = Severity.WARNING  # also a build of its own, whatever it calls itself
                remark = make_remark(severity, Code.MISSING_FLAG, option, message, f"add {option}", edits=edits)
                yield replace(remark, command=number, ends_start=of_newest)
        return
    if is_fragment(case.commands[0]):
        return
    message = f"{name} brings a tokenizer in Python, which {_without_code(case, model_type, first)}"
    of_served = _FAMILY.search(served) or _OWN_TOKENIZER.search(served)
    by_clients = unresolved(written) and REPOSITORY.fullmatch(served) is not None and of_served
    known_by = called or (known and by_clients)
    likely = "" if own is not None or not known_by else _why_it_lacks(case, first)
    # A program hands its words to the engine, and a person who starts it sees no line of advice of a server.
    reads_otherwise = case.commands[0].embedded and called and own is None and not case.serves_already
    reads_otherwise = reads_otherwise and not log_asks(case)
    reads_otherwise = reads_otherwise and bool(first) and model_type in OTHER_PATTERN.get(case.engine.name, ())
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        if (likely or reads_otherwise) and not reading.serving.trust_remote_code:
            edits = [Edit(len(command.argv), 0, (option,))]
            said = f"{message}: {likely}" if likely else message
            remedy = f"pass {option.lstrip('-').replace('-', '_')}=True" if command.embedded else f"add {option}"
            remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, option, said, remedy, edits=edits)
            stops = bool(known and by_clients) and _serves(case)
            yield replace(remark, command=number, complained=_shows_traceback(case), stops=stops)
    if not (likely or reads_otherwise) and not log_asks(case):
        advice = make_remark(Severity.NOTE, Code.MISSING_FLAG, option, message, f"add {option}")
        yield replace(advice, others=tuple(_where_it_lacks(case, option, first)) if known_by and own is None else ())


def _without_code(case: Case, model_type: str, first: str) -> str:
    """What becomes of the tokenizer without its code."""
    title, own = case.engine.facts.title, "cut words otherwise than the model has learned"
    if not first or model_type not in OTHER_PATTERN.get(case.engine.name, ()):
        return "some releases load only with it"
    if case.version:
        return f"newer releases of {title} read without it too, but {own}"
    return f"{title} up to {first.removesuffix('.post1')} loads only with it; without it newer ones {own}"


def _where_it_lacks(case: Case, option: str, first: str) -> Iterator[tuple[int, tuple[Edit, ...]]]:
    """Where no release is named: some of those that may be meant, from before `first`, end without it."""
    least = asked_least(case.engine.name, case.script, case.commands[0])
    if case.version or (first and least and since(least, first)):
        return
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        if not reading.serving.trust_remote_code:
            yield number, (Edit(len(command.argv), 0, (option,)),)


def _why_it_lacks(case: Case, first: str) -> str:
    """What makes it more than an advice: a release, or the oldest that the text asks for, from before the first that
    has classes of its own, or a traceback whose cause the text does not show."""
    title, least = case.engine.facts.title, asked_least(case.engine.name, case.script, case.commands[0])
    if first and case.version and not since(case.version, first):
        return f"{title} {case.version} ends at its start without it"
    if first and not case.version and least and not since(least, first):
        return f"the text asks for {title} {least} or later, and what came before {first} ends without it"
    told = "" if case.version else said_to_need(case) or (needed_by_options(case, first) if not least else "")
    if told:
        return told
    unknown = first and not case.version and not case.script.error_lines
    return "the traceback may be of this" if unknown and _shows_traceback(case) else ""


def _shows_traceback(case: Case) -> bool:
    case.script.budget.once("a traceback", len(case.script.lines), "the code of its model")
    return any(_TRACEBACK.search(line[:_LONGEST]) for line in case.script.lines[:_MOST_LINES])


def _serves(case: Case) -> bool:
    """Whether the release of that number knows the model at all."""
    model_type = case.checkpoint.architecture.model_type if case.checkpoint else ""
    first = case.engine.facts.first_versions.get(model_type, "")
    return not first or since(case.version, first)


def int4_deepep(case: Case) -> Iterator[Remark]:
    checkpoint = case.checkpoint
    quantization = checkpoint.quantization if checkpoint else None
    if checkpoint is None or quantization is None or quantization.scheme != "int4":
        return
    if quantization.method not in ("compressed-tensors", "") or case.commands[0].fork:
        return  # builds for devices of others have kernels of their own for both
    on_npu = case.text("--device") == "npu" or case.text("--attention-backend") == "ascend"
    if on_npu or (case.cluster is not None and case.cluster.device.platform is not Platform.CUDA):
        return  # the reports are of CUDA's kernels
    why = f"{checkpoint.name} has INT4 experts (compressed-tensors, Marlin)"
    if case.base == names.EXPERTS_BY_OPTION and (place := case.option("--moe-a2a-backend")):
        if place.value in _OF_DEEPEP:
            yield _int4_refused(case, place, why)
    elif case.base == names.EXPERTS_BY_VARIABLE and case.version and not since(case.version, INT4_OVER_DEEPEP):
        place, variable = case.option("--all2all-backend"), names.EXPERTS_VARIABLE
        by_option = case.text("--all2all-backend").startswith("deepep")
        if not by_option and not case.variable(variable).startswith("deepep"):
            return
        where = "--all2all-backend" if by_option else variable
        message = f"{why}, which take DeepEP's tokens from {names.EXPERTS_TITLE} {INT4_OVER_DEEPEP} on"
        remedy = f"take {INT4_OVER_DEEPEP} or later, or the default all-to-all"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy)
        yield replace(remark, at=place.index) if by_option and place else replace(remark, variable=variable)


def _int4_refused(case: Case, place: Occurrence, why: str) -> Remark:
    """From a release on the engine has the pair of kernel and exchange in a table, and refuses what it lacks."""
    asked = case.text("--moe-runner-backend")
    plain = asked in ("", "auto", "marlin") and case.option("--enable-lora", "--lora-paths") is None
    plain = plain and not is_fragment(case.commands[0])
    refuses = plain and (not case.base_version or since(case.base_version, INT4_REFUSED))
    by_name = bool(case.base_version) and refuses
    ends = f"the start ends (requires a fused func for a2a backend {place.value})"
    older = "before, reports end in an illegal memory access"
    happens = f"from {INT4_REFUSED} on {ends}, and {older}" if refuses else "reports end in an illegal memory access"
    message = f"{why}, which do not take DeepEP's tokens: {ends if by_name else happens}"
    severity = Severity.ERROR if by_name else Severity.WARNING
    edits = [*_ranks_without_deepep(case)]
    spread = f", with {_EXPERT_RANKS} for as many ranks" if edits else ""
    remedy = f"leave it out{spread}, or serve FP8 weights, or NVFP4 ones on Blackwell"
    where = "--moe-a2a-backend"
    first = next((each for number, each in edits if number == 0), ())
    remark = make_remark(severity, Code.CONFLICT, where, message, remedy, at=place.index, edits=first)
    others = tuple(each for each in edits if each[0] != 0)
    return replace(remark, ends_start=refuses and not by_name, others=others)


def _ranks_without_deepep(case: Case) -> Iterator[tuple[int, tuple[Edit, ...]]]:
    """Of each command what keeps its experts on as many ranks as DeepEP spreads them over, which is all: nothing where
    that number is not known, or the INT4 experts of that release are not spread out at all."""
    ranks = case.first.layout.tp * (case.first.layout.dp if case.first.attention_dp else 1)
    if not case.laid_out or case.open_ended or ranks < 2 or case.text("--moe-dp-size", "--moe-data-parallel-size"):
        return
    if case.base_version and not since(case.base_version, _INT4_SPREAD):
        return
    for number, reading in enumerate(case.readings):
        parsed = reading.parsed
        place, own = parsed.occurrence("--moe-a2a-backend"), parsed.occurrence(_EXPERT_RANKS)
        if place is None or (own is not None and own.value != str(ranks)):
            return
        instead = () if own is not None else (_EXPERT_RANKS, str(ranks))
        moot = (each for flag in _DEEPEP_ALONE if (each := parsed.occurrence(flag)) is not None)
        left = (Edit(each.index, each.length, ()) for each in moot)
        yield number, (Edit(place.index, place.length, instead), *left)


MODEL_CHECKS: Final[tuple[Callable[[Case], Iterator[Remark]], ...]] = (
    model_release,
    served_name,
    no_thoughts,
    remote_code,
    int4_deepep,
)
