"""Values that `helm install` hands to a chart: `--set modelName=…`, `--set args[0]=…`, and a file of them that the same
text writes. The chart's template makes the command of them, and may add to it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from moonpad.catalog.options import option_set
from moonpad.engines.foreign_names import NAME_IN_WORDS, PROGRAM_OF
from moonpad.explain.commands import Command, Word, Wrapper
from moonpad.explain.flag_lists import serving_programs
from moonpad.explain.manifests.layout_keys import name_of
from moonpad.explain.programs import named_by_image, program_named, served_by_image, starts_with_options
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

_HELM: Final = re.compile(r"\bhelm[ \t]+(?:install|upgrade|template)\b(?:\\\r?\n|[^\n]){1,8000}")
_REPOSITORY: Final = re.compile(r"(?:hf://|huggingface://)?(?P<name>[A-Za-z0-9][\w.-]{0,95}/[\w.-]{1,95})", re.ASCII)
_MODEL: Final = re.compile(
    r"(?:.*\.)?(?:model(?:[_.-]?(?:name|id|url|path|repository|source))?|huggingface_?id)", re.IGNORECASE
)
_IMAGE: Final = re.compile(r"(?:.*\.)?image(?:\.repository|\.name)?", re.IGNORECASE)
_TAG: Final = re.compile(r"(?:.*\.)?(?:image\.|image)tag", re.IGNORECASE)
_ITEM: Final = re.compile(r".*\[(?P<at>\d{1,3})\]")
_PAIR: Final = re.compile(r"(?P<key>[A-Za-z][\w.\[\]-]*)=(?P<value>\{[^{}]*\}|(?:\\.|[^,\\])*)(?:,|$)")
_LINE: Final = re.compile(r"^[ \t]*(?P<key>[A-Za-z][\w.-]*):[ \t]+([\"']?)(?P<value>[^\n]*?)\2[ \t]*$", re.MULTILINE)
_SETS: Final = ("--set", "--set-string")
_FILES: Final = ("-f", "--values")
_MOST: Final = 10
_LONGEST: Final = 20_000


class _Given(Struct):
    """What the values say: `words` are options as they are, `sizes` the layout by our names."""

    words: list[str]
    sizes: dict[str, str]
    model: str = ""
    image: str = ""
    tag: str = ""


def helm_values(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    """Where the values name the model, and the text or the image one engine."""
    for start, text in texts:
        if "helm" not in text:
            continue
        state.budget.work(len(text) // 4, "its Helm values")
        for match in islice(_HELM.finditer(text), _MOST):
            words = _split(match[0])
            files = list(_written_files(words, text))
            if read := [command for file in files for command in _as_manifest(file, start, state)]:
                yield from read
                continue
            given = _given(words, files)
            program = _program(given, text)
            if given.model and program and (given.words or given.sizes):
                yield _command(given, program, start + match.start(), match[0], state)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(re.sub(r"\\\r?\n", " ", line), comments=True)
    except ValueError:  # a quotation that does not end
        return []


def _values_of(words: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if word in names and at + 1 < len(words):
            yield words[at + 1]
        elif equals and name in names:
            yield value


def _given(words: Sequence[str], files: Sequence[re.Match[str]]) -> _Given:
    """Of files the keys of plain values, without those around them."""
    given, items = _Given(words=[], sizes={}), dict[int, str]()
    pairs = (pair for each in _values_of(words, _SETS) for pair in _PAIR.finditer(each))
    told = ((pair["key"], re.sub(r"\\(.)", r"\1", pair["value"])) for pair in pairs)
    plain = ((line["key"], line["value"]) for file in files for line in _LINE.finditer(file["body"]))
    for key, value in (*plain, *told):
        repository = _REPOSITORY.fullmatch(value)
        if _MODEL.fullmatch(key) and repository:
            given.model = repository["name"]
        elif _IMAGE.fullmatch(key):
            given.image = value
        elif _TAG.fullmatch(key):
            given.tag = value
        elif item := _ITEM.fullmatch(key):
            items[int(item["at"])] = value
        elif value.startswith("{--"):
            given.words += value.strip("{}").split(",")
        elif value.startswith("--"):
            given.words += _split(value)
        elif value.isdecimal() and (name := name_of(key.rpartition(".")[2])):
            given.sizes[name] = value
    listed = [items[at] for at in sorted(items)]
    given.words += listed if any(each.startswith("--") for each in listed) else []
    for at, word in enumerate(given.words[:-1]):
        if word in ("--model", "--model-path") and _REPOSITORY.fullmatch(given.words[at + 1]):
            given.model = given.words[at + 1]
            del given.words[at : at + 2]
            break
    return given


def _program(given: _Given, text: str) -> str:
    """By the image, else by the only engine that the text names."""
    if by_image := served_by_image(given.image) or named_by_image(given.image):
        return by_image
    named = {re.sub(r"[-_ ]", "", match[1].casefold()) for match in NAME_IN_WORDS.finditer(text[:_LONGEST])}
    known = {re.sub("[-_]", "", key): program for key, program in PROGRAM_OF.items()}
    return known.get(named.pop(), "") if len(named) == 1 else ""


def _command(given: _Given, program: str, start: int, written: str, state: ScriptState) -> Command:
    def word(text: str) -> Word:
        at = max(0, written.find(text))
        return state.text.word(text, start + at, start + at + len(text))

    line = serving_programs()[program]
    words = [*((replace(word(given.model), text=line.model, pieces=()),) if line.model else ()), word(given.model)]
    for name, size in given.sizes.items():
        option = line.options.get(name)
        takes = option_set(program)
        named = takes.named(option) if takes is not None and option else None
        if option and named is not None and named.takes_value:
            words += [replace(word(size), text=option, pieces=()), word(size)]
    words += map(word, given.words)
    named_program = program_named(program)
    begun = (named_program.start if named_program is not None else "") or program
    prefix = tuple(replace(words[0], text=each, pieces=()) for each in begun.split())
    image = f"{given.image}:{given.tag}" if given.image and given.tag else given.image
    wrappers = (Wrapper("docker run", (), (), word(image)),) if image else ()
    # Its chart starts Ray, or joins the machines in another way.
    return Command(program, tuple(words), prefix, {}, wrappers, line=words[0].line, made=True, custom=True)


def _written_files(words: Sequence[str], text: str) -> Iterator[re.Match[str]]:
    """Bodies of the files of values that heredocs of the same text write."""
    for name in _values_of(words, _FILES):
        into = rf">>?[ \t]*[\"']?{re.escape(name)}[\"']?"
        heredoc = re.search(
            rf"cat[ \t]+(?:{into}[ \t]+)?<<-?[ \t]*([\"']?)(?P<end>\w+)\1(?:[ \t]*{into})?[ \t]*\n"
            r"(?P<body>(?:(?!(?P=end)[ \t]*$).*\n){1,2000})",
            text,
            re.MULTILINE,
        )
        if heredoc is not None and name in heredoc[0].partition("\n")[0]:
            yield heredoc


def _as_manifest(file: re.Match[str], start: int, state: ScriptState) -> list[Command]:
    """What the reader of YAML makes of it: values with an image, or options under names that it knows."""
    from moonpad.explain.manifests.manifest_reader import read_manifest  # it needs PyYAML

    before, problems = len(state.commands), len(state.problems.items)
    read_manifest(file["body"], start + file.start("body"), state)
    read = [command for command in state.commands[before:] if starts_with_options(command)]
    del state.commands[before:], state.problems.items[problems:]
    return read
