"""How guides build an engine from its sources: what its repository stopped to have, and what takes its place.

llama.cpp lost its Makefile in August 2025: https://github.com/ggml-org/llama.cpp/pull/15449.
"""

from __future__ import annotations

import re
from typing import Final

CLONED: Final = re.compile(
    r"\bgit[ \t]+clone\b(?P<options>[^\n;&|]{0,200}?)(?:https?://|git@|ssh://git@)?github\.com[:/]"
    r"(?:ggerganov|ggml-org)/llama\.cpp(?:\.git)?/?(?=[\s\"';&|]|$)"
)
ENTERED: Final = re.compile(r"\b(?:cd|pushd|WORKDIR)[ \t]+[\"']?[^\s\"';&|]{0,200}llama\.cpp/?[\"']?(?=[\s;&|]|$)")
MADE: Final = re.compile(
    r"(?:^|[;&|(]|\bRUN\b|^[ \t]*\$)[ \t]*(?:sudo[ \t]+)?(?:[A-Z][A-Z0-9_]{0,40}=[^\s;&|]{0,80}[ \t]+){0,4}"
    r"make(?=[ \t;&|)]|$)(?P<words>(?:[ \t]+(?:\$\([^()\n]{0,40}\)|[^\s;&|()]){1,60}){0,8})"
)
IN_FOLDER: Final = re.compile(r"(?:^|[ \t])-C[ \t]*[^\s]{0,200}llama\.cpp/?(?=[ \t]|$)")
WITHOUT_MAKEFILE: Final = "b6301"
"""A build of the first days without it."""
SAYS: Final = "Build system changed: The Makefile build has been replaced by CMake"
INSTEAD: Final = "cmake -B build && cmake --build build --config Release -j"
ON_NVIDIA: Final = "-DGGML_CUDA=ON"
PROGRAMS_IN: Final = "build/bin"
