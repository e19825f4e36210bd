"""Layouts that stand in keys beside a container: a controller or a chart makes options of them.

`topology: {tensor: 8, pipeline: 2}`, `parallelism: {data: 16, dataLocal: 8, expert: true}` of KServe
(https://kserve.github.io/website/docs/model-serving/generative-inference/llmisvc/) and of llm-d's chart
(https://github.com/llm-d-incubation/llm-d-modelservice), `workerSpec: {tensorParallelSize: 8}`, `tpSize: 16`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from yaml import ScalarNode

from moonpad.catalog.options import option_set
from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import parse
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.commands import Command, Word, whole_number
from moonpad.explain.flag_lists import SIZES
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, scalar
from moonpad.explain.programs import program_table
from moonpad.values.records import replace

_GROUPS: Final = re.compile(
    r"topology|parallel(?:ism)?(?:spec|config|strategy)?|layout|workerspec|sharding", re.IGNORECASE
)
"""Keys whose mapping has sizes under short names."""
_SHORT: Final = {
    **dict.fromkeys(("tensor", "tp"), "tp"),
    **dict.fromkeys(("pipeline", "pp"), "pp"),
    **dict.fromkeys(("data", "dp"), "dp"),
    **dict.fromkeys(("expert", "ep", "experts"), "ep"),
    **dict.fromkeys(("datalocal", "dplocal"), "dp_local"),
}
_LONG: Final = re.compile(
    r"(?:(tensor|pipeline|data|expert)(?:model)?parallel(?:ism)?|(tp|pp|dp|ep))(?:size|degree|count|enabled)?(local)?"
)
"""The same without a group around them, letters only: `tensorParallelSize`, `ppSize`, `epEnabled`."""
_ENABLED: Final = re.compile(r"(?:enable|use)(expert)parallel(?:ism)?")
LOCAL_RANKS: Final = "--data-parallel-size-local"


def layout_of(fields: Fields, source: YamlSource) -> Mapping[str, Word]:
    """Our names of the sizes → what the keys say, where they are numbers or switches."""
    found: dict[str, Word] = {}
    beside_flags = any(inner.startswith("--") for node in fields.values() for inner in source.fields(node))
    for key, node in fields.items():
        if beside_flags and key in _SHORT and key in SIZES and isinstance(node, ScalarNode):
            found[key] = source.word(node)  # `tp: 8` beside `extra_args: {--flag: value}`
        elif isinstance(node, ScalarNode) and (name := name_of(key)):
            found[name] = source.word(node)
        elif key == "model":
            sizes = {name_of(inner): value for inner, value in source.fields(node).items() if name_of(inner)}
            found |= {name: source.word(value) for name, value in sizes.items() if isinstance(value, ScalarNode)}
        elif _GROUPS.fullmatch(key):
            for inner, value in source.fields(node).items():
                name = _SHORT.get(_letters(inner)) or name_of(inner)
                if name and isinstance(value, ScalarNode):
                    found[name] = source.word(value)
            _by_workers(found, source.fields(node), source)
    return {name: word for name, word in found.items() if _is_size(word.text)}


def _by_workers(found: dict[str, Word], group: Fields, source: YamlSource) -> None:
    """`{dataLocal: 8, workers: 2}` of llm-d's chart are 16 data-parallel ranks."""
    workers, local = group.get("workers"), found.get("dp_local")
    if workers is not None and local is not None and "dp" not in found:
        each, pods = whole_number(local.text), whole_number(scalar(workers))
        if each and pods:
            found["dp"] = replace(source.word(workers), text=str(each * pods), pieces=())


def name_of(key: str) -> str:
    """Our name of the size that a key is called after, "" where it is none."""
    letters = _letters(key)
    if match := _ENABLED.fullmatch(letters):
        return "ep"
    if not (match := _LONG.fullmatch(letters)) or letters in ("tp", "pp", "dp", "ep"):
        return ""
    name = (match[1] or match[2])[0] + "p"
    return "dp_local" if match[3] else name


def _letters(key: str) -> str:
    return re.sub(r"[^a-z]", "", key.lower())


def _is_size(text: str) -> bool:
    return text.isdigit() or text.lower() in ("true", "false")


def has_layout(command: Command) -> bool:
    """Whether its own arguments say anything of it."""
    options = option_set(command.program)
    engine = program_table().engines.get(command.program)
    if options is None or engine is None:
        return True
    spelled = ENGINES[engine].command_line.options
    flags = {spelled[name] for name in SIZES if name in spelled}
    parsed = parse([word.text for word in command.argv], Grammar(options))
    return any(flags & set(option.names) for option in parsed.occurrences)


def with_layout(command: Command, layout: Mapping[str, Word]) -> Command:
    """The command with the options that are made of the keys, where it has none of its own."""
    if not layout or has_layout(command):
        return command
    return replace(command, argv=(*command.argv, *_words(command.program, layout)))


def flag_of_size(program: str, name: str) -> str:
    """The option of a program for our name of a size, "" where it has none."""
    engine = program_table().engines.get(program)
    flag = LOCAL_RANKS if name == "dp_local" else ENGINES[engine].command_line.options.get(name) if engine else None
    options = option_set(program)
    return flag if flag and options is not None and options.named(flag) is not None else ""


def _words(program: str, layout: Mapping[str, Word]) -> Iterator[Word]:
    options = option_set(program)
    for name, word in layout.items():
        flag = flag_of_size(program, name)
        option = options.named(flag) if options is not None and flag else None
        if option is None or word.text.lower() == "false":
            continue
        key = replace(word, text=flag, pieces=())
        if option.nargs == "0":
            if word.text != "1":
                yield key
        elif word.text.isdigit():
            yield from (key, word)
        elif "tp" in layout:  # an engine that wants to be told how many ranks share the experts
            yield from (key, replace(word, text=layout["tp"].text, pieces=()))
