"""A cache for latent attention, `-mla 2` of ik_llama.cpp, with a model that has none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_SWITCHES: Final = frozenset({"-mla", "--mla-use"})
_DENSE: Final = re.compile(
    r"distill|(?<![a-z])(?:qwen|qwq|llama|mi[sx]tral|gemma|minimax|gpt-oss|hunyuan|ernie|nemotron|command-r|phi)"
    r"|deepseek(?:-r1)?-(?:1\.5|7|8|14|32|67|70)b",
    re.IGNORECASE,
)
"""Names of models whose attention keeps keys and values of every head."""
_NO_LATENT: Final = re.compile(r"\bkv_lora_rank\s*=\s*0\b")
"""What a start prints of such a model."""
_LONGEST: Final = 2000


def latent_of_plain(case: Case) -> Iterator[Remark]:
    """The server ends by a segmentation fault (https://github.com/ikawrakow/ik_llama.cpp/issues/306)."""
    if not case.engine.facts.gguf_only:
        return
    argv = case.commands[0].argv
    at = next((at for at, word in enumerate(argv[:-1]) if word.text in _SWITCHES), None)
    if at is None or argv[at + 1].text not in ("1", "2", "3"):
        return
    name = case.model_named.rstrip("/").rpartition("/")[2]
    case.script.budget.once("latent caches", len(case.script.lines), "the text around its engine commands")
    if not _DENSE.search(name) and not is_in_lines(_NO_LATENT, case.script.lines, _LONGEST):
        return
    written = f"{argv[at].text} {argv[at + 1].text}"
    message = f"{written} is for latent attention (DeepSeek-V2, V3 and R1, Kimi-K2), and {shortened(name, 60)} has "
    message += "none: the server ends by a segmentation fault"
    edits = [Edit(at, 2, ())]
    yield make_remark(
        Severity.WARNING, Code.UNSUPPORTED_FORMAT, argv[at].text, message, "leave it out", at=at, edits=edits
    )
