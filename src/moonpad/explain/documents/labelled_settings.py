"""Settings in labelled lines, `- TP: 8`, `Max model length: 262144`, beside a command that the text cuts short: they
are what the missing part of the command says.

A whole command says all of itself, and labels beside it may be of another run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.catalog.options.option import OptionSet
from moonpad.explain.commands import Command, Word
from moonpad.explain.documents.reckoned_sizes import is_of_a_sum
from moonpad.explain.flag_lists import serving_programs
from moonpad.explain.shell.cut_commands import AS_LABELLED, CUT
from moonpad.explain.shell.cut_commands import LEFT_OUT as LEFT_OUT_BY_TEXT
from moonpad.explain.source_text import InputText
from moonpad.explain.unknowns import LEFT_OUT, is_cut_off
from moonpad.values.records import replace

_LONGEST: Final = 400
_MOST: Final = 400
_ITEM: Final = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,2}[.)])[ \t]+)?(?=\S)")
_QUOTED: Final = re.compile(r"[ \t]*>")
_CELLS: Final = re.compile(r"[ \t]*\|([^|]{2,60})\|([^|]{1,60})\|[ \t]*")
_PART: Final = re.compile(r"(?:[^,;，；、/]|,(?=\d{3}\b)|(?<=[\w.])/(?=[\w.]))+")
_SAID: Final = re.compile(
    r"[*_`\" ]*(?P<label>[A-Za-z][\w -]{0,45}?)[*_`\" ]*(?:[:=：][*_` ]*|[ ](?:(?:is|of|at)[ ])?[*_`]*)"
    r"(?P<value>--[a-z][\w-]*(?:[ =][\w.-]+)?|[A-Za-z0-9.][\w.,:/-]*)[*_`\"]*"
    r"(?:[ ](?:tokens?|GPUs?|devices|ranks|ways?)\b)?(?:[ ]*\([^()]*\))?[ .。]*"
)
_SENTENCE: Final = re.compile(
    r"(?<![\w.-])(?P<label>tp|pp|dp|ep)(?:[ _-]?size)?[ ]?[=:×x]?[ ]?(?P<value>[0-9]{1,3})(?!\w|\.[0-9])"
    r"|(?P<experts>expert[ -]parallel(?:ism)?)[ ]?(?:is[ ])?(?:enabled|on)\b",
    re.IGNORECASE,
)
_NAMES: Final = tuple(
    (name, re.compile(rf"(?:the |total |effective )?(?:{pattern})", re.IGNORECASE))
    for name, pattern in (
        ("tp", r"tp(?:[ _-]?size)?|tensor[ _-]parallel(?:ism|[ _-]size|[ _-]degree)?"),
        ("pp", r"pp(?:[ _-]?size)?|pipeline[ _-]parallel(?:ism|[ _-]size|[ _-]degree)?"),
        ("dp", r"dp(?:[ _-]?size)?|data[ _-]parallel(?:ism|[ _-]size|[ _-]degree)?"),
        ("dcp", r"dcp(?:[ _-]?size)?|decode[ _-]context[ _-]parallel(?:ism|[ _-]size)?"),
        ("ep", r"ep(?:[ _-]?size)?|(?:enable[ _-])?expert[ _-]parallel(?:ism|[ _-]size|[ _-]degree)?"),
        ("max_model_len", r"(?:max(?:imum)?[ _-])?(?:model|context|sequence|seq)[ _-](?:len(?:gth)?|window)|context"),
        ("kv_cache_dtype", r"kv[ _-]?cache[ _-](?:d?type|format|precision|quantization)|kv[ _-]?cache"),
        ("gpu_memory_utilization", r"(?:gpu[ _-])?mem(?:ory)?[ _-](?:utili[sz]ation|fraction(?:[ _-]static)?)"),
    )
)
_SIZES: Final = frozenset({"tp", "pp", "dp", "dcp"})
_ON: Final = frozenset({"enabled", "on", "true", "yes", "1"})
_OFF: Final = frozenset({"disabled", "off", "false", "no", "none", "0", "auto", "default"})
_TOKENS: Final = re.compile(r"(?P<number>\d{1,4}(?:,\d{3}){1,2}|\d{1,8})(?P<kilo>[ ]?[kK])?(?:[ ]tokens)?")
_SHARE: Final = re.compile(r"0?\.\d{1,3}")
_FORMAT: Final = re.compile(r"(?:fp8|bf16|bfloat16|fp16|int8|nvfp4)\w{0,12}", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d{1,8}(?:\.\d{1,4})?")
_OF_SENTENCES: Final = frozenset({"<what the text says>", "<the options that the text only speaks of>"})
_FLAG: Final = re.compile(r"--[a-z][a-z0-9_-]*")
_NOT_OPTIONS: Final = frozenset({"--model", "--config", "--version", "--help", "--host", "--port"})


def with_labelled_settings(commands: Sequence[Command], text: InputText) -> list[Command]:
    """The commands; those that are cut short with what labelled lines say: of the whole text for the only server, else
    of the lines between the server above it and itself. What two lines say differently is not known."""
    result = list(commands)
    servers = [at for at, command in enumerate(result) if command.program in serving_programs()]
    for at in servers:
        command = result[at]
        sketched = len(servers) > 1 and bool(command.argv) and command.argv[0].text in LEFT_OUT
        if sketched or not _is_cut(command):
            continue
        own = {word.line for word in command.words}
        first, last = 1, len(text.lines)
        if len(servers) == 1 and any(map(_is_told_apart, command.argv)):
            own = set()  # its words stand in the same lines
        if len(servers) > 1:
            above = [word.line for other in servers if other < at for word in result[other].words]
            first, last = max(above, default=0) + 1, min(own)
        text.budget.work((last - first) // 2 + 20, "its labelled settings")
        # What somebody else is quoted with is his advice.
        quoted = _QUOTED.match(text.lines[command.line - 1]) is not None
        lines = [
            number
            for number in range(first, last + 1)
            if number not in own and (_QUOTED.match(text.lines[number - 1]) is not None) is quoted
        ]
        result[at] = _with(command, lines, text)
    return result


def _is_cut(command: Command) -> bool:
    return command.more in CUT or command.more == LEFT_OUT_BY_TEXT or any(map(_stands_for_more, command.argv))


def _stands_for_more(word: Word) -> bool:
    return word.text in LEFT_OUT or (word.text.startswith("-") and is_cut_off(word.text)) or _is_told_apart(word)


def _is_told_apart(word: Word) -> bool:
    """What a reader of sentences puts in the place of the options that a text has not."""
    return word.unresolved == ("@",) and word.text in _OF_SENTENCES


def _with(command: Command, numbers: Sequence[int], text: InputText) -> Command:
    options = option_set(command.program)
    if options is None:
        return command
    given = {
        name
        for word in command.argv
        if word.text.startswith("-") and (known := options.named(word.text.partition("=")[0])) is not None
        for name in known.names
    }
    line = serving_programs()[command.program]
    named = dict[str, dict[tuple[str, ...], int]]()
    spoken = dict[str, dict[tuple[str, ...], int]]()
    in_sentences = not any(map(_is_told_apart, command.argv))
    lines = text.lines
    for number in numbers:
        written = lines[number - 1][:_LONGEST]
        for key, words in _labelled(written, line.options, options):
            named.setdefault(key, {}).setdefault(words, number)
        for match in _SENTENCE.finditer(written) if in_sentences else ():
            if is_of_a_sum(written, match):
                continue
            size = (match["label"] or "ep").casefold()
            if words := _words(size, match["value"] or "on", line.options, options):
                spoken.setdefault(words[0], {}).setdefault(words, number)
    told = spoken | named
    added: list[Word] = []
    for key, values in told.items():
        option = options.named(key)
        if len(values) > 1 or option is None or given & {*option.names}:
            continue
        words, number = next(iter(values.items()))
        at, shown = text.offset(number - 1), lines[number - 1]
        begin, end = at + len(shown) - len(shown.lstrip()), at + len(shown.rstrip())
        added += (text.word(word, begin, end) for word in words)
    sized = any(line.options.get(key, "") in told for key in ("tp", "pp", "dp"))
    if not sized or line.options.get("tp", "") not in {*given, *(word.text for word in added)}:
        return replace(command, argv=(*command.argv, *added)) if added else command
    kept = [word for word in command.argv if not _stands_for_more(word)]
    return replace(command, argv=(*kept, *added), more=AS_LABELLED)


def _labelled(written: str, ours: Mapping[str, str], options: OptionSet) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Of a line that is nothing but labels with their values, each option's own name and its words."""
    if cells := _CELLS.fullmatch(written):
        parts = [f"{cells[1].strip()}: {cells[2].strip()}"]
    else:
        item = _ITEM.match(written)
        parts = _PART.findall(written[item.end() :]) if item else []
    said = [_SAID.fullmatch(part.strip()) for part in parts]
    if not said or said[0] is None:
        return
    for match in said:
        if match is None:
            continue
        label, value = match["label"].strip(), match["value"].rstrip(".,:")
        if value.startswith("--"):
            yield from _literal(value, options)
            continue
        key = next((name for name, pattern in _NAMES if pattern.fullmatch(label)), "")
        words = _words(key, value, ours, options) if key else _other(label, value, options)
        if words:
            yield words[0], words


def _words(key: str, value: str, ours: Mapping[str, str], options: OptionSet) -> tuple[str, ...]:
    flag = ours.get(key, "")
    option = options.named(flag) if flag else None
    if option is None:
        return ()
    plain = value.casefold().strip().removesuffix("-way")
    if option.kind == "flag":  # `expert parallel size: 16` of an engine that has a switch
        on = plain in _ON or (plain.isdigit() and int(plain) > 1)
        return (flag,) if on else ()
    if key in _SIZES or key == "ep":
        return (flag, plain) if plain.isdigit() and 0 < int(plain) <= 1024 else ()
    if key == "max_model_len":
        tokens = _TOKENS.fullmatch(plain)
        number = int(tokens["number"].replace(",", "")) * (1024 if tokens["kilo"] else 1) if tokens else 0
        return (flag, str(number)) if number >= 1024 else ()
    pattern = _FORMAT if key == "kv_cache_dtype" else _SHARE
    return (flag, plain) if pattern.fullmatch(plain) else ()


def _literal(value: str, options: OptionSet) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`Backend that fails: --all2all-backend deepep_low_latency`."""
    words = value.replace("=", " ", 1).split()
    option = options.named(words[0]) if _FLAG.fullmatch(words[0]) else None
    takes = option is not None and option.kind != "flag"
    if option is not None and words[0] not in _NOT_OPTIONS and len(words) == 1 + takes:
        yield words[0], tuple(words)


def _other(label: str, value: str, options: OptionSet) -> tuple[str, ...]:
    """`Block size: 256`, which is called as an option is: of two words or more, with a number or switched on."""
    flag = f"--{re.sub('[ _-]+', '-', label.casefold())}"
    option = options.named(flag) if flag.count("-") > 2 else None
    if option is None or flag in _NOT_OPTIONS:
        return ()
    plain = value.casefold()
    if option.kind == "flag":
        return (flag,) if plain in _ON else ()
    return (flag, plain) if _NUMBER.fullmatch(plain) else ()
