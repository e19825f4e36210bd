"""Words between angle brackets that stand for what a person fills in, `<MODEL>`, and redirect nothing; and between
bars, which are no pipes."""

from __future__ import annotations

import re
from typing import Final

_LETTERS: Final = "A-Za-z\u00c0-\u024f\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3"
_OF_SUM: Final = "[^<>|;&$`'\"()\\n\0]"
PLACEHOLDER: Final = re.compile(
    # A point stands in front of a digit alone: `<GLM-5.2-FP8>` is to be filled in, and `<in.txt>` is read and written.
    f"<(?:[{_LETTERS}]|[0-9]{{1,3}}_)(?:(?:[\\w/{_LETTERS}-]|\\.(?=\\d)){{0,60}}"
    f"|(?:[\\w/{_LETTERS}-]|\\.(?=\\d)){{0,30}}(?: [{_LETTERS}](?:[\\w/{_LETTERS}-]|\\.(?=\\d)){{0,40}}){{1,9}})>"
    "|<[0-9]{1,3}(?:(?:-or-|-to-|[/,-])[0-9Nn]{1,3}){1,8}>"
    # A sum or a sentence, `<prompt + 1152>`, `<FLAGS: see below, 7>`; `<in.txt 2>` has neither sign.
    f"|<[A-Za-z0-9][\\w/-]{{0,40}}(?: [A-Za-z][\\w/-]{{0,40}}){{0,4}}"
    f"(?: [+*/×–—]|[:,]) (?:{_OF_SUM}|\\({_OF_SUM}{{1,60}}\\)){{1,80}}(?<! )>"
    "|<[A-Za-z][\\w-]{0,30}:[A-Za-z][\\w-]{0,30}>"
    # `<api-key.txt>` at the end of a line or in front of an option: no file to write to
    "|<[A-Za-z][\\w/-]{0,60}\\.[a-z0-9]{1,11}>(?=[ \\t]*(?:\n|$|\\\\\n|[|;)…])|[ \\t]+--?[A-Za-z])"
    # `<0.6 or 1.0>`
    "|<[0-9][0-9.]{0,7}(?: (?:or|to|and) [0-9][0-9.]{0,7}){1,4}>"
    # `<0|1>`, `<30000+N>`
    "|<\\w[\\w.-]{0,30}(?:[|+*]\\w[\\w.-]{0,30}){1,8}>(?=\\s|$)"
    # A note in another script than Latin, with its own signs: `<按并发设，别留空！>`
    "|<(?=[^<>\n]{0,80}[^\x00-\x7f])[^<>\n\"'`$\\\\;|&]{1,80}>"
    # `image:|release_name|`: behind such a sign no command ends, and none is called so
    "|(?<=[:/=@-])\\|[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){1,6}\\|",
    re.ASCII,
)
PLACEHOLDER_OF_SPHINX: Final = re.compile(rf"{PLACEHOLDER.pattern}|\|[a-z][a-z0-9_]{{0,60}}\|", re.ASCII)
"""As Sphinx writes them, too: `|model|`."""
