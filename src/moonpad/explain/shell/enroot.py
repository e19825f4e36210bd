"""Which image a container of enroot or Apptainer is made of, and the program that it starts with words that name
none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Word, Wrapper
from moonpad.explain.programs import identify, named_by_image, served_by_image
from moonpad.values.records import replace

IMPORTED: Final = "enroot import"
"""The place of the last imported image among the containers of a script."""
_DOCKER: Final = "docker://"
_MODEL: Final = re.compile(r"[A-Za-z][\w.-]*/[\w.-]+(?<!\.sh)(?<!\.py)", re.ASCII)
"""`owner/name`."""
_OF_IMAGE: Final = re.compile(r"(?<!\w)([a-z]+)[-+_](\1-[a-z]+)(?![a-z])", re.ASCII)
"""`vllm-vllm-openai-latest`, `vllm+vllm-openai+latest.sqsh`: an image's name with other signs."""


def imported(words: Sequence[Word]) -> Wrapper | None:
    """`enroot import -o FILE docker://[REGISTRY#]IMAGE`."""
    if len(words) < 2 or words[1].text != "import":
        return None
    word = next((word for word in words if word.text.startswith(_DOCKER)), None)
    if word is None:
        return None
    image = replace(word, text=word.text.removeprefix(_DOCKER).replace("#", "/"), pieces=())
    return Wrapper(IMPORTED, (), (), image)


def started(name: Word, rest: Sequence[Word], containers: Mapping[str, Wrapper]) -> tuple[Word, str]:
    """The image that a container is made of, where the script imports one, else its name itself; and the program that
    gets the words: the rc file that enroot makes of a Docker image hands them to its entrypoint
    (https://github.com/NVIDIA/enroot/blob/master/doc/image-format.md)."""
    made, is_path = containers.get(IMPORTED), "/" in name.text and not name.unresolved
    image = made.image if made is not None and made.image is not None and not is_path else name
    return image, _entrypoint(image, rest)


def run_by_image(image: Word, rest: Sequence[Word]) -> str:
    """The program that gets options which `apptainer run IMAGE` has behind the image: the runscript that Apptainer
    makes of a Docker image hands them to its entrypoint
    (https://apptainer.org/docs/user/latest/docker_and_oci.html#cmd-entrypoint-behaviour)."""
    if not rest or not rest[0].text.startswith("--"):
        return ""
    return served_by_image(image.text) or named_by_image(image.text)


def _entrypoint(image: Word, rest: Sequence[Word]) -> str:
    if not rest or identify(rest) is not None:
        return ""
    first = rest[0]
    if not (first.text.startswith("--") or first.unresolved or _MODEL.fullmatch(first.text)):
        return ""
    match = _OF_IMAGE.search(image.text.rpartition("/")[2])
    return served_by_image(image.text) or (served_by_image(f"{match[1]}/{match[2]}") if match is not None else "")
