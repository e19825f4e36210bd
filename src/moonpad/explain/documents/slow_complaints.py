"""Whether a short text complains that its server is slow."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.commands import Script
from moonpad.explain.documents.line_search import is_in_lines

_MOST: Final = 150
"""Lines: a longer text speaks of much, and what is slow in it may be anything."""
LONGEST: Final = 500
_COMPLAINT: Final = re.compile(
    r"^(?!.*\b(?:INFO|WARNING|DEBUG|ERROR)\b).*?(?:"
    r"(?<![\w=\"'-])slow(?:er|ly|ness)?\b(?! tokenizer)|\bonly \d[\d.,]* ?(?:tok|t/s|ms)|\d ?(?:tok\w*/s|t/s) only"
    r"|\bhalf (?:of )?(?:the|what|its|as)\b|\d\S{0,3} of the throughput|\bothers? (?:\w+ )?(?:report|see|get)"
    r"|\b(?:says?|promise[sd]?|claim(?:s|ed)?|advertise[sd]?) (?:up to )?\d"
    r"|\b(?:poor|low|bad|terrible) (?:\w+ )?(?:performance|throughput|speed|latency|utili[sz]ation)"
    r"|\b(?:performance|throughput|speed|latency|TTFT|first token)\b[^.\n]{0,40}"
    r"(?:\bdrops?\b|\bbad\b|\bpoor\b|terrible|problem|tripled|doubled|worse|\btoo (?:low|high|long))"
    r"|\bwaits? (?:\d|until|for)|\bwaiting \d|bottleneck|disappoint"
    r"|\bhow (?:can|do|could) (?:we|I|you)\b[^.\n]{0,60}\b(?:faster|quicker|speed up|down|reduce|improve)"
    r"|\b(?:I|we) (?:expect|hoped)|\bshould (?:do|reach|be) \d|\bneeds? \d+ ?s for the first"
    r"|\bfirst token (?:is|comes|takes|after|of) (?:after )?\d{2,} ?s\b"
    r"|\btakes? \d+ (?:s|seconds|minutes) (?:before|until|for|to)"
    r"|太慢|很慢|变慢|好慢|慢得|速度慢|遅い|느리)",
    re.IGNORECASE,
)


def complains_of_speed(script: Script) -> bool:
    """By its words, in prose or in comments; what an engine's log calls slow does not count."""
    lines = script.lines
    if len(lines) > _MOST:
        return False
    script.budget.once("complaints of speed", 4 * len(lines), "the text around its engine commands")
    return is_in_lines(_COMPLAINT, lines, LONGEST)
