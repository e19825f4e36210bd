"""Which model a command line is about, and how we know."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from moonpad.catalog.cached_names import FAMILIES, OURS, repository_of
from moonpad.catalog.looked_up_files import looked_up_file
from moonpad.catalog.model_row import Model
from moonpad.catalog.models import find_model, models, uncounted_file, untyped_file
from moonpad.catalog.other_models import other_model
from moonpad.engines import ENGINES
from moonpad.engines.draft_names import is_draft
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.models.other_families import is_other, other_in_text
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.headed_models import lines_of_other_models
from moonpad.explain.documents.spoken_models import spoken_model
from moonpad.explain.downloaded_models import downloaded_into
from moonpad.explain.folder_formats import FORMATS, other_format
from moonpad.explain.folder_names import stands_for_another, usual_name, with_owner
from moonpad.explain.grouping import model_of as named_model
from moonpad.explain.mounted_models import as_published, on_the_host
from moonpad.explain.programs import is_server, program_table
from moonpad.explain.results import shortened
from moonpad.explain.unknowns import LEFT_OUT

# The names of checkpoints in prose: "Kimi-K2-Thinking", "Kimi K2.5".
_NAME: Final = re.compile(r"Kimi[- ]K?[0-9][\w.]*(?:[- ][A-Za-z0-9.]+){0,4}", re.ASCII | re.IGNORECASE)
# `org/name` as on Hugging Face, and no folder.
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_REPOSITORY_IN: Final = re.compile(r"(?<![\w./-])[A-Za-z0-9][\w.-]{0,40}/[\w.-]*[Kk]imi[\w.-]{0,60}(?![\w/])", re.ASCII)
_POINT: Final = re.compile(r"k2[5-9]", re.ASCII)
_BRACKETED: Final = re.compile(r"<[^<>]{1,80}>")
_VARIABLE: Final = re.compile(r"\$(?:\w{1,60}|\{\w{1,60}\})", re.ASCII)
_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_ALIKE: Final = 0.9
"""Of two names of which one is a slip for the other: `Kimi-VL-A3B-Instruct` is none of `Kimi-K2-Instruct`."""


def model_of(written: str, served: str, commands: Sequence[Command], script: Script) -> tuple[Model | None, str]:
    """The checkpoint of the catalogue, and how it was found; None, and why, where it is not known.

    A folder, a placeholder or nothing is taken for what the text around it names. `served` is the name that clients
    use.
    """
    written = looked_up_file(written) or written
    unknown = _unknown(written)
    if untyped_file(written):
        return None, unknown
    if written and (model := find_model(written)) is not None:
        return model, f"named {written}"
    written = repository_of(written)
    if _REPOSITORY.fullmatch(written) or is_draft(written):
        ours = [name for name, model in models().items() if not is_other(model)]
        close = difflib.get_close_matches(written, ours, n=1, cutoff=_ALIKE)
        return None, f"{unknown} (did you mean {close[0]}?)" if close else unknown
    only_gguf = _reads_gguf(commands)
    asked = _asked_format(commands)
    if (model := find_model(usual_name(written))) is not None and not only_gguf and not other_format(asked, model):
        return model, f"named {written}"
    if not only_gguf and (model := _owned(written)) is not None:
        return model, f"named {written}"
    if served and (model := find_model(served)) is not None and not only_gguf and not _is_another(written, model):
        return model, f"served as {served}"
    mounted = on_the_host(written, commands)
    known = (find_model(name) for name in (mounted, as_published(mounted), as_published(written)) if name)
    if not only_gguf and (model := next(filter(None, known), None)) is not None:
        if not mounted:
            return model, f"named {written}"
        return model, f"mounted from {mounted}"
    if _is_template(written, commands, script):
        return None, "it is to be filled in, as options are, and other commands of the text have their own"
    downloaded = "" if only_gguf else downloaded_into(written, script)
    if downloaded and (model := find_model(downloaded)) is not None and not _is_another(written, model):
        return model, f"downloaded from {model.id}"
    meant = mounted or _assigned(written, script)
    of_other = FAMILIES.search(meant.casefold()) is not None and not OURS.search(meant.casefold())
    called = find_model(usual_name(served)) if served and not only_gguf else None  # `kimi-k2-6` of what a folder holds
    called = None if called is not None and _is_another(written, called) else called
    if of_other or (is_of_another(written) and called is None):
        return None, unknown
    if stands_for_another(written):
        other = None if only_gguf or "deepseek" not in written.casefold() else other_in_text(script)
        return other, f"the text names {other.id}" if other is not None else unknown
    near = _near(commands, script)
    if called is not None and (near is None or near.architecture != called.architecture):
        return called, f"served as {served}"
    if (spoken := _spoken(near, written, commands, script)) is not None:
        where, model = spoken
        served_form = "" if FORMATS.search(model.id.casefold()) else served
        form = other_format(f"{written} {served_form} {asked} {_spoken_form(written, model, script)}", model)
        is_gguf = model.quantization is not None and model.quantization.scheme == "gguf"
        if only_gguf and not is_gguf and not form and (files := _gguf_repositories(script)):
            others = f" and {len(files) - 1} more" if len(files) > 1 else ""
            return None, f"{unknown}; the text names {files[0]}{others}"
        if form or (only_gguf and not is_gguf):
            return None, f"{unknown}; {where} names {model.id}, whose weights are not {form or 'GGUF'}"
        return model, f"{where} names {model.id}"
    stands_in = re.fullmatch("x+", written, re.IGNORECASE)
    if not only_gguf and not stands_in and (other := other_in_text(script)) is not None:
        return other, f"the text names {other.id}"
    return None, unknown


def _is_template(written: str, commands: Sequence[Command], script: Script) -> bool:
    """Whether model and options are both left to the reader, and other commands of the text name models."""
    if not _BRACKETED.fullmatch(written) or not any(word.text in LEFT_OUT for each in commands for word in each.argv):
        return False
    own = {command.line for command in commands}
    others = (named_model(each) for each in script.commands if each.line not in own and is_server(each.program))
    return any(name is not None and not unresolved(name) for name in others)


def spoken_of(written: str, commands: Sequence[Command], script: Script) -> Model | None:
    """What the headings or the text name for a folder or a placeholder, in whatever format its weights are."""
    spoken = _spoken(_near(commands, script), written, commands, script)
    return spoken[1] if spoken is not None else None


def _near(commands: Sequence[Command], script: Script) -> Model | None:
    script.budget.work(script.steps_to_scan, "the text around its engine commands")
    script.budget.work(len(script.lines) * len(script.objects) // 4, "the text around its engine commands")
    return _named_near(script, min((command.line for command in commands if command.line), default=1))


def _spoken(near: Model | None, written: str, commands: Sequence[Command], script: Script) -> tuple[str, Model] | None:
    """Where it is named, and which it is: in the heading of the command, else in the text, else in its titles."""
    if (headed := _named_in(command.heading or "" for command in commands)) is not None:
        return "the heading", headed
    if near is not None:
        return "the text", near
    titled = _in_title(script) if says_nothing(written) else None
    return ("the heading", titled) if titled is not None else None


_GGUF: Final = re.compile(
    r"(?<![\w./-])[A-Za-z0-9][\w.-]{0,40}/[\w.-]{1,80}-GGUF(?::[\w.-]{1,40})?(?![\w/])", re.IGNORECASE
)


def _gguf_repositories(script: Script) -> list[str]:
    return list(dict.fromkeys(name for line in script.lines for name in _GGUF.findall(line[:_LONGEST])))


_SHORT: Final = re.compile(r"(?<![\w./-])K(?:2\.[5-9]|3)(?:[ -](?:Code|Thinking))?(?![\w.-]|\.\d)", re.ASCII)
_TITLE: Final = re.compile(r"#{1,3}[ ]")


def _in_title(script: Script) -> Model | None:
    """The checkpoint of the family that the headings call by its short name alone, `K2.6: garbage with TP4`."""
    titles = [text[:_LONGEST] for text in script.lines if _TITLE.match(text)] if script.markdown else []
    found = {name.replace(" ", "-") for text in titles for name in _SHORT.findall(text)}
    return _named_in((f"Kimi-{found.pop()}",)) if len(found) == 1 else None


_GENERATION: Final = re.compile(r"(?<![a-z0-9])[vkr][0-9](?:\.[0-9])?(?![0-9])", re.ASCII)


def _is_another(written: str, model: Model) -> bool:
    """Whether the folder's own name is that of another generation of the family, `DeepSeek-V3.1` served as R1, or of
    weights in another format, `Kimi-K2.5-MXFP4` served as Kimi-K2.5."""
    name, known = written.rstrip("/").rpartition("/")[2].casefold(), model.id.rpartition("/")[2].casefold()
    generations, others = ({*_GENERATION.findall(each)} for each in (name, known))
    family = known.partition("-")[0]
    if other_format(name, model):
        return True
    return name.startswith(family) and bool(generations and others) and generations.isdisjoint(others)


def _owned(written: str) -> Model | None:
    """Of a folder that is called after the whole repository."""
    repository = with_owner(written)
    model = find_model(repository) if repository else None
    return model if model is not None and model.id.casefold() == repository.casefold() else None


_FOLDER: Final = re.compile(r"(?=[\w.-]*[A-Za-z])(?=[\w.-]*[0-9])[A-Za-z0-9][\w.-]{3,95}", re.ASCII)


def folder_of(written: str) -> str:
    """The last part of a path of which a variable or a substitution hides another part; "" where that has no name."""
    path, slash, name = written.rstrip("/").rpartition("/")
    return name if slash and unresolved(path) and not unresolved(name) and _FOLDER.fullmatch(name) else ""


def _unknown(written: str) -> str:
    written = folder_of(written) or written
    if _VARIABLE.fullmatch(written):
        return f"which model {shortened(written, 80)} is, the text does not say"
    if written.startswith("<") and written.endswith(">"):
        return f"{shortened(written, 80)} stands for the model"
    if untyped := untyped_file(written):
        return f"in which type a file of {untyped} holds its weights, its name does not say"
    if uncounted := uncounted_file(written):
        return f"what {uncounted} takes in memory is not known to moonpad"
    if is_named_apart(written):
        return f"the catalogue does not have {shortened(written, 80)}"
    return f'no checkpoint of the catalogue is called "{shortened(written, 80)}"' if written else "no model is named"


_STEPS: Final = 4
_STOPS: Final = re.compile(
    r"\b(?:docker|podman|systemctl|kubectl)\b[^\n]{0,200}?\b(?:stop|rm|kill|delete)\b"
    r"|^[ \t]*(?:export[ \t]+)?[A-Z0-9_]*(?:STOP|KILL|OLD|PREVIOUS)[A-Z0-9_]*="
)
"""A line about servers that are not to run."""


def _assigned(written: str, script: Script) -> str:
    """What the text sets the variable to, through the variables in that; "" where it sets it nowhere."""
    names = {match[0].strip("${}") for match in _VARIABLE.finditer(written)}
    told, seen = "", set[str]()
    for _ in range(_STEPS if names else 0):
        found = re.compile(rf"^[ \t]*(?:export[ \t]+|local[ \t]+)?(?:{'|'.join(map(re.escape, sorted(names)))})=(.+)")
        values = [match[1] for line in script.lines if (match := found.match(line[:_LONGEST]))]
        told += " ".join(values)
        seen |= names
        names = {name for value in values for name in re.findall(r"\$\{?(\w{1,60})", value)} - seen
        if not names:
            break
    return told


_OTHER_NAME: Final = re.compile(
    r"(?:(?<![/\w-])|(?<=deepseek-ai/)|(?<=Qwen/)|(?<=zai-org/)|(?<=meta-llama/)|(?<=MiniMaxAI/))"
    r"(?:Qwen[0-9.]*|QwQ|Deep[Ss]eek|Llama|GLM|MiniMax|Mi[sx]tral|Gemma|Nemotron|EXAONE|Hunyuan|ERNIE|gpt-oss)-[A-Z0-9]"
)


_OTHER_FAMILY: Final = r"(?:Deep[Ss]eek|Qwen|GLM|MiniMax|Llama|Mi[sx]tral|gpt-oss)"
_BETWEEN: Final = r"(?:[ ]?[,/|、]|[ ](?:and|or|vs\.?)\b|或|和)[ ]*"
_IN_A_LIST: Final = re.compile(
    rf"\bKimi(?:[ -]?(?:K[0-9]|VL|Linear)[\w.-]*)?{_BETWEEN}{_OTHER_FAMILY}"
    rf"|\b{_OTHER_FAMILY}[ -]?[\w./-]{{0,20}}{_BETWEEN}Kimi",
    re.IGNORECASE,
)
"""Families that a line tells apart or has examples of: `thinking for Kimi K2.6, DeepSeek V3.2`."""
_NOT_ALONE: Final = re.compile(
    r"gguf|eagle|medusa|draft|d[-_]?flash|d[-_]?spark|(?<![a-z])(?:mtp|nextn)(?![a-z])"
    r"|\.(?:csv|diff|ipynb|jinja|json|jsonl|log|md|patch|png|py|sh|toml|txt|ya?ml)$",
    re.IGNORECASE,
)
"""In the name of a repository that is a draft for another one, or that holds files of which one is asked for; or at the
end of that of a file, which is none."""


def _named_near(script: Script, line: int) -> Model | None:
    """Of the line that is nearest, above before below; None where that names a model of another family. A repository
    goes before a name, where the text has one alone."""
    others = lines_of_other_models(script.lines, line) if script.markdown else frozenset()
    lines = [text if script.says_of(at, line) and at not in others else "" for at, text in enumerate(script.lines, 1)]
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
        if _STOPS.search(text) or (text.lstrip().startswith("#") and _IN_A_LIST.search(text)):
            continue
        written = [name for name in _REPOSITORY_IN.findall(text) if not _NOT_ALONE.search(name)]
        if any(find_model(name) is None for name in written):
            return None  # a checkpoint of the family that the catalogue does not have
        own = next((each for each in map(find_model, written) if each is not None and not is_other(each)), None)
        if (own or "k" in text.casefold()) and (model := _named_in((text,)) or own):  # or Kimi-Linear, Moonlight
            return next(iter(repositories.values())) if len(repositories) == 1 else model
        if _OTHER_NAME.search(text):
            return None
    return None


_SAYS_NOTHING: Final = re.compile(
    r"(?:(?:my|your|the|base|local)[-_]?)?(?:(?:models?|llms?|hf)[-_])?(?:models?|weights?|checkpoints?|ckpts?|snapshots?|"
    r"hf|llm|path|repo|data|main|default|merged|target|dir|folder|latest|x+)(?:[-_]?(?:path|dir|name|folder|id|cache))?|"
    r"v?[0-9.]*|[0-9a-f]{12,64}"
)


def as_spoken_name(written: str, because: str, script: Script) -> tuple[str, str]:
    """Why a model that is not of the catalogue is not judged, and what the text calls it where a variable holds it."""
    spoken = spoken_model(script) if is_variable(written) else ""
    if spoken and is_named_apart(spoken):
        return f"{shortened(written, 80)} is {spoken} by the text, which the catalogue does not have", spoken
    return because if is_named_apart(written) or uncounted_file(
        written
    ) else f"{because}: name it with --model MODEL", ""


def is_variable(written: str) -> bool:
    """Whether a variable alone holds the model: `$MODEL`."""
    return _VARIABLE.fullmatch(written.strip("'\"")) is not None


def is_of_another(written: str) -> bool:
    """Whether the name or the folder says that it is another family's, or simply has a name of its own."""
    plain = repository_of(written).casefold().rstrip("/")
    if not plain or "$" in plain or "<" in plain or "{" in plain or OURS.search(plain):
        return False
    return bool(FAMILIES.search(plain)) or _SAYS_NOTHING.fullmatch(plain.rpartition("/")[2]) is None


def is_named_apart(written: str) -> bool:
    """Whether the name says which model it is, and it is none whose memory can be counted."""
    is_whole = _REPOSITORY.fullmatch(written) is not None or (written.startswith("/") and not unresolved(written))
    return is_of_other_family(written) or (is_whole and bool(other_model(written)))


def is_named(written: str) -> bool:
    """Whether the name says which model it is, and `--model` has no other name for it: a repository, or a folder that
    is called after a model of another family."""
    return is_named_apart(written) or _REPOSITORY.fullmatch(written) is not None


def is_of_other_family(written: str) -> bool:
    """Whether it is named after a family of which the catalogue has no such checkpoint."""
    plain = repository_of(written).casefold().rstrip("/")
    if "$" in plain or "<" in plain or "{" in plain or OURS.search(plain) or not FAMILIES.search(plain):
        return False
    return "deepseek" not in plain or _REPOSITORY.fullmatch(written) is not None


def says_nothing(written: str) -> bool:
    """Whether the name or the folder leaves open which model it holds: `/model`, `xxxx`, `$MODEL`."""
    plain = repository_of(written).casefold().rstrip("/")
    unknown = not is_draft(written) and (not plain or "$" in plain or "<" in plain or "{" in plain)
    return unknown or _SAYS_NOTHING.fullmatch(plain.rpartition("/")[2]) is not None


def has_name_of_its_own(written: str) -> bool:
    """Whether a folder's name speaks of no family that is known: `/models/m27-nvfp4`."""
    plain = repository_of(written).casefold().rstrip("/").rpartition("/")[2]
    return OURS.search(plain) is None and FAMILIES.search(plain) is None


def _spoken_form(written: str, model: Model, script: Script) -> str:
    """What the text calls the weights of just this model (`Kimi-K2.5 FP4`), where a variable holds it."""
    spoken = spoken_model(script) if is_variable(written) else ""
    name, _, form = spoken.rpartition("-")
    return form if name.casefold() == model.id.rpartition("/")[2].casefold() else ""


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
