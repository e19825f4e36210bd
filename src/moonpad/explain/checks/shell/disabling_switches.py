"""Switches of NCCL that are told the wrong way round: 1 of NCCL_IB_DISABLE disables, and 0 is what holds anyway."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_TRANSPORTS: Final = {
    "IB": r"(?:IB|Infini[Bb]and|RDMA|RoCE|RoCE/IB|IB/RoCE|InfiniBand/RoCE)",
    "P2P": r"(?:P2P|peer[- ]to[- ]peer|NVLink)",
    "SHM": r"(?:SHM|shared[- ]memory)",
}
_SET: Final = re.compile(
    r"NCCL_(?P<what>IB|P2P|SHM)_DISABLE[`\"']?[ ]?(?:=|:| to )[ ]?[`\"']?(?P<value>[01])(?![\w.])[`\"']?"
)
_OFF: Final = r"(?:disabl(?:es?|ing)|turn(?:s|ing)? off|switch(?:es|ing)? off)"
_ON: Final = r"(?:enabl(?:es?|ing)|turn(?:s|ing)? on|switch(?:es|ing)? on)"
_LEADS: Final = r"[ \t]*(?:#+[ \t]*|//[ \t]*|\([ ]?|[,，]?[ ](?:in order )?to[ ]|[ ](?:which[ ])?(?=disables|enables))"
_ARTICLE: Final = r"[ ](?:the[ ])?(?:NCCL[ ])?"
_WITH: Final = r"[,:]?[ ](?:please )?(?:by |with |via )?(?:set(?:ting)? |export(?:ing)? |use |using )?[`\"']?"
"""What stands between `disable InfiniBand` and the variable."""
_UNSURE: Final = re.compile(
    r"[?？]|\b[01]\b|\b(?:not?|never|un\w+|instead|unless|default|otherwise|true|false|optional\w*)\b|n't\b|/dis|/en",
    re.IGNORECASE,
)
"""Words after which the line may say something else."""
_LONGEST: Final = 300


def disabling_switch(case: Case) -> Iterator[Remark]:
    """`export NCCL_IB_DISABLE=0  # disable InfiniBand`, in a comment behind it or above it, or in a sentence."""
    script = case.script
    if not is_first(case.commands, script):
        return
    above = ""
    for number, text in numbered(script, 1, len(script.lines)):
        for match in _SET.finditer(text) if "_DISABLE" in text else ():
            if not _is_other_way(match, text[: match.start()], text[match.end() :][:_LONGEST], above):
                continue
            name = f"NCCL_{match['what']}_DISABLE"
            does = "switches nothing off" if match["value"] == "0" else "switches it off"
            message = f"{script.where(number)}: {name}={match['value']} {does}, against what the text says of it: 1 "
            message += "disables, and 0 is what holds without it"
            remedy = f"write {name}={1 - int(match['value'])} where what the text says is meant"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, name, message, remedy)
            yield Remark(remark.finding, command=None)
            return
        above = text if text.lstrip().startswith("#") else ""


def _is_other_way(match: re.Match[str], before: str, behind: str, above: str) -> bool:
    """Whether the words beside the value say what the other value does."""
    said = _OFF if match["value"] == "0" else _ON
    what = rf"{said}{_ARTICLE}{_TRANSPORTS[match['what']]}(?![\w-])"
    if re.match(rf"(?i:{_LEADS}){what}", behind, re.IGNORECASE):
        return not before.lstrip().startswith("#") and not _is_unsure(behind)
    if re.search(rf"\b{what}{_WITH}$", before, re.IGNORECASE):
        return not before.lstrip().startswith("#") and not _is_unsure(f"{before} {behind}")
    own = re.fullmatch(r"[ \t]*(?:-[ ]|export[ ]|-e[ ]|set[ ])?[\"'`]?", before) is not None
    alone = re.match(rf"[ \t]*#+[ \t]*{what}(?P<rest>.*)$", above, re.IGNORECASE)
    return own and alone is not None and not _is_unsure(alone["rest"]) and not behind.strip(" \t\"'\\")


def _is_unsure(text: str) -> bool:
    return _UNSURE.search(text) is not None
