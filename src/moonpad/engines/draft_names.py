"""How drafts call the method that they are made for, and what engines call it.

EAGLE-3 drafts read the hidden states of three layers of the target, EAGLE drafts and layers for multi-token prediction
that of the last alone (https://github.com/sgl-project/sglang/pull/21272; https://arxiv.org/abs/2503.01840).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    "eagle3": re.compile(r"eagle[-_. ]?3", re.IGNORECASE),
    "dflash": re.compile(r"d[-_]?flash", re.IGNORECASE),
    "dspark": re.compile(r"d[-_]?spark", re.IGNORECASE),
    "mtp": re.compile(r"(?<![a-z])(?:nextn|mtp)(?![a-z])", re.IGNORECASE),
}
"""Kinds of drafts by their names."""
METHODS: Final[Mapping[str, str]] = {
    **{"eagle": "eagle", "eagle3": "eagle3", "dflash": "dflash", "dspark": "dspark"},
    **{"nextn": "mtp", "mtp": "mtp", "deepseekmtp": "mtp"},
}
"""What is asked for, in small letters without dashes → the kind of draft that it wants."""
TITLES: Final[Mapping[str, str]] = {"eagle3": "EAGLE3", "dflash": "DFLASH", "dspark": "DSPARK", "mtp": "NEXTN"}
"""A kind as an option's value, where the object of another engine has it in small letters."""
ALIKE: Final = frozenset({("eagle", "mtp"), ("mtp", "eagle")})
"""Methods that take drafts of the other kind: one engine runs a checkpoint's own layer as EAGLE."""
NO_OWN_LAYER: Final = frozenset({"kimi_k2", "kimi_k25", "kimi_linear"})
"""Types of models whose published weights have no layer for multi-token prediction (num_nextn_predict_layers is 0)."""
_ALONE: Final = re.compile(
    r"(?<![a-z])(?:eagle[-_. ]?3|medusa|nextn|d[-_]?flash|d[-_]?spark)(?![a-z])|[-_]eagle$", re.IGNORECASE
)
_WITH_MODEL: Final = re.compile(
    r"speculator|merged|(?<![a-z])(?:with|and|plus)(?![a-z])|deepseek.*spark|(?:w4a8|fp[48]).*spark", re.IGNORECASE
)
"""One engine serves a checkpoint called `speculator` with the model that its config names; DeepSeek-V4-Flash-DSpark
holds the model too (https://huggingface.co/deepseek-ai/DeepSeek-V4-Flash-DSpark)."""
_LONGEST: Final = 200


def is_draft(name: str) -> bool:
    """Whether a repository, or a folder by its last part, is by its name a draft alone, `kimi-k2.5-eagle3`. What is
    called …-MTP may be the model with its layer for it."""
    last = name.rstrip("/").rpartition("/")[2][-_LONGEST:]
    return _ALONE.search(last) is not None and _WITH_MODEL.search(last) is None
