"""What only running a script would tell, and layout or context depend on: then nothing is judged by a guess."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from msgspec import Struct

from moonpad.engines.base import Reading
from moonpad.engines.command_line import CommandLine
from moonpad.engines.value_checks import ENDPOINT, SWITCHED, unresolved
from moonpad.explain.commands import LIST_CUT, Command, Script, Word, stands_for_more
from moonpad.explain.flag_lists import ELLIPSES, LAYOUT, SIZES
from moonpad.explain.open_arguments import OWN_ARGUMENTS
from moonpad.explain.results import Remark, shortened
from moonpad.explain.shell.cut_commands import AS_LABELLED, CUT
from moonpad.explain.told_sizes import likely_sizes
from moonpad.values.finding import Code

CONTEXT: Final = "max_model_len"
_FRACTIONS: Final = ("gpu_memory_utilization", "kv_free_fraction")
_MEMORY: Final = (
    *(*_FRACTIONS, "kv_cache_dtype", "kv_cache_bytes", "kv_cache_tokens", "cpu_offload_gib"),
    *("gpu_experts", "device_layers", "host_expert_layers"),
)
"""Settings without which nothing can be said of the memory of a device."""
STEP: Final = frozenset({"max_num_seqs", "max_num_batched_tokens"})
"""Settings without which too large weights are still too large, and nothing fits for sure."""
_EXAMPLES: Final = {
    **{CONTEXT: "131072", "kv_cache_dtype": "auto", "pp": "1", "dcp": "1", "kv_cache_bytes": "17179869184"},
    **{"kv_cache_tokens": "131072", "cpu_offload_gib": "32", "max_num_seqs": "128", "max_num_batched_tokens": "8192"},
    **dict.fromkeys(_FRACTIONS, "0.9"),
}
_STANDS_IN: Final = re.compile(r"X+|[A-Z]|N[0-9]|[A-Z]+_[A-Z_]+|RANK|TP|DP|PP", re.ASCII)
_FILLED: Final = re.compile(r"\{\{[^{}]+\}\}|\{\w+\}")
"""`{extra_args}`, of a template."""
LEFT_OUT: Final = frozenset({"...", "…", "....", "......", "……", "[...]", "[…]", "(...)", "<...>", "[..]"})
"""What a sketch has in the place of the model and of options."""
_WHERE_SET: Final = re.compile(
    r"\$\{[A-Za-z_]\w{0,60}:?\+[ '\"]{0,3}(?P<words>--[a-z](?:[^{}]|\$\{[A-Za-z_]\w{0,60}\}){1,300})\}", re.ASCII
)
"""`${STATS:+--disable-log-stats}`: these options, or nothing."""
_OF_WEIGHTS: Final = re.compile(r"quantiz|dtype|specul|draft|overrid|load-format|config|model|args")
_ASKED: Final = (*LAYOUT, CONTEXT)
_PARTS: Final = frozenset({
    *("tp", "pp", "dp", "ep", "cp", "dcp", "pcp", "tensor", "pipeline", "data", "expert", "context", "nnodes", "nodes"),
    *("len", "length", "memory", "mem", "kv", "cache", "rank", "devices", "gpus", "model", "extra", "trtllm"),
})  # fmt: skip
"""Words in the names of options that say something of layout, context or memory in one of the engines."""
_MOST_SHOWN: Final = 2
"""Of the pieces that are not known in one sentence."""


class Missing(Struct, frozen=True):
    """`what` is the piece as it is written, `--config k2.yaml` or `"$@"`; `keys` are our names of what it may say."""

    what: str
    keys: frozenset[str]
    place: int
    """Of its word among the arguments."""
    more_options: bool = False
    """It may hold any option, so nothing can be called missing."""


def missing_pieces(
    command: Command, reading: Reading, line: CommandLine, files: Mapping[str, object], given: Mapping[str, str]
) -> tuple[Missing, ...]:
    """In the order of the arguments. What the person said beside the command (`given`) is known, and with any of it
    said, a piece that may hold more options holds none."""
    given_here = frozenset(name for name in _ASKED if _occurs(reading, line, name))
    open_ended = frozenset(name for name in _ASKED if name in line.options) - given_here
    if given_here >= {"tp", "pp", "dp"} and reading.layout.world_size == 1:
        open_ended -= {*LAYOUT}  # one rank has no others to share anything with
    pieces = [*_values(reading, line, given), *_other_names(reading, given)]
    if not given:
        others = (*_more_options(command, reading, line), *_absent_files(reading, line, files))
        # The script's own arguments are few, and what its author has written of the layout is what it has.
        own = open_ended & {CONTEXT} if "tp" in given_here else open_ended
        pieces += (
            Missing(what, own if what.strip("\"'") in OWN_ARGUMENTS else open_ended, place, more_options=True)
            for place, what in others
        )
        if command.more and not given_here & {*SIZES}:
            pieces.append(Missing(command.more, open_ended, len(command.argv), more_options=True))
        elif command.more in CUT or command.more == AS_LABELLED:
            pieces.append(Missing(command.more, open_ended & {CONTEXT}, len(command.argv), more_options=True))
    return tuple(sorted(pieces, key=attrgetter("place")))


def sentence(pieces: Sequence[Missing], line: CommandLine, command: Command, script: Script) -> str:
    """Why nothing is judged, and what a person can do."""
    if command.argv and command.argv[0].text in LEFT_OUT:
        return f"{command.argv[0].text} stands for the rest of the command: only what is written behind it is"
    keys = frozenset().union(*(piece.keys for piece in pieces))
    named = list(dict.fromkeys(piece.what for piece in pieces))
    several = bool(named[1:]) or named[0].startswith("the options ")
    verb = "are" if several else "is"
    if len(named) > _MOST_SHOWN:
        named = [*named[:_MOST_SHOWN], f"{len(named) - _MOST_SHOWN} more"]
    what = " and ".join([", ".join(named[:-1]), named[-1]] if named[1:] else named)
    words = {*re.split(r"[^a-z]+", what.casefold())}
    usual = [
        name for name in (*_ASKED, *_MEMORY, *sorted(STEP)) if name in keys and (name in line.options or len(keys) == 1)
    ]
    example = next((name for name in usual if name in words), usual[0])  # `ep` of `$EP_FLAG`
    only_more = all(piece.more_options for piece in pieces)
    lacks = f"{what} {verb} not known here"
    if example in ("pp", "dp", "ep") and example not in words and ((len(keys) > 1 and example == "pp") or only_more):
        return f"{lacks}: --set {example}=1 says that {'they hold' if several else 'it holds'} nothing of the layout"
    each = dict.fromkeys(next(iter(piece.keys)) for piece in pieces if len(piece.keys) == 1)
    sizes = likely_sizes(command, script)
    if len(each) > 1 and each.keys() == keys:
        return f"{lacks}: {' '.join(_set(name, sizes, others=each) for name in each)} supply them"
    return f"{lacks}: {_set(example, sizes)} supplies {'one of them' if named[1:] else 'it'}"


def _set(name: str, sizes: Mapping[str, int], others: Collection[str] = ()) -> str:
    """Beside tensor parallelism over all devices of a machine there is one replica: 8 of each would be 64 devices."""
    usual = "1" if name == "dp" and "tp" in others else "8"
    return f"--set {name}={sizes.get(name) or _EXAMPLES.get(name, usual)}"


def set_words(given: Mapping[str, str], line: CommandLine) -> tuple[str, ...]:
    """What the person said as the engine's own options, to be read behind those of the command."""
    words: list[str] = []
    for name, value in given.items():
        option = line.options.get(name)
        if option is None:
            continue
        if value in ("True", "False") or (name == "ep" and "size" not in option):  # a switch
            words += (option,) if value not in ("False", "1") else ()
        else:
            words += (option, value)
    return tuple(words)


def _occurs(reading: Reading, line: CommandLine, name: str) -> bool:
    return reading.parsed.occurrence(line.options.get(name)) is not None


def _values(reading: Reading, line: CommandLine, given: Mapping[str, str]) -> Iterator[Missing]:
    """Sizes that are there, and stand for something else."""
    for name in (*_ASKED, *_MEMORY, *sorted(STEP)):
        option = reading.parsed.occurrence(line.options.get(name))
        if option is not None and isinstance(option.value, str) and _is_open(option.value) and name not in given:
            value = shortened(option.value) or "(empty)"
            yield Missing(f"{line.options[name]} {value}", frozenset({name}), option.index)


def _other_names(reading: Reading, given: Mapping[str, str]) -> Iterator[Missing]:
    """`--tp 8` where that is no option: what was meant is plain, and what the engine makes of it is not."""
    for option in reading.parsed.occurrences:
        name = option.written.lstrip("-").replace("_", "-").removesuffix("-size")
        is_meant = option.problem == "ambiguous" and len(option.matches) == 1
        if option.flag is None and name in LAYOUT and name not in given and not is_meant:
            yield Missing(f"{option.written}, which is no option here,", frozenset({name}), option.index)


def _is_open(value: str) -> bool:
    """An empty value is that of a variable which something else sets."""
    return not value.strip() or unresolved(value) or _STANDS_IN.fullmatch(value) is not None


def _more_options(command: Command, reading: Reading, line: CommandLine) -> Iterator[tuple[int, str]]:
    """Words that may become any number of options: `"$@"`, `${ARGS[@]}`, `$EXTRA_ARGS`, `$(cat flags)`."""
    positionals = [place for place, _ in reading.parsed.positionals]
    model_first = not line.model or [word.text for word in command.prefix[-1:]] == ["serve"]
    for number, place in enumerate(positionals):
        word = command.argv[place] if place < len(command.argv) else Word("")
        is_model = model_first and number == 0 and word.text == reading.model
        if word.text in LEFT_OUT:
            yield place, word.text
        elif line.nodes and (switched := SWITCHED.fullmatch(word.text)) and switched["switch"] == line.nodes.headless:
            continue  # with it or without, layout and context are the same
        elif ENDPOINT.fullmatch(word.text) or _holds_nothing_asked(word, command.choices, line):
            continue
        elif (word.unresolved or _FILLED.fullmatch(word.text)) and (not is_model or _is_several(word)):
            yield place, shortened(word.text.strip("<>") if stands_for_more(word) else word.text)
    for option in reading.parsed.occurrences:
        if is_cut_off(option.written):
            yield option.index, shortened(option.written)
    if command.more == LIST_CUT:
        yield len(command.argv), command.more


def _holds_nothing_asked(word: Word, choices: Mapping[str, frozenset[str]], line: CommandLine) -> bool:
    """Whether it is a variable of which all that the branches of the script put into it is known, and none of it says
    anything of layout, context or memory."""
    if _leaves_sizes(word.text, line):
        return True
    name = word.unresolved[0] if word.unresolved else ""
    if name not in choices or any(each[:1].isalpha() and each != name for each in word.unresolved):
        return False
    asked = {line.options[key] for key in (*_ASKED, *_MEMORY) if key in line.options}
    return not any(_may_be(option, asked) for option in choices[name])


def _leaves_sizes(written: str, line: CommandLine) -> bool:
    """Whether the options that are there where a variable is set say nothing of layout, context, weights or memory."""
    if (added := _WHERE_SET.fullmatch(written)) is None:
        return False
    asked = {line.options[key] for key in (*_ASKED, *_MEMORY) if key in line.options}
    options = [word.partition("=")[0] for word in re.split(r"[\s'\"]+", added["words"]) if word.startswith("-")]
    return not any(_may_be(option, asked) or _OF_WEIGHTS.search(option) for option in options)


def _may_be(written: str, options: Collection[str]) -> bool:
    """Whether it is one of these options, a short form or another name of it: by the letters that they begin with."""
    plain = written.lstrip("-").replace("_", "-").partition(".")[0]
    if not written.startswith("--"):
        return True
    return plain == "config" or any(name in plain.split("-") for name in _PARTS) or written in options


def is_cut_off(written: str) -> bool:
    """`--kv-transfer-...`, `--served-mode[...]`: an option that the text shortens, with whatever follows it."""
    return written.endswith(("...", "…", "[...]", "[…]", "[..]", "(...)"))


def _is_several(word: Word) -> bool:
    return any(name in ("@", "*") for name in word.unresolved) or "[@]" in word.text or "[*]" in word.text


def _absent_files(reading: Reading, line: CommandLine, files: Mapping[str, object]) -> Iterator[tuple[int, str]]:
    """Files of options that are not at hand."""
    for option in reading.parsed.occurrences:  # also those that this release does not have
        if isinstance(option.value, str) and not {*option.names, option.written}.isdisjoint(line.option_files):
            path = option.value
            if path not in files and path.rpartition("/")[2] not in {name.rpartition("/")[2] for name in files}:
                yield option.index, f"{option.written} {shortened(path)}"


def may_be_cut(remark: Remark, command: Command) -> bool:
    """Whether what it says to lack may stand in what the author has left out, `--tool-call-parser kimi_k2 ...`."""
    lacks = remark.finding.code is Code.MISSING_FLAG
    return lacks and any(word.text in ELLIPSES for word in command.argv)
