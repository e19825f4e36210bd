"""Words by which a text speaks of the engines' programs, and what one engine alone does."""

from __future__ import annotations

import re
from typing import Final

PROGRAMS: Final = "vllm|sglang|trtllm-serve|llama-server"
"""Alternatives of a pattern: how a line begins that starts one."""
BEGUN: Final = r"vllm (?:serve|bench|chat)|sglang |trtllm-\w+ |llama-server "
"""The same, where the engine's name alone may be the first word of a log."""
SHORT_NAMES: Final = "vllm|sglang"
"""Alternatives of a pattern: what a sentence says has ended."""
STARTS_ROUGHLY: Final = re.compile(
    r"\b(?:vllm serve|sglang serve|-m (?:vllm|sglang|ktransformers)\.\S|trtllm-serve|llama-server|docker run)\b"
)
"""A command of an engine, roughly."""
TAGS_OF_ARGUMENTS: Final = re.compile(
    r"\b(?P<engine>SGLANG|VLLM)_(?:BASE_)?IMAGE_TAG[=:][ \"']{0,2}(?P<tag>[a-z0-9][\w.-]{3,80})"
)
"""`--build-arg SGLANG_IMAGE_TAG=nightly-dev-20251019-fda0cb2a`: the tag of the image that another one is made of."""
IMAGE_OF_AMD: Final = re.compile(r"(?:^|/)rocm/vllm")
RAY_OF_ITS_OWN: Final = "vllm"
"""The engine whose own executor lays its ranks out over Ray."""
FP8_WHILE_LOADING: Final = frozenset({"vllm", "sglang"})
"""Engines that make FP8 of BF16 weights as they load them."""
ROLE_BY_OPTION: Final = frozenset({"sglang"})
"""Engines whose servers are told their role of a pool by an option."""
NO_PROCESSOR_REPORT: Final = "kvcache-ai/ktransformers#2076"
"""The thread about processors without AMX."""
