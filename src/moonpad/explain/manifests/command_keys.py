"""Whether the words under `command` of a container take the place of the image's own program, as in a pod, or are
handed to it, as Compose, ECS and other tools do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.image_names import TAKES_MODEL_FIRST
from moonpad.explain.manifests.yaml_source import Fields, items, scalar
from moonpad.explain.programs import served_by_image

_OF_ECS: Final = frozenset({"entryPoint", "resourceRequirements", "portMappings", "essential", "logConfiguration"})
"""Keys of a container that only Amazon ECS has, whose `command` are the arguments of its entrypoint
(https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_definition_parameters.html)."""
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_PROGRAM: Final = re.compile(
    r"(?:.*/)?s?bin/.*|(?:.*/)?[^/]*(?:start|run|serve|entry|launch|main|exec|init|wrapper|cmd)[^/]*|.*\.(?:sh|py|bash|pl|js)",
    re.ASCII | re.IGNORECASE,
)
"""A path that is more likely a program than a folder of weights."""
_MODEL: Final = "--model"
_FEWEST: Final = 2
"""Options of the server behind the model."""


def is_for_image(fields: Fields, *, compose: bool, of_pod: bool) -> bool:
    """Whether `command` is handed to the image's own program: by its keys, or because it begins with words of its
    server. In a pod that is a slip, of which only a model in front is read as meant here."""
    if compose or _OF_ECS & fields.keys() or scalar(fields.get("command")):
        return True
    words = [scalar(item) for item in items(fields.get("command"))]
    image = scalar(fields.get("image"))
    if not words or not image or "args" in fields:
        return False
    return begins_with_model(image, words, of_pod=of_pod) or (not of_pod and _begins_with_options(image, words))


def begins_with_model(image: str, words: Sequence[str], *, of_pod: bool) -> bool:
    """`command: ["org/name", "--tensor-parallel-size", "8"]` of an image whose server takes the model first. In a pod
    a whole path is a program, wherever it lies."""
    program = _server_of(image)
    if not program or len(words) <= _FEWEST or _PROGRAM.fullmatch(words[0]):
        return False
    if not _REPOSITORY.fullmatch(words[0]) and (of_pod or not words[0].startswith("/")):
        return False
    return _MODEL not in _flags(words) and _has_its_options(program, words[1:])


def _begins_with_options(image: str, words: Sequence[str]) -> bool:
    """`command: ["--model", "org/name", …]`: no program is called so."""
    program = _server_of(image)
    return bool(program) and _MODEL in _flags(words) and _has_its_options(program, words)


def _server_of(image: str) -> str:
    return served_by_image(image) if TAKES_MODEL_FIRST.fullmatch(image) else ""


def _flags(words: Sequence[str]) -> list[str]:
    return [word.partition("=")[0] for word in words if word.startswith("--")]


def _has_its_options(program: str, words: Sequence[str]) -> bool:
    """Whether the program knows nearly all options of a list that begins with one."""
    flags, options = _flags(words), option_set(program)
    if options is None or len(flags) < _FEWEST or not words[0].startswith("-"):
        return False
    unknown = sum(options.named(flag.partition(".")[0]) is None for flag in flags)
    return 3 * unknown < len(flags)
