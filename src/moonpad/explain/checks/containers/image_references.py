"""Names of images that no container runtime takes: capitals in the repository, and signs that only look like others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Word
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.spelling import one_apart
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_IMAGE: Final = re.compile(r"[ \t]*(?:-[ \t]+)?image:[ \t]+[\"']?(?P<image>[^\s\"'#]+)[\"']?[ \t]*(?:#.*)?$")
_LEFT_OPEN: Final = re.compile(r"\$\{[^}]*\}|\$\([^)]*\)|\$\w+|\{\{.*?\}\}|<[^>]*>|%\w+%|\{\w+\}")
_STAND_IN: Final = re.compile(r"[A-Z0-9_-]*(?:_|YOUR|USER|ORG|PROJECT|REGISTRY)[A-Z0-9_-]*|X+", re.ASCII)
"""Parts that a reader is to replace: YOUR_ORG."""
_LOOK_ALIKE: Final = re.compile("[\u00a0\u00ad\u2010-\u2015\u200b-\u200f\u2212\ufeff\uff0d]")
"""Hyphens, dashes and blanks of typesetting, and signs without a width."""
_REGISTRIES: Final = ("ghcr.io", "quay.io", "nvcr.io", "docker.io", "lscr.io", "public.ecr.aws", "registry.k8s.io")
_KNOWN: Final = frozenset({*_REGISTRIES, "gcr.io"})
_MOST_LINES: Final = 5000
_LONGEST: Final = 1000
_WORD: Final = "image"
_NAMES: Final = re.compile(r"image|repository|FROM", re.IGNORECASE)
"""Of a line in which an image is named: elsewhere it may be a model that was taken for one."""


def image_reference(case: Case) -> Iterator[Remark]:
    """`image: ghcr.io/My-Org/server:latest`: a repository is written in small letters, of ASCII."""
    told: set[str] = set()
    for number, command in enumerate(case.commands):
        for wrapper in command.wrappers:
            image = wrapper.image
            if wrapper.kind != "docker run" or image is None or image.unresolved or image.text in told:
                continue
            line = case.script.lines[image.line - 1] if 0 < image.line <= len(case.script.lines) else ""
            if not wrapper.words and not _NAMES.search(line[:_LONGEST]):
                continue
            told.add(image.text)
            if (remark := _remark(image.text, "", word=image)) is not None:
                yield replace(remark, command=number)
    script = case.script
    if script.markdown or len(script.lines) > _MOST_LINES or not is_first(case.commands, script):
        return
    script.budget.work(len(script.lines), "its containers")
    for place, line in enumerate(script.lines, 1):
        match = _IMAGE.match(line[:_LONGEST])
        if match is None or match["image"] in told:
            continue
        told.add(match["image"])
        if (remark := _remark(match["image"], f"{script.where(place)}: ")) is not None:
            yield replace(remark, command=None)


def _remark(image: str, where: str, word: Word | None = None) -> Remark | None:
    """None where nothing is wrong with it."""
    registry, slash, _ = image.partition("/")
    meant = next((known for known in _REGISTRIES if one_apart(registry, known)), "") if slash else ""
    if meant and registry not in _KNOWN:
        message = f"{where}{shortened(image, 70)} is in the registry {registry}, which is {meant} but for a letter"
        remedy = f"write {meant}{slash}…"
        return make_remark(Severity.WARNING, Code.INVALID_VALUE, _WORD, message, remedy, word=word)
    message = _wrong_with(image)
    if not message:
        return None
    remedy = "write the hyphen of the keyboard" if _LOOK_ALIKE.search(image) else f"write {_small(image)}"
    return make_remark(Severity.ERROR, Code.INVALID_VALUE, _WORD, f"{where}{message}", remedy, word=word)


def _wrong_with(image: str) -> str:
    """ "" where nothing is. The grammar is that of distribution/reference, which Docker and Kubernetes share."""
    plain = _LEFT_OPEN.sub("x", image)
    if unresolved(plain):
        return ""
    if match := _LOOK_ALIKE.search(plain):
        return f"{shortened(image, 70)} has the sign U+{ord(match[0]):04X}, which no name of an image takes"
    for part in _repository(plain).split("/"):
        if part != part.lower() and part.isascii() and not _STAND_IN.fullmatch(part):
            return (
                f"{shortened(image, 70)}: a repository is in small letters alone, and {shortened(part, 40)} is refused"
            )
    return ""


def _repository(image: str) -> str:
    """Without the registry, the tag and the digest. A first part with a capital is read as a registry."""
    name = image.partition("@")[0]
    first, slash, rest = name.partition("/")
    if slash and (first != first.lower() or "." in first or ":" in first or first == "localhost"):
        name = rest
    path, colon, tag = name.rpartition(":")
    return path if colon and "/" not in tag else name


def _small(image: str) -> str:
    repository = _repository(image)
    return shortened(image.replace(repository, repository.lower(), 1), 70)
