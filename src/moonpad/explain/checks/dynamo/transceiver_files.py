"""How a prefill or a decode worker, or a server behind a disaggregated one, hands its cache over: that stands in its
option file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from moonpad.catalog.other_models import other_model
from moonpad.engines import disaggregated_names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import by_module
from moonpad.explain.checks.options.option_file_values import of_the_file
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_TABLE: Final = "cache_transceiver_config"
_BUFFER: Final = f"{_TABLE}.max_tokens_in_buffer"
_ROLE: Final = re.compile(r"(?:prefill|decode)(?:_first)?")
_ROLES: Final = ("prefill", "decode")
_SINCE: Final = "1.0.0rc4"
_LONG: Final = 262_144
_LENGTHS: Final = ("--max_seq_len", "--max-seq-len")


def transceiver_of_pool(case: Case) -> Iterator[Remark]:
    """A worker of one pool whose file says nothing of the transfer, or not how much is transferred at once."""
    server = _is_server_of_pool(case)
    if not server and (not by_module(case.commands[0]) or _ROLE.fullmatch(_role(case)) is None):
        return
    options, at = of_the_file(case)
    if (not options and not (server and _names_no_file(case))) or case.option("--override-engine-args") is not None:
        return
    if not any(key.partition(".")[0] == _TABLE for key in options):
        if case.version and not since(case.version, _SINCE):
            return
        has_none = "the file has no" if options else "no file of options is named, and so no"
        message = f"{has_none} {_TABLE}: releases from {_SINCE} on hand no cache over to the other pool without it"
        remedy = f"add {_TABLE} with a backend to the files of both pools"
        yield make_remark(Severity.WARNING, Code.MISSING_FLAG, _TABLE, message, remedy, at=at)
        return
    model = other_model(case.first.model)
    if model is None or model.positions < _LONG or not model.kv_heads or _BUFFER in options:
        return
    if "max_seq_len" in options or case.option(*_LENGTHS) is not None:
        return
    message = f"without max_tokens_in_buffer the buffer is made for the longest sequence, and {model.title} takes "
    message += f"{model.positions:,} tokens: that can be more than a device has (195 GiB were seen)"
    remedy = f"write max_tokens_in_buffer: 16384 under {_TABLE} in both files, or max_seq_len"
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, _TABLE, message, remedy, at=at)


def _is_server_of_pool(case: Case) -> bool:
    """Whether a server is one of those between which the text's disaggregated server sends requests."""
    command, script = case.commands[0], case.script
    if command.program != disaggregated_names.SERVER or command.role not in _ROLES or is_fragment(command):
        return False
    script.budget.once("disaggregated servers", len(script.commands), "its engine commands")
    return any(each.program == disaggregated_names.PROGRAM for each in script.commands)


def _names_no_file(case: Case) -> bool:
    """Whether nothing can hand it a file of options."""
    flags = case.engine.command_line.option_files
    written = any(word.text.partition("=")[0] in flags for word in case.commands[0].argv)
    return not written and not case.open_ended and case.option(*flags) is None


def _role(case: Case) -> str:
    words = [word.text for word in case.commands[0].argv]
    for before, word in pairwise(("", *words, "")):
        flag, _, value = word.partition("=") if word.startswith("--disaggregation-mode=") else (before, "", word)
        if flag == "--disaggregation-mode":
            text = value.strip("'\"")
            return "" if unresolved(text) else text
    return case.commands[0].role
