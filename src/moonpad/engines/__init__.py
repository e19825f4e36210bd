"""The engines, one file each, and one explicit dict."""

from collections.abc import Mapping
from typing import Final

from moonpad.engines.base import Engine
from moonpad.engines.vllm import VLLM_CPU

ENGINES: Final[Mapping[str, Engine]] = {engine.name: engine for engine in (VLLM_CPU,)}
