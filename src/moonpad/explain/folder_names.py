"""Names of checkpoints as people call folders: `kimi_k2_5`, `kimik2.5-w4a8`, `Kimi2.6`, `nvidia-Kimi-K2.5-NVFP4`,
`DeepSeekV3`; and as they call what stands for a folder, `<path-to-glm5>`."""

from __future__ import annotations

import re
from typing import Final

from moonpad.catalog.cached_names import FAMILIES, OURS

_OWNED: Final = re.compile(
    r"(?P<owner>[a-z][a-z0-9]{1,30})[-_]{1,2}(?P<name>kimi[\w.-]{1,80})", re.ASCII | re.IGNORECASE
)
_OF_THE_MAKER: Final = re.compile(
    r"(?P<tool>.*[-_])?moonshot(?:ai)?(?:--|__)(?P<name>kimi.+)", re.ASCII | re.IGNORECASE
)
"""`modelopt-moonshotai--Kimi-K2-Thinking-FP4`: the maker's weights, as a tool has written them."""
_FP4: Final = re.compile(r"(?<=-)fp4$", re.IGNORECASE)
_FOLDER: Final = re.compile(
    r"kimi[-_ ]?k?(?P<major>[23])(?:[-_.pd]?(?P<minor>[5-9]))?(?![0-9.])[-_]?(?P<rest>[\w.-]{0,60})",
    re.ASCII | re.IGNORECASE,
)
_UNHYPHENED: Final = re.compile(
    r"deepseek(?P<series>v3(?:\.[12])?|r1)(?P<rest>(?:[-_][\w.-]{1,60})?)", re.ASCII | re.IGNORECASE
)

_STEPS: Final = re.compile(r"step-?[0-9]|command-?r")
"""`<step2-output>`, `<command-result>`: what a guide calls its own steps, though models are called so too."""


def usual_name(written: str) -> str:
    """The name that a folder's own stands for, as the checkpoint is called: `Kimi-K2.5-w4a8`. "" for other names, and
    for `kimi2`, which may be any of several."""
    own = written.rstrip("/").rpartition("/")[2]
    if of_the_maker := _OF_THE_MAKER.fullmatch(own):
        own = of_the_maker["name"]
        if "modelopt" in (of_the_maker["tool"] or "").casefold():
            own = _FP4.sub("NVFP4", own)  # the one form of FP4 that ModelOpt writes
    if unhyphened := _UNHYPHENED.fullmatch(own):
        return f"DeepSeek-{unhyphened['series'].upper()}{unhyphened['rest'].replace('_', '-')}"
    match = _FOLDER.fullmatch(own)
    if match is None or (match["major"], match["minor"], match["rest"]) == ("2", None, ""):
        return ""
    version = match["major"] + (f".{match['minor']}" if match["minor"] else "")
    rest = match["rest"].replace("_", "-")
    return f"Kimi-K{version}{f'-{rest}' if rest else ''}"


def with_owner(written: str) -> str:
    """The repository after which a folder is called with its owner, `/models/nvidia-Kimi-K2.5-NVFP4`; "" for others."""
    match = _OWNED.fullmatch(written.rstrip("/").rpartition("/")[2])
    return f"{match['owner']}/{match['name']}" if match is not None else ""


def stands_for_another(written: str) -> bool:
    """Whether a place to fill in, or a variable, is called after a model of another family, `<path-to-glm5>` or
    `$QWEN_DIR`: it is none of those of this one that a text names beside it."""
    plain = written.casefold()
    held = any(sign in plain for sign in "<${")
    return held and FAMILIES.search(_STEPS.sub("", plain)) is not None and OURS.search(plain) is None
