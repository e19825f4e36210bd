"""Downloads of some of a repository's files, without the code that its tokenizer or configuration is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_LONGEST: Final = 600
_DEEP: Final = 12
"""Lines of one command or call."""
_DOWNLOAD: Final = re.compile(
    r"(?:\b(?:huggingface-cli|hf|modelscope)[ \t]+download\b|\bsnapshot_download\(|\"download\"[ ]*,)"
)
_TOKENIZERS: Final = re.compile(r"(?<![\w-])moonshotai/(?:Kimi-(?:K2|VL|Linear|Audio)|Moonlight)[\w.-]*")
"""Their tokenizer is tokenization_*.py beside tiktoken.model, whatever the engine is told."""
_CONFIGURATIONS: Final = re.compile(
    r"(?<![\w-])deepseek-ai/DeepSeek-(?:V3|R1)(?!-Distill)(?:-\d{4}|-Base|-Zero|\.1[\w-]*)?(?![\w.-])"
)
"""Their configuration is read by code of theirs where an engine is told to trust it."""
_PATTERN: Final = re.compile(r"(?:--include|allow_patterns)(?P<rest>[\s\S]*)")
_WORD: Final = re.compile(r"[\w*?\[\]./-]*[*?.][\w*?\[\]./-]*")
_ENDS: Final = re.compile(r"(?:^|\s)--?[A-Za-z]|[;|&)]|\b[a-z_]+[ ]*=[ ]*(?![\[\"'=])")
_TOKENIZER: Final = "tokenization_kimi.py"
_CONFIGURATION: Final = "configuration_deepseek.py"


def code_left_behind(case: Case) -> Iterator[Remark]:
    """`--include "*.safetensors" "*.json"`: told once, with the first server of the text."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.lines), "its downloads")
    for number, line in enumerate(script.lines, 1):
        if not _DOWNLOAD.search(line[:_LONGEST]) or line.lstrip().startswith("#"):
            continue
        text = _whole(script.lines[number - 1 : number - 1 + _DEEP])
        model = _TOKENIZERS.search(text)
        needed = _TOKENIZER if model is not None else _CONFIGURATION
        model = model or (_CONFIGURATIONS.search(text) if _trusts(case) else None)
        given = _PATTERN.search(text)
        if model is None or given is None:
            continue
        patterns = _WORD.findall(_ENDS.split(given["rest"], maxsplit=1)[0])
        if not patterns or any("$" in each for each in patterns) or any(fnmatch(needed, each) for each in patterns):
            continue
        listed = shortened(" ".join(patterns), 60)
        message = f"{script.where(number)}: only {listed} of {shortened(model[0], 60)} is downloaded, and not "
        message += f"{needed}, which its {'tokenizer' if needed == _TOKENIZER else 'configuration'} is: the start ends "
        message += "(does not appear to have a file named …)"
        remedy = "download *.py too, and every other file beside the weights: leave the patterns out"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "--include", message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _whole(lines: tuple[str, ...]) -> str:
    """A command with the lines that its backslashes join, or a call up to its bracket."""
    text = ""
    for line in lines:
        part = line[:_LONGEST].rstrip()
        text += part.rstrip("\\") + " "
        opened = text.count("(") - text.count(")")
        if not part.endswith("\\") and opened <= 0:
            break
    return text


def _trusts(case: Case) -> bool:
    return any(reading.serving.trust_remote_code for reading in case.readings)
