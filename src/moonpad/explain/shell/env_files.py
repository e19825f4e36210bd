"""Files of variables beside a compose file, `.env` and those under `env_file`, where they are among the inputs.

Source: https://docs.docker.com/compose/how-tos/environment-variables/variable-interpolation/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.explain.commands import HereFile, Word
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar

_LINE: Final = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(.*)$", re.MULTILINE)
_COMMENT: Final = re.compile(r"[ \t]+#.*$")
DEFAULT: Final = ".env"
"""Compose takes it for what it fills in, without being told."""


def variables_in(files: Mapping[str, HereFile], path: str) -> Iterator[tuple[str, Word]]:
    """The variables of the file of that name, at their lines; nothing where it is not at hand."""
    name = path.rpartition("/")[2]
    for file in (file for key, file in files.items() if key.rpartition("/")[2] == name):
        for match in _LINE.finditer(file.text):
            value = match[2].rstrip(" \t")
            quoted = value[:1] in ("'", '"') and value[:1] == value[-1:] and len(value) > 1
            value = value[1:-1] if quoted else _COMMENT.sub("", value)
            yield match[1], Word(value, file.line + file.text.count("\n", 0, match.start()))


def from_env_files(service: Fields, source: YamlSource, files: Mapping[str, HereFile]) -> Iterator[tuple[str, Word]]:
    """Of all files that a service names under `env_file`."""
    node = service.get("env_file")
    for item in items(node) or ([node] if node is not None else []):
        path = scalar(item) or scalar(source.fields(item).get("path"))
        if path:
            yield from variables_in(files, path)
