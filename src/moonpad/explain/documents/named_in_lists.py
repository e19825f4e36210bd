"""What a list of flags names in words: `- model: `org/name``, `- served model name: `kimi``, `- MTP config: `{…}``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Command, Word
from moonpad.explain.documents.markdown import Block, Bullets
from moonpad.explain.shell.cut_commands import DRAFT_TOLD
from moonpad.explain.source_text import InputText

_DRAFT: Final = re.compile(r"draft|specul|eagle|\bmtp\b|medusa|dflash|dspark|nextn", re.IGNORECASE)
_MODEL: Final = re.compile(
    r"(?:the |target |base |main |llm )?(?:model\w{0,2}|checkpoint|weights|modèle|模型)"
    r"(?:[ _-]?(?:id|name|path|repo))?",
    re.IGNORECASE,
)
_SERVED: Final = re.compile(r"(?:served|serving|api)[ _-]?(?:model[ _-]?)?name|served[ _-]?as", re.IGNORECASE)
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,60}/[A-Za-z0-9][\w.-]{0,90}|/[\w./-]{2,200}")
_SERVED_AS: Final = re.compile(r"[\w.:/-]{1,100}")
_OBJECT: Final = re.compile(r"\{.{2,380}\}")
_MODEL_FLAGS: Final = frozenset({"--model", "--model-path", "--model_path"})
_DRAFT_FLAGS: Final = re.compile(r"--(?:speculative|spec)[-_.]")


def listed_command(part: Block | Bullets, argv: Sequence[Word], env: Mapping[str, Word], text: InputText) -> Command:
    """The flags as a command without a program, with what the labels of the same list name."""
    named = part.named if isinstance(part, Bullets) else ()
    words, more = _with_named(named, argv, text)
    line = min(word.line for word in words)
    return Command("fragment", tuple(words), (), env, label=part.intro, heading=part.heading, line=line, more=more)


def _with_named(named: Sequence[tuple[int, str, str]], argv: Sequence[Word], text: InputText) -> tuple[list[Word], str]:
    """With the model in front; and what is not known: how many tokens a draft model guesses, where the list only names
    it."""
    flags = {word.text.partition("=")[0] for word in argv}
    front: dict[str, list[Word]] = {}
    behind: dict[str, list[Word]] = {}
    drafts = any(map(_DRAFT_FLAGS.match, flags))
    more = ""
    for start, label, code in named:
        value = code.strip()

        def words(flag: str, start: int = start, code: str = code, value: str = value) -> list[Word]:
            return [text.word(each, start, start + len(code)) for each in (flag, value)]

        if _DRAFT.search(label):
            if drafts:
                continue
            if _OBJECT.fullmatch(value):
                behind["draft"], more = words("--speculative-config"), ""
            elif _REPOSITORY.fullmatch(value) and "draft" not in behind:
                more = DRAFT_TOLD
        elif _MODEL.fullmatch(label) and _REPOSITORY.fullmatch(value) and not _MODEL_FLAGS & flags:
            front.setdefault("model", words("--model"))
        elif _SERVED.fullmatch(label) and _SERVED_AS.fullmatch(value) and "--served-model-name" not in flags:
            behind.setdefault("served", words("--served-model-name"))
    return [word for each in ([*front.values(), [*argv], *behind.values()]) for word in each], more
