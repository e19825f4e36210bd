"""Engines whose experts lie in host memory: nodes of memory, and the files of rules of its server of 2025."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.engines import host_expert_names as names
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.expert_memory import (
    copies_of_nodes,
    experts_on_devices,
    memory_of_host,
    one_node_of_memory,
)
from moonpad.explain.checks.memory.expert_pools import POOL_CHECKS
from moonpad.explain.checks.memory.host_expert_files import HOST_EXPERT_FILES
from moonpad.explain.checks.memory.host_expert_rules import HOST_EXPERT_RULES
from moonpad.explain.checks.memory.host_expert_weights import WEIGHT_CHECKS
from moonpad.explain.checks.memory.layerwise_prefill import layerwise_prefill
from moonpad.explain.commands import Script
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_LONGEST: Final = 400
_OF_PROCESSORS: Final = re.compile(
    r"(?:https?://\S{1,80}/|(?<![\w./-]))[\w.-]{1,60}/([\w.-]{1,80}-CPU-weights?)(?![\w/-])", re.IGNORECASE
)
"""`KVCache-ai/Kimi-K2-Thinking-CPU-weight`."""
_OF_FAMILY: Final = re.compile(r"(kimi[-_]?)(k\d(?:\.\d)?)(?:[-_](instruct|thinking|base|code))?(?![.\d])")


def memory_nodes(case: Case) -> Iterator[Remark]:
    """Each pool of threads has a node of memory of its own."""
    place = case.option(names.NODES)
    if place is None:
        return
    text = " ".join(place.value) if isinstance(place.value, tuple) else place.value
    given = text.replace(",", " ").split() if isinstance(text, str) and not unresolved(text) else []
    pools = whole(case.text(names.POOLS)) or 0
    if given and pools and len(given) != pools:
        message = f"{len(given)} nodes for {pools} pools of threads ({names.POOLS}): one for each is asked for"
        remedy = f"write {pools} nodes, or {names.POOLS} {len(given)}"
        code, where = Code.INVALID_VALUE, names.NODES
        yield make_remark(Severity.WARNING, code, where, message, remedy, at=place.index)


def rules_of_backend(case: Case) -> Iterator[Remark]:
    """A file of rules for the other backend: the modules that it puts in have other arguments."""
    place = case.option(*names.RULES)
    if place is None or not isinstance(place.value, str) or unresolved(place.value):
        return
    file = place.value.strip("'\"").rpartition("/")[2].casefold()
    for_many, many = "serve" in file, case.text(names.BACKEND) == names.MANY
    if for_many == many or ("chat" not in file and not for_many):
        return
    backend = case.text(names.BACKEND)
    if for_many and not backend:
        if not any(names.CHAT in word.text for word in case.commands[0].words):
            return  # a server may have it in its configuration
        why = f"its modules are for {names.BACKEND} {names.MANY} of the server, and this is the chat"
    elif for_many:
        why = f"its modules are for {names.BACKEND} {names.MANY}, not for {shortened(backend)}"
    else:
        why = f"{names.MANY} wants modules of its own, from a file with -serve in its name"
    message = f"{shortened(file)}: {why}"
    remedy = f"add {names.BACKEND} {names.MANY} to the server, or take the file without -serve"
    if for_many and not backend:
        remedy = (
            f"take the file without -serve, or start the server with {names.BACKEND} {names.MANY} in place of the chat"
        )
    if not for_many:
        remedy = "take the file of the same name with -serve"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)


def chunk_of_server(case: Case) -> Iterator[Remark]:
    place = case.option(names.CHUNK)
    if place is None or not isinstance(place.value, str) or case.text(names.BACKEND) != names.MANY:
        return
    size = 0 if unresolved(place.value) else whole(place.value) or 0
    if size > names.CHUNK_STEP and size % names.CHUNK_STEP:
        message = f"{size}: a chunk is at most {names.CHUNK_STEP} tokens, or a multiple of that: the start ends"
        remedy = f"write {names.CHUNK} {size // names.CHUNK_STEP * names.CHUNK_STEP}"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, names.CHUNK, message, remedy, at=place.index)


def batch_of_server(case: Case) -> Iterator[Remark]:
    """Several requests at once: by one backend alone, and they share one cache."""
    place, size = case.option(names.BATCH), case.size(names.BATCH)
    if place is None or size <= 1 or case.option(names.FOLDER) is None:
        return
    if case.text(names.BACKEND) != names.MANY:
        message = f"several requests at once are served by {names.BACKEND} {names.MANY} alone; the default serves one"
        remedy = f"add {names.BACKEND} {names.MANY}, with a file of rules for it"
        yield make_remark(Severity.WARNING, Code.CONFLICT, names.BATCH, message, remedy, at=place.index)
        return
    cache, answer = case.size(names.CACHE), case.size(names.ANSWER)
    if cache > 1 and answer > 1 and cache < size * answer:
        message = f"{size} requests of {answer} tokens ({names.ANSWER}) do not share a cache of {cache}"
        message += f" ({names.CACHE}): fewer run at once"
        remedy = f"raise {names.CACHE} above {size * answer}"
        where, at = names.CACHE, case.option(names.CACHE)
        yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, where, message, remedy, at=at.index if at else None)


def folder_of_weights(case: Case) -> Iterator[Remark]:
    """The published weights, which are no GGUF, in the place of the GGUF."""
    place = case.option(names.FOLDER)
    if place is None or not isinstance(place.value, str) or unresolved(place.value):
        return
    folder = place.value.strip("'\"").rstrip("/")
    if "gguf" in folder.casefold():
        return
    same = folder == case.text(names.MODEL).strip("'\"").rstrip("/") and folder.count("/") > 1 and _as_published(folder)
    if not same and not (repository := _downloaded(folder, case.script)):
        return
    what = f"the folder of {names.MODEL} too" if same else f"what is downloaded there is {shortened(repository)}"
    message = f"{shortened(folder)} is {what}: the weights of the experts are read from GGUF files, and none are named"
    remedy = "download a GGUF of the model into a folder of its own, and give that"
    yield make_remark(Severity.WARNING, Code.CONFLICT, names.FOLDER, message, remedy, at=place.index)


def experts_of_another(case: Case) -> Iterator[Remark]:
    """A folder of experts that is called after another model of the family than the one that is served."""
    place, model = case.option(*names.EXPERTS), case.readings[0].model
    if place is None or not isinstance(place.value, str) or unresolved(place.value) or unresolved(model):
        return
    folder = place.value.strip("'\"").rstrip("/")
    own, theirs = ({(one[1], one[2] or "") for one in _OF_FAMILY.findall(text.casefold())} for text in (model, folder))
    if len(own) != 1 or len(theirs) != 1 or own == theirs:
        return
    (release, kind), (other, its_kind) = own.pop(), theirs.pop()
    if release == other and not (kind and its_kind):
        return  # one of them is called by the release alone
    name = shortened(folder.rpartition("/")[2])
    message = f"{name}: by its name the experts of another model than {shortened(model.rstrip('/').rpartition('/')[2])}"
    remedy = f"give {place.written} the experts of the model that is served"
    named = _experts_named(case.script, (release, kind))
    edits = []
    if named:
        remedy = f"{remedy}, {named}, which the text names"
        right = f"{folder.rpartition('/')[0]}/{named}" if "/" in folder else named
        edits = [Edit(place.index, place.length, (place.written, right))]
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index, edits=edits)


def _experts_named(script: Script, model: tuple[str, str]) -> str:
    """The only repository of experts for the processors that the text names for that model: its own name."""
    script.budget.work(len(script.lines), "what its text downloads")
    names_of = (match[1] for line in script.lines for match in _OF_PROCESSORS.finditer(line[:_LONGEST]))
    fitting = {
        name
        for name in names_of
        if {(found[1], found[2] or "") for found in _OF_FAMILY.findall(name.casefold())} == {model}
    }
    return fitting.pop() if len(fitting) == 1 else ""


def file_of_set(case: Case) -> Iterator[Remark]:
    """One of the GGUF files where their folder is meant."""
    place = case.option(names.FOLDER)
    value = place.value.strip("'\"*_`") if place is not None and isinstance(place.value, str) else ""  # of Markdown too
    if place is None or unresolved(value) or not value.casefold().endswith(".gguf"):
        return
    if case.version and since(case.version, names.FILE_FOR_FOLDER):
        return
    message = (
        f"{shortened(value.rpartition('/')[2])} is a file: releases before {names.FILE_FOR_FOLDER} look into a folder "
        "for all files of the set, and find no tensor (can't find token_embd.weight in GGUF file)"
    )
    folder = value.rpartition("/")[0] or "."
    edits = [Edit(place.index, place.length, (place.written, folder))] if case.version else []
    severity = Severity.WARNING if case.version else Severity.NOTE
    remedy = f"give the folder, {shortened(folder)}, with no other GGUF in it"
    yield make_remark(severity, Code.INVALID_VALUE, names.FOLDER, message, remedy, at=place.index, edits=edits)


def _as_published(folder: str) -> bool:
    """Whether a folder has the name of a repository of a publisher."""
    model = find_model(folder)
    return model is not None and model.id.rpartition("/")[2].casefold() == folder.rpartition("/")[2].casefold()


def _downloaded(folder: str, script: Script) -> str:
    """The repository, of no GGUF, that a line of the text brings into this folder."""
    name = re.escape(folder.removeprefix("./"))
    repository, end = r"download\b.{0,80}?\s([\w.-]+/[\w.-]+)\b", r"/?['\"]?(?:\s|$)"
    into = re.compile(rf"{repository}.{{0,200}}?--local[-_]dir[ =]+['\"]?(?:\./)?{name}{end}")
    script.budget.work(len(script.lines), "what its text downloads")
    joined = re.sub(r"\\\n", " ", "\n".join(line[:_LONGEST] for line in script.lines))
    found = (match[1] for line in joined.splitlines() if (match := into.search(line[:_LONGEST])))
    return next((repository for repository in found if "gguf" not in repository.casefold()), "")


def false_is_true(case: Case) -> Iterator[Remark]:
    """argparse's type bool makes every text that is not empty true."""
    for flag in names.TRUTHS:
        place = case.option(flag)
        if place is not None and isinstance(place.value, str) and place.value.casefold() in ("false", "0", "no"):
            message = f"{place.value} is a text, and every text is true here: this switches it on"
            edit = Edit(place.index, place.length, ())
            remedy = "leave it out"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, remedy, at=place.index, edits=[edit])


HOST_EXPERT_CHECKS: Final = (
    memory_nodes,
    rules_of_backend,
    chunk_of_server,
    batch_of_server,
    folder_of_weights,
    experts_of_another,
    file_of_set,
    experts_on_devices,
    one_node_of_memory,
    copies_of_nodes,
    memory_of_host,
    false_is_true,
    layerwise_prefill,
    *HOST_EXPERT_FILES,
    *WEIGHT_CHECKS,
    *POOL_CHECKS,
    *HOST_EXPERT_RULES,
)
