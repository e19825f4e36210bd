"""Checkpoints that are not of the Kimi family: what their names mean where the publisher is not named.

A folder `/models/DeepSeek-R1` holds the publisher's weights or others that were made of them; a repository says it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from moonpad.catalog.model_row import Model
from moonpad.catalog.models import find_model
from moonpad.catalog.options import values_of, versions
from moonpad.engines.base import Engine, Reading
from moonpad.engines.foreign_names import OVERRIDES
from moonpad.engines.value_checks import unresolved
from moonpad.explain.commands import Script
from moonpad.plan.parsers import OTHER_FAMILY
from moonpad.plan.rules.formats import MODELSLIM
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.platform import Platform

_LONGEST: Final = 2000
_OTHER_WEIGHTS: Final = re.compile(
    r"(?<![a-z0-9])(?:nvfp4|mxfp4|fp4|w[48]a8(?:c8)?|w4a16|w4afp8|int4|int8|awq|gptq|gguf|i?q[1-8]_\w+|bf16)(?![a-z0-9])",
    re.IGNORECASE,
)
"""Words for weights that others made."""
_FORMATS: Final = r"(?:NVFP4|FP8|BF16|INT8|W8A8)"
_NAMED: Final = re.compile(
    r"(?<![\w/.-])(?:deepseek-ai/)?DeepSeek[- ]?(R1(?:[- ]0528)?|V3(?:[- ]0324|\.1(?:[- ]Terminus)?)?)(?![\w/]|[-.]\w"
    r"|[: -](?!671)\d{1,3}(?:\.\d)?B\b)",
    re.IGNORECASE,
)
"""Not `deepseek-r1:1.5b`, a smaller model that learnt from it."""
_OURS: Final = re.compile(r"kimi|moonshot|qwen|llama-?[0-9]|glm-?[0-9]|minimax|mi[sx]tral|gemma", re.IGNORECASE)
_OF_ASCEND: Final = re.compile(r"\b[Aa]scend(?:\b|_)|\bASCEND|\bHCCL_|昇腾|\b[Nn][Pp][Uu]s?\b|\bAtlas[ ]800|\b910[BC]")
_METHODS: Final = "quantization"
_AS_PUBLISHED: Final = frozenset({"", "fp8", "auto"})
_OF_WEIGHTS: Final = ("compressed-tensors", "modelopt", "quark", "awq", "gptq")
"""How methods are called that weights bring themselves: an engine makes none of them while it loads."""
_SIZES: Final = ("num_hidden_layers", "hidden_size", "moe_intermediate_size", "num_experts", "n_routed_experts")
"""Of a configuration, what says how many bytes the weights are."""
IF_PUBLISHED: Final = "; so it is if these are the weights of "
"""Behind what is said of a folder by its name."""
_OF_FORMAT: Final = (Code.DOES_NOT_FIT, Code.UNSUPPORTED_FORMAT)


def is_other(checkpoint: Checkpoint | Model | None) -> bool:
    architecture = checkpoint.architecture if checkpoint is not None else None
    return architecture is not None and architecture.model_type.startswith(OTHER_FAMILY)


def in_full(name: str, written: str) -> bool:
    """Whether the repository is named, or a cache's folder of it: a path of the same words may hold other weights."""
    plain = written.casefold()
    return name.casefold() == plain or f"models--{name.casefold().replace('/', '--')}" in plain


def other_in_text(script: Script) -> Model | None:
    """The one checkpoint of another family that a text names, where it names none of this one."""
    found: set[str] = set()
    for line in script.lines:
        text = line[:_LONGEST]
        if _OURS.search(text):
            return None
        found |= {f"deepseek-{match[1].casefold().replace(' ', '-')}" for match in _NAMED.finditer(text)}
    return find_model(found.pop()) if len(found) == 1 else None


def doubtful_name(checkpoint: Checkpoint, written: str) -> bool:
    """Whether a folder's name alone says that it is this checkpoint of another family."""
    return is_other(checkpoint) and not in_full(checkpoint.name, written)


def doubtful_weights(model: Model, reading: Reading, engine: Engine, script: Script) -> str:
    """Why weights of such a name are perhaps not the publisher's, as a sentence without its end; "" where they are."""
    scheme = model.quantization.scheme if model.quantization else ""
    asked = reading.parsed.occurrence("--quantization")
    given = asked.value if asked is not None and isinstance(asked.value, str) else ""
    if resized := _resized_by(reading):
        return f"{resized} makes another size of {model.id}, whose weights are not known"
    if is_of_own_build(given.strip("'\"").casefold(), engine) and not in_full(model.id, reading.model):
        return f"--quantization {given[:40]} is of no release: what its weights are is not known"
    if _is_made_for_another(model, given, engine) and not _is_said(model.id, reading.model, script):
        name = model.id.rpartition("/")[2]
        return f"whether {name} is ModelSlim's, made for Ascend, or of a format for GPUs is not said"
    if not is_other(model):
        of_others = is_of_other_weights(given.strip("'\"").casefold(), model) and find_model(reading.model) is None
        if of_others:
            return f"--quantization {given[:40]} is for other weights than those of {model.id}"
        spoken = "" if in_full(model.id, reading.model) else _said_form(model, scheme, script)
        return f"the text says that its weights of {model.id.rpartition('/')[2]} are {spoken}" if spoken else ""
    if in_full(model.id, reading.model) or scheme == "gguf":
        return ""  # of a GGUF file the name says the type
    name = model.id.rpartition("/")[2]
    if Platform.ASCEND in engine.platforms:
        return f"which weights of {name} they are is not said, and these devices do not read the publisher's"
    if given.strip("'\"").casefold() not in _AS_PUBLISHED:
        return f"which weights of {name} are meant with --quantization {given[:40]} is not said"
    script.budget.work(len(script.lines), "the text around its engine commands")
    for line in script.lines:
        form = _OTHER_WEIGHTS.search(line[:_LONGEST])
        if form and form[0].casefold() not in f"{scheme} {name.casefold()}":
            return f"whether {name} is the publisher's or in {form[0].upper()} is not said"
    return ""


def _said_form(model: Model, scheme: str, script: Script) -> str:
    """Another format than the publisher's that the text gives the model: `an FP8 Kimi-K3`, `Kimi-K3, FP8 weights`."""
    name = re.escape(model.id.rpartition("/")[2])
    said = re.compile(
        rf"\b(?P<first>{_FORMATS})[ -]{name}(?![\w-])"
        rf"|(?<![\w/-]){name},? (?:with |in )?(?P<behind>{_FORMATS})(?: [a-z]+-quantized| quantized)? weights\b",
        re.IGNORECASE,
    )
    script.budget.work(len(script.lines), "the text around its engine commands")
    found = {
        (match["first"] or match["behind"]).upper() for line in script.lines for match in said.finditer(line[:_LONGEST])
    }
    return next(iter(found)) if len(found) == 1 and not any(form.casefold() in scheme for form in found) else ""


def _is_made_for_another(model: Model, given: str, engine: Engine) -> bool:
    """Whether the catalogue has weights of that name for Ascend alone, and the engine runs on other devices: those in
    W4AFP8 are called W4A8 too."""
    quantization = model.quantization
    ours = quantization is not None and quantization.scheme in MODELSLIM and not engine.facts.reads_modelslim
    return ours and given.strip("'\"").casefold() != "ascend"


def _is_said(name: str, written: str, script: Script) -> bool:
    """Whether the repository is named in full, or the text is about devices of Ascend."""
    if in_full(name, written):
        return True
    script.budget.work(2 * len(script.lines), "the text around its engine commands")
    texts = (line[:_LONGEST] for line in script.lines)
    return any(name.casefold() in text.casefold() or _OF_ASCEND.search(text) for text in texts)


def _resized_by(reading: Reading) -> str:
    """The option that writes other sizes over the model's configuration, as for a start with a few layers and random
    weights; "" where none does."""
    for flag in OVERRIDES:
        option = reading.parsed.occurrence(flag)
        text = option.value if option is not None and isinstance(option.value, str) else ""
        if any(f'"{size}"' in text for size in _SIZES):
            return flag
    return ""


def is_of_own_build(method: str, engine: Engine) -> bool:
    """Whether no release that is recorded has this method of quantisation: somebody's own build reads it."""
    if not method or unresolved(method):
        return False
    known = _ever_known_methods(engine.program)
    return bool(known) and method not in (*known, "none", "auto")


@cache
def _ever_known_methods(program: str) -> frozenset[str]:
    return frozenset(name for release in versions(program) for name in values_of(program, release, _METHODS))


def is_of_other_weights(method: str, model: Model) -> bool:
    """Whether a method of quantisation that weights bring themselves is not that of this checkpoint."""
    own = model.quantization.method if model.quantization else ""
    asked = next((kind for kind in _OF_WEIGHTS if method.replace("_", "-").startswith(kind)), "")
    return bool(asked and own) and not own.replace("_", "-").startswith(asked)


def as_published(finding: Finding, configuration: Configuration, written: str) -> Finding:
    """The finding as it is, or weaker: what is said of weights that are taken to be the publisher's by a folder's name,
    and what was measured with the Kimi family alone."""
    checkpoint = configuration.checkpoint
    if not is_other(checkpoint):
        return finding
    if finding.code is Code.TIGHT and finding.severity is Severity.WARNING:
        return Finding(Severity.NOTE, finding.code, finding.where, finding.message, finding.remedy)
    of_format = finding.code in _OF_FORMAT or "block" in finding.message
    if finding.severity is Severity.ERROR and of_format and doubtful_name(checkpoint, written):
        message = f"{finding.message}{IF_PUBLISHED}{checkpoint.name}"
        return Finding(Severity.WARNING, finding.code, finding.where, message, finding.remedy)
    return finding
