"""The one model that a text speaks of: scripts for one model take its repository from a variable (`vllm serve $MODEL`),
and name it in a comment, a name of the server or the path of a download."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final

from moonpad.explain.commands import Script

_LONGEST: Final = 2000
_NAME: Final = re.compile(
    r"(?<![A-Za-z0-9])(?P<line>Kimi-(?:K[0-9](?:\.[0-9])?|Linear|VL)|Qwen[0-9](?:\.[0-9])?|DeepSeek-(?:V[0-9](?:\.[0-9])?|R1)|"
    r"Llama-[0-9](?:\.[0-9])?|(?:GLM-|(?-i:GLM))[0-9](?:\.[0-9])?|MiniMax-M[0-9](?:\.[0-9])?|gpt-oss|MiMo-V[0-9](?:\.[0-9])?|"
    r"Nemotron-[0-9]|Step-[0-9](?:\.[0-9])?|gemma-[0-9])(?P<rest>(?:[-_.][A-Za-z0-9]+)*)(?![A-Za-z0-9])"
    r"(?:[ ]\(?(?P<form>(?:MX|NV)?FP4|FP8|INT4|W[48]A(?:8|16))(?![\w-]))?",
    re.IGNORECASE,
)
"""`MiniMax-M3 MXFP4` says of its weights what `MiniMax-M3-MXFP4` does."""
_POD: Final = re.compile(r"-(?=[a-z]*[0-9])[0-9a-z]{6,10}-[0-9bcdfghj-np-tv-xz]{5}", re.ASCII)
"""How a name of Kubernetes ends, of a pod of a Deployment: `glm-5-flash-7d4b9c6f88-x2k9p`."""
_INSTANCE: Final = re.compile(r"-(?=[A-Za-z0-9]*[a-z][A-Z0-9]*[A-Z])[A-Za-z0-9]{5}$", re.ASCII)
"""How the name of an instance ends that a manager of servers has made of the model's: `qwen3-8b-aXk9Q`."""
_JOINED: Final = re.compile(r"(?<=GLM)(?=[0-9])")
_DRAFT: Final = re.compile(r"eagle|dflash|medusa|draft|assistant", re.IGNORECASE)
_FILE: Final = re.compile(
    r"(?:[-_.](?:sh|py|ya?ml|json|jinja|md|log|txt|toml|git|html?)\b|(?-i:\.(?!gguf\b)[a-z]{4,})).*", re.IGNORECASE
)
"""`minimax-m3.sh`, and `minimax-m3.thinking[3]`, a key of a table."""


def spoken_model(script: Script) -> str:
    """The longest of its names; "" where none is named, or models of several lines."""
    script.budget.once("models in words", 2 * len(script.lines), "the text around its engine commands")
    return _model_of(tuple(script.lines))


def spoken_models(script: Script) -> tuple[str, ...]:
    """All of its names, as they stand first."""
    script.budget.once("models in words", 2 * len(script.lines), "the text around its engine commands")
    return _models_of(tuple(script.lines))


def model_in(line: str) -> tuple[str, int]:
    """The one model that a line names, and where it stands; "" where it names none or several."""
    by_name = {match[0].casefold(): match for _, match in _named(line) if not _DRAFT.search(match["rest"])}
    if len(by_name) != 1:
        return "", 0
    (match,) = by_name.values()
    return match[0], match.start()


def lines_of_models(text: str) -> frozenset[str]:
    """The lines of models that are named in it, `Kimi-K2.5` of `Kimi-K2.5-NVFP4`, as they are written."""
    return frozenset(match["line"] for _, match in _named(text))


def _named(line: str) -> Iterator[tuple[str, re.Match[str]]]:
    for match in _NAME.finditer(line[:_LONGEST]):
        if not _POD.search(match["rest"]):
            yield f"{_JOINED.sub('-', match['line'])}{_FILE.sub('', match['rest'])}", match


@lru_cache(maxsize=2)  # each engine command of a text asks
def _models_of(lines: tuple[str, ...]) -> tuple[str, ...]:
    names: dict[str, str] = {}
    for name, _ in (named for line in lines for named in _named(line)):
        names.setdefault(name.casefold(), name)
    return tuple(names.values())


@lru_cache(maxsize=2)  # each engine command of a text asks
def _model_of(lines: tuple[str, ...]) -> str:
    names: dict[str, str] = {}
    forms: dict[str, str] = {}
    for line in lines:
        for name, match in _named(line):
            if not _DRAFT.search(match["rest"]):
                names.setdefault(name.casefold(), name)
                if match["form"]:
                    forms.setdefault(match["form"].casefold(), f"{name}-{match['form']}")
    names = {key: name for key, name in names.items() if not _is_instance(name, names)}
    longest = max(names, key=len, default="")
    if not longest or not all(longest.startswith(name) for name in names):
        return ""
    # Of weights in one form alone, and of the model that the other names are short for, the form is its own.
    with_form = next(iter(forms.values())) if len(forms) == 1 else ""
    return with_form if with_form.casefold().startswith(f"{longest}-") else names[longest]


def _is_instance(name: str, names: Collection[str]) -> bool:
    end = _INSTANCE.search(name)
    return end is not None and name[: end.start()].casefold() in names
