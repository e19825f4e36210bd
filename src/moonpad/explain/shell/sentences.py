"""Words that speak of a program and start none, and sentences that go on behind a command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from moonpad.explain.commands import Command, Word, cut
from moonpad.explain.programs import program_named
from moonpad.values.records import replace

_QUESTIONS: Final = frozenset({"--version", "--help", "-h", "-v", "-V", "help", "version"})
_ALSO_VERBOSE: Final = frozenset({"-v"})
"""What asks for the version, or in front of other options for more words."""
_CUT: Final = 4
_LETTERS: Final = re.compile(r"[A-Za-z]{2,}(?:-[A-Za-z]{2,})*[,:.;]?")
_STOPPED: Final = re.compile(r"[A-Za-z]{2,}[,:.;!]")
"""`llama-server started. PID=…`"""
_ASKED: Final = re.compile(r"[A-Za-z]{2,}[?!]{1,3}")
"""The last word of a question."""
_RULE: Final = re.compile(r"[-=#*~]{3,}")
"""A line of dashes around a title: `--- Install llama-server ---`."""
_DASHES: Final = frozenset("-–—")
"""What stands between the parts of a sentence: `this is no llama-server - it is left alone`."""
_BEHIND_A_DASH: Final = _DASHES | frozenset({"->", "=>", "→", "⇒", "➜"})
_OF_ANNOTATION: Final = re.compile(r"[(\[]?(?:[^\W_]|[^\W_][\w.'’×/+:~%-]{0,60}[^\W_])[)\]]?[,.;:?!]{0,3}")
"""A word or a number, and no option, variable or address."""
_STOPPED_OPTION: Final = re.compile(r"--[a-z][a-z0-9-]{2,60}[,;.]")
_SET: Final = frozenset({"=", ":=", "=="})
"""`llama-server = ap pkgs.llama-cpp "llama-server"`: a name of another language that gets a value."""
_ASSIGNED: Final = re.compile(r"[A-Z][A-Z0-9_]*=\S+")
_ENDED: Final = re.compile(r"[^\s.,]*[A-Za-z0-9][.;,]")
_SKETCH: Final = re.compile(r"[→⇒➜➔]|(?:[-=]+>|[/+·,]+)$")
"""What stands between the parts of a picture: `llama-server → answer`, `server / embeddings`."""
_OF_LANGUAGE: Final = re.compile(r"[^/=:]*[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af][^/=:]*")
"""A word of a language that no model is called in."""
PLAIN: Final = re.compile(r"[a-z]+(?:-[a-z]+)*[,.]?")
"""A word that may be one of a sentence."""
_ENUMERATED: Final = re.compile(r"--?[a-z][a-z-]*[,;]")
"""An option that a sentence goes on behind."""
_RELEASE: Final = re.compile(
    r"v?\d{1,4}(?:\.\d{1,4}){1,3}(?:\.?(?:rc|post|dev)\d{1,4}){0,2}(?:\+[a-z0-9]{1,40})?[,;:.]?|b[1-9]\d{3,4}(?:-[0-9a-f]{7,12})?[,;:.]?"
    r"|(?:main|master|nightly)[,;:.]?",
    re.ASCII,
)
"""What runs, at the head of a text: its name, `0.6.2, four cards`."""
_LEAST: Final = 2
_SAYS: Final = frozenset("accepts exposes needs provides reads requires supports takes uses".split())  # noqa: SIM905
"""What a sentence says of a program, also with an option behind."""
OF_SENTENCES: Final = _SAYS | frozenset(
    """
    a an and are as at be but by can does did for from has have if in into is it its lacks not of on or so still than
    that the then this to was were when where which while will with without
    """.split()  # noqa: SIM905
)


_OF_REMARKS: Final = OF_SENTENCES - {"a"}
"""Words that only a sentence has: an adapter or a model can be called `a`, as in `--lora-modules a b`."""


_BETWEEN: Final = frozenset({"with", "without", "using", "and", "as", "for", "on", "via", "by", "under", "then"})
"""Words of a sentence between a program and its options."""
_SPEAKERS: Final = OF_SENTENCES | {"we", "We", "I", "you", "You", "On", "With", "For", "Then", "To"}
_FULL_STOP: Final = re.compile(r"(\d+(?:\.\d+)?)[.,;]")


def as_spoken(command: Command) -> Command:
    """A command in a sentence, `we start vllm serve with --max-num-seqs b.`, without the sentence's own words and its
    full stop. Where such a word stands for the model its options alone are known, and a value may be a letter."""
    argv = command.argv
    speaks = len(argv) > 1 and argv[0].text in _BETWEEN and argv[1].text.startswith("--")
    stop = _FULL_STOP.fullmatch(argv[-1].text) if argv and command.program != "other" else None
    if stop is not None and (speaks or any(word.text in _SPEAKERS for word in command.prefix)):
        argv = (*argv[:-1], replace(argv[-1], text=stop[1], pieces=()))
    return replace(command, argv=argv[1:] if speaks else argv, guessed=command.guessed or speaks)


def is_sentence(program: str, argv: Sequence[Word]) -> bool:
    """`llama-server --version` starts nothing, what a table of processes has cut off (`vllm serve --model …`) says
    nothing, and "vllm serve with more than one rank" is a sentence."""
    texts = [word.text for word in argv]
    if program == "other" or not texts:
        return False
    first = texts[0].rstrip("`'\",.)")
    if set(texts) <= _QUESTIONS or (first in _QUESTIONS - _ALSO_VERBOSE) or texts[0].startswith("--help="):
        return True
    if first in _ALSO_VERBOSE and not any(text.startswith("-") for text in texts[1:]):
        return True
    if len(texts) < _CUT and texts[-1].endswith("…"):
        return True
    return _speaks(texts, takes_model=_takes_model(program))


def _speaks(texts: Sequence[str], *, takes_model: bool) -> bool:
    """Whether words of a language stand where options or the model do."""
    has_options = any(text.startswith("-") for text in texts)
    if not has_options and _RELEASE.fullmatch(texts[0]):
        return True
    if not takes_model and (texts[0] in _SAYS or (not has_options and texts[0] in OF_SENTENCES)):
        return True
    if not takes_model and not has_options and (_ASSIGNED.fullmatch(texts[0]) or _STOPPED.fullmatch(texts[0])):
        return True
    if not takes_model and (_SKETCH.match(texts[0]) or _OF_LANGUAGE.fullmatch(texts[0])):
        return True
    if texts[0] in _SET or (texts[0] in _DASHES and any(map(_LETTERS.fullmatch, texts[1:2]))):
        return True
    if any(_ENUMERATED.fullmatch(one) and _LETTERS.fullmatch(two) for one, two in pairwise(texts)):
        return True
    if not takes_model and len(texts) > _LEAST and all(PLAIN.fullmatch(text) for text in texts):
        return True
    if any(map(_RULE.fullmatch, texts)) and all(_RULE.fullmatch(text) or PLAIN.fullmatch(text) for text in texts):
        return True
    behind = texts[1 : 1 + _LEAST]
    if not _LETTERS.fullmatch(texts[0]) or not behind or not _LETTERS.fullmatch(behind[0]):
        return False
    return not takes_model or texts[0].strip(",:") in OF_SENTENCES or behind[0].strip(",:") in OF_SENTENCES


def _takes_model(program: str) -> bool:
    """Whether the model, or another word, may stand without an option."""
    named = program_named(program)
    return named is None or named.kind != "server" or bool(named.positional_model)


def without_prose(program: str, argv: tuple[Word, ...]) -> tuple[Word, ...]:
    """Of the words behind a program those that are its own."""
    own, named = _without_sentence(argv), program_named(program)
    return _without_remark(_without_annotation(own)) if named is not None and named.kind == "server" else own


def _without_annotation(argv: tuple[Word, ...]) -> tuple[Word, ...]:
    """Of a server's command without what a person notes behind it: `--tp 8 — 8xH200`, `--enable-metrics, then OOM`."""
    at = len(argv)
    while at > 1 and not argv[at - 1].unresolved and _OF_ANNOTATION.fullmatch(argv[at - 1].text):
        at -= 1
    if at < 2 or not any(word.text.startswith("--") for word in argv[:at]):
        return argv
    last, noted = argv[at - 1], len(argv) - at
    if last.text in _BEHIND_A_DASH and (noted or last.text == "-"):
        return argv[: at - 1]
    if noted and _STOPPED_OPTION.fullmatch(last.text) and not last.unresolved:
        return (*argv[: at - 1], _without_sign(last))
    return argv


def _without_sentence(argv: tuple[Word, ...]) -> tuple[Word, ...]:
    """Up to the value with which the sentence ends: `--port 8000. Then reduce the batch` is `--port 8000`."""
    for at in range(1, len(argv) - _LEAST):
        word, behind = argv[at], argv[at + 1 : at + 1 + _LEAST]
        if word.unresolved or not _ENDED.fullmatch(word.text) or not argv[at - 1].text.startswith("-"):
            continue
        if all(_LETTERS.fullmatch(each.text) for each in behind):
            return (*argv[:at], _without_sign(word))
    return argv


def _without_remark(argv: tuple[Word, ...]) -> tuple[Word, ...]:
    """Of a server's command without the words with which a sentence goes on: `--port 8000 and it crashes` is
    `--port 8000`, and so is `--port 8000 works?`."""
    asks = bool(argv) and _ASKED.fullmatch(argv[-1].text) is not None
    at = len(argv) - asks
    while at > 1 and PLAIN.fullmatch(argv[at - 1].text):
        at -= 1
    behind = [word.text for word in argv[at:]]
    if not behind or any(word.unresolved for word in argv[at:]):
        return argv
    if argv[at - 1].text.startswith("-") and "=" not in argv[at - 1].text and behind[0] not in _OF_REMARKS:
        at += 1  # the value of the option
    said = [text.strip(",.?!") for text in behind]
    if at == len(argv) or not (asks or (len(argv) - at > 1 and _OF_REMARKS.intersection(said))):
        return argv
    return argv[:at] if any(word.text.startswith("-") for word in argv[:at]) else argv


def _without_sign(word: Word) -> Word:
    """Without its last character, where it stands."""
    end = max(word.column, word.end_column - 1)
    place = {"line": word.line, "column": word.column, "end_line": word.end_line, "end_column": end}
    return replace(cut(word, 0, len(word.text) - 1), **place)
