"""Options and variables in the code of a sentence that tells of a start: `with args `--kv-cache-dtype fp8 …``, `I set
`export VLLM_ROCM_USE_AITER=1``.

What is advised, ruled out, or what mended a start, is not what it ran with; nor is one of two lists that differ.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.argv_reader import parse
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.commands import Word
from moonpad.explain.shell.interpreter import ScriptState, words_of
from moonpad.explain.shell.wrappers import assignment
from moonpad.explain.source_text import Source

_CODE: Final = re.compile(
    r"(?<![`\w])`(?P<code>--[a-z][^`\n]{3,1500}|(?:export[ ]+)?[A-Z][A-Z0-9_]{2,60}=[^`\n]{1,300})`"
)
_LED: Final = re.compile(r"\b(?:arg(?:ument)?s|flags|options|parameters)\b[^.`\n]{0,20}\Z", re.IGNORECASE)
_LONGEST: Final = 400
"""Characters of a sentence before the code, and behind it."""
_MOST: Final = 40
_FEWEST: Final = 2
"""Options that make a list without a word that calls them one."""
_ENDS: Final = re.compile(r"[.!?;][\"')*_]*\s+(?=[A-Z\"'(*`])|[。！？]")
_OWN: Final = re.compile(r"\b(?:[Ii]|[Ww]e)\b|我")
_NOT_SO: Final = re.compile(
    r"\b(?:if|unless|not|never|without|unset|remov\w+|dropp?\w*|avoid\w*|instead|rather|should|would|recommend\w*|disabl\w+"
    r"|before|previously|former\w*|earlier)\b|n['’]t\b|不|如果|若|建议|应该",
    re.IGNORECASE,
)
_ADVISES: Final = re.compile(
    r"\b(?:try|add(?:ing)?|can|may|might|must|please|e\.g|example|such as|optional\w*|need(?:s|ed)?|requires?|change"
    r"|or|either|to (?:enable|use|get|select|choose|turn|switch|make|force))\b"
    r"|(?:^|[:*-] )[ ]?(?:Set|Use|Export|Pass|Put)\b|可以|需要|设置",
    re.IGNORECASE,
)
_MENDS: Final = re.compile(
    r"\b(?:fix(?:es|ed)?|solve[sd]?|help(?:s|ed)|resolve[sd]?|workaround|work(?:s|ed) around|mitigat\w+|instead|gone)\b"
    r"|解决",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"[ \t]*>")


def spoken_arguments(
    state: ScriptState, start: int, text: str, program: str, given: Collection[str]
) -> tuple[list[Word], dict[str, Word]]:
    """The words of the one list of options, less those that are `given` already, and the variables that have one value;
    the text begins at `start`."""
    lists: list[list[Word]] = []
    values: dict[str, dict[str, Word]] = {}
    for at, code, led in _told(text):
        words = words_of(Source.block(state.text, start + at, code), state)
        if code.startswith("--"):
            if listed := _options(words, program, given, _FEWEST - led):
                lists.append(listed)
            continue
        for word in words[words[0].text == "export" :]:
            if (pair := assignment(word)) is None or word.unresolved or "..." in word.text:
                break
            values.setdefault(pair[0], {})[pair[1].text] = pair[1]
    different = {tuple(word.text for word in words) for words in lists}
    env = {name: next(iter(each.values())) for name, each in values.items() if len(each) == 1}
    return (lists[0] if len(different) == 1 else []), env


def _told(text: str) -> Iterator[tuple[int, str, bool]]:
    """Where the code stands, the code, and whether a word calls it a list of options."""
    for number, match in enumerate(_CODE.finditer(text)):
        if number == _MOST:
            return
        first, last = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        if _QUOTED.match(text, first):
            continue  # what another is quoted with
        before = text[max(first, match.start() - _LONGEST) : match.start()]
        behind = text[match.end() : min(len(text) if last < 0 else last, match.end() + _LONGEST)]
        before = _ENDS.split(before)[-1]
        behind = _ENDS.split(behind)[0]
        if _NOT_SO.search(before) or _MENDS.search(before) or _MENDS.search(behind):
            continue
        if _ADVISES.search(before) and not _OWN.search(before):
            continue
        yield match.start("code"), match["code"].rstrip(), _LED.search(before) is not None


def _options(words: list[Word], program: str, given: Collection[str], fewest: int) -> list[Word]:
    """The words, less options whose values are only named in short (`--compilation-config FULL_AND_PIECEWISE`); none
    where they are no list of the program's options."""
    options = option_set(program)
    if options is None:
        return []
    parsed = parse([word.text for word in words], Grammar(options))
    known = sum(each.flag is not None for each in parsed.occurrences)
    if parsed.positionals or known < fewest or 2 * known <= len(parsed.occurrences):
        return []
    others = (each for each in parsed.occurrences if not {*given} & {*each.names, each.written})
    kept = (each for each in others if each.problem != "invalid-value")
    return [word for each in kept for word in words[each.index : each.index + each.length]]
