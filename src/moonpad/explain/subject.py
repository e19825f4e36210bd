"""What a command line is about: which engine in which version, which model, on which devices, and how we know."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.catalog.model import Model
from moonpad.catalog.models import find_model, models
from moonpad.catalog.options import versions
from moonpad.engines import ENGINES
from moonpad.explain.commands import Command, Script
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.errors import UsageError
from moonpad.values.plan import Platform

SERVERS: Final = {
    "vllm serve": "vllm",
    "sglang": "sglang",
    "kt run": "ktransformers",
    "ktransformers-legacy": "ktransformers",
    "trtllm-serve": "tensorrt-llm",
}
"""The programs that serve a model → the engine."""

# The names of checkpoints in prose: "Kimi-K2-Thinking", "Kimi K2.5".
_NAME: Final = re.compile(r"Kimi[- ]K[0-9][\w.]*(?:[- ][A-Za-z0-9.]+){0,4}", re.ASCII | re.IGNORECASE)
# `org/name` as on Hugging Face, and no folder.
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_SERIES: Final = re.compile(r"v?[0-9]{1,4}\.[0-9]{1,4}", re.ASCII)
_VERSION: Final = re.compile(r"v?[0-9]{1,4}(?:\.[0-9]{1,8}){0,3}[0-9A-Za-z.+-]{0,60}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Question:
    """What the person who asks has said beside the command line."""

    checkpoint: Checkpoint | None = None
    cluster: Cluster | None = None
    version: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    text: str
    because: str
    minimum: bool = False
    """The text says "or later": what was removed since then is removed."""


def engine_of(command: Command, question: Question) -> str | None:
    """The engine that a command starts, its build for the platform that is meant; None where it serves nothing."""
    engine = SERVERS.get(command.program)
    words = [word.text for word in command.argv]
    if engine == "vllm":
        image = command.container.image.text if command.container and command.container.image else ""
        asked = question.cluster.device.platform if question.cluster is not None else None
        ascend = asked is Platform.ASCEND or any(name.startswith(("HCCL_", "ASCEND_")) for name in command.env)
        if ascend or "ascend" in image or _follows(words, "--quantization", "ascend"):
            return "vllm-ascend"
        if asked is Platform.CPU or any(name.startswith("VLLM_CPU_") for name in command.env) or "vllm-cpu" in image:
            return "vllm-cpu"
    if engine == "sglang" and any(word.startswith("--kt-") for word in words):
        return "ktransformers"
    if engine == "sglang" and (_follows(words, "--device", "cpu") or "SGLANG_USE_CPU_ENGINE" in command.env):
        return "sglang-cpu"
    return engine


def version_of(engine: str, script: Script, question: Question) -> Version:
    """The version that was said, else "" for the newest that the catalogue knows.

    Raises:
        UsageError: what was asked for is none.
    """
    if question.version:
        if not _VERSION.fullmatch(question.version):
            raise UsageError(f'"{question.version[:40]}" is no version', remedy="write it like 0.32.0 or 0.11.1rc6")
        return _of_series(engine, question.version, "as asked")
    for name in (engine, *_ALSO.get(engine, ())):
        if named := script.versions.get(name):
            return _of_series(engine, named, f"the text names {name} {named}")
        if least := script.minimum_versions.get(name):
            return Version("", f"the text asks for {name} {least} or later: judged by the newest", minimum=True)
    return Version("", "none is named: judged by the newest")


def _of_series(engine: str, text: str, because: str) -> Version:
    """`0.11` is no release: it stands for the newest of that series."""
    known = versions(ENGINES[engine].program) if engine in ENGINES else ()
    if text in known or not _SERIES.fullmatch(text):
        return Version(text, because)
    series = [one for one in known if one.startswith(f"{text.removeprefix('v')}.")]
    return Version(series[-1], f"{because}, the newest of {text}") if series else Version(text, because)


_ALSO: Final = {"vllm-ascend": (), "vllm-cpu": ("vllm",)}


def model_of(written: str, served: str, commands: Sequence[Command], script: Script) -> tuple[Model | None, str]:
    """The checkpoint of the catalogue, and how it was found; None where nobody can say.

    A folder, a placeholder or nothing is called what the text around it speaks of. `served` is the name that clients
    use.
    """
    if written and (found := find_model(written)) is not None:
        return found, f"named {written}"
    if _REPOSITORY.fullmatch(written):
        return None, f'no checkpoint of the catalogue is called "{_short(written)}"{_near(written)}'
    if served and (found := find_model(served)) is not None:
        return found, f"served as {served}"
    for where, texts in (
        ("the heading", [command.heading or "" for command in commands]),
        ("the text", script.lines),
    ):
        if found := _named_in(texts):
            return found, f"{where} names {found.id}"
    return None, f'no checkpoint of the catalogue is called "{_short(written)}"' if written else "no model is named"


def is_other_model(written: str) -> bool:
    """Whether a repository is named that is no Kimi's."""
    return bool(_REPOSITORY.fullmatch(written)) and "kimi" not in written.casefold()


def _named_in(texts: Iterable[str]) -> Model | None:
    """The first checkpoint that is named in full."""
    known = {model.id.rpartition("/")[2].casefold(): model for model in reversed(tuple(models().values()))}
    family: Model | None = None
    for text in texts:
        for name in _NAME.findall(text[:2000]):
            words = [word.strip(".") for word in name.casefold().replace(" ", "-").split("-")]
            for length in range(len(words), 1, -1):
                if found := known.get("-".join(words[:length])):
                    return found
            if words[:2] == ["kimi", "k2"] and family is None:
                family = known.get("kimi-k2-instruct")
    return family


def _follows(words: Sequence[str], flag: str, value: str) -> bool:
    return any(
        word == f"{flag}={value}" or (word == flag and words[at + 1 : at + 2] == [value])
        for at, word in enumerate(words)
    )


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


def _near(written: str) -> str:
    close = difflib.get_close_matches(written, list(models()), n=1, cutoff=0.8)
    return f" (did you mean {close[0]}?)" if close else ""
