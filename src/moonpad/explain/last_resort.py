"""What is tried where no command of an engine was found: options without a program, and commands inside other texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from moonpad.engines.foreign_names import LAUNCHERS, MENTION, OTHER_ENGINES, PROGRAM_OF, SPEAKING
from moonpad.engines.image_names import OF_NO_ENGINE
from moonpad.explain.chat_programs import chat_programs
from moonpad.explain.commands import Command, Piece, Word
from moonpad.explain.commented_servers import read_commented_servers
from moonpad.explain.documents.catalogues import NODES_BEFORE
from moonpad.explain.documents.powershell_lists import powershell_lists
from moonpad.explain.documents.quoted_options import quoted_options
from moonpad.explain.documents.table_options import table_options
from moonpad.explain.exported_options import exported_options
from moonpad.explain.flag_lists import serving_programs, with_program
from moonpad.explain.offline_programs import offline_programs
from moonpad.explain.option_lines import option_lines
from moonpad.explain.option_names import as_option
from moonpad.explain.programs import base_name, is_waiting, starts_with_options
from moonpad.explain.python.signs import is_python
from moonpad.explain.service_options import service_options
from moonpad.explain.shell.handed_texts import handed_texts
from moonpad.explain.shell.helm_values import helm_values
from moonpad.explain.shell.interpreter import ScriptState, Shell, words_of
from moonpad.explain.shell.powershell import as_shell, is_powershell
from moonpad.explain.shell.printed_commands import printed_commands
from moonpad.explain.shell.wrappers import SPEAKS_OF
from moonpad.explain.source_text import Source
from moonpad.explain.spoken_commands import containers_in_ticks, hands_on_program, read_spoken
from moonpad.explain.spoken_starts import spoken_starts
from moonpad.explain.word_lists import dashed_lists, fragment, more, word_lists
from moonpad.values.records import replace

DECISIVE: Final = frozenset({
    *("--tensor-parallel-size", "-tp", "--tp", "--tp-size", "--data-parallel-size", "-dp", "--dp", "--dp-size"),
    *("--pipeline-parallel-size", "-pp", "--max-model-len", "--context-length", "--model", "--model-path"),
    *("--tp_size", "--ep_size", "--max_seq_len", "--n-gpu-layers", "-ngl", "--ctx-size"),
})  # fmt: skip
"""With one of these a few options are a deployment, and with two of them a command of an unknown program is one."""
_MODEL_FLAGS: Final = ("--model", "--model-path")
_MODEL_KEY: Final = re.compile(
    r"^[ \t{-]*[\"']?(?:model|model_path|model_id|hf_model|model_name_or_path)[\"']?[ \t]*[:=][ \t]*"
    r"[\"']?([\w.-]+/[\w.-]+)",
    re.MULTILINE,
)
_ROW: Final = 1200
"""Characters above options in which their row's model stands."""
_LONGEST: Final = 5000
_MEASURING: Final = re.compile(
    r"bench|eval|client|convert|quant|download|configurator|collect|simulat|estimat|proxy|router|gateway|balanc|regress|smoke"
    r"|stress|load_?test"
)
"""Programs that are not servers."""
_NO_STARTS: Final = frozenset(
    "stop logs log status list ls ps down delete rm remove pull kill health check info".split()  # noqa: SIM905
)
"""What a script is told that starts nothing: `./manager.sh logs --model m`."""
_STARTS: Final = frozenset({"start", "restart", "serve", "run", "up", "launch"})
_OF_TRAINING: Final = frozenset({"torchrun", "deepspeed", "accelerate"})
"""Launchers of training and of offline programs, which have options of the same names."""
_ONE_DASH: Final = re.compile(r"-[a-z]+[-_][a-z]")
_MOST: Final = 40
_NAMED: Final = re.compile(
    r"(?:^|[\s{,(])[\"']?-{0,2}(?P<key>(?P<name>[\w.-]{0,40}?)(?:arg(?:ument)?s|flags|options|params?|parameters|command|cmd))"
    r"[\"']?[ \t]*[:=]?[ \t]*(?:(?P<quote>[\"'])(?P<quoted>--?[A-Za-z](?:\\.|(?!(?P=quote)).){1,5000})(?P=quote)"
    r"|(?P<bare>--[A-Za-z][^\n]*))",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
"""`args: --tensor-parallel-size 8 --port 8000 …`, `--framework-args "--model-path m …"`, `ENV LLAMA_ARGS="-c 8 …"`."""
_KEY: Final = re.compile(
    r"^[ \t]*(?P<key>[A-Za-z][A-Za-z_-]{1,50})[ \t]*:[ \t]+(?P<value>\S[^\n#]{0,200}?)[ \t]*(?:#.*)?$", re.MULTILINE
)
_ANNOTATION: Final = re.compile(
    r"(?:Optional|Union|Literal|[Ll]ist|[Dd]ict|[Tt]uple)\[.*|(?:str|int|float|bool|Any)(?:[ |=,].*)?"
)
"""The type of an argument in Python, which the same signs stand before."""
_KEYS: Final = re.compile(
    r"(?:^[ \t]*(?:[A-Za-z][A-Za-z_-]{1,50}[ \t]*:[ \t]+\S.{0,300}|#.{0,300})(?:\n|$)){3,80}", re.MULTILINE
)
"""Lines `key: value`, and comments between them."""
_ENGINE: Final = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, PROGRAM_OF))})(?![\w/-])")
_NAMED_ENGINE: Final = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, PROGRAM_OF))})(?![\w/])")
_NAMED_IN: Final = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, PROGRAM_OF))})(?![a-z0-9])")
_FEW: Final = 3
_MOSTLY: Final = 0.7
"""At least so many of the keys, and such a share of them, are options of the engine."""
_KEYED: Final = re.compile(
    r"^(?P<indent>[ \t]*)(?:- )?[\"']?(?:cmd|command|exec|run|script|start)[\"']?[ \t]*:[ \t]*"
    r"(?:(?P<style>[>|])[-+]?[ \t]*\n(?P<folded>(?:(?P=indent)[ \t]+\S.*(?:\n|$)|[ \t]*\n)+)|(?P<plain>[^>|\s\[{].*))",
    re.MULTILINE,
)
"""A command line as a value of YAML."""
_ARRAY: Final = re.compile(
    r"^[ \t]*(?:(?:local|declare -a|readonly -a)[ \t]+)?\w+=\(\s*"
    rf"(?P<words>(?:[^\s/]{{0,64}}+/){{0,12}}(?:{SPEAKING.pattern})"
    r"[^\n]*(?:\n(?![ \t]*\)[ \t]*$)[^\n]*+){0,80})\n?[ \t]*\)[ \t]*$",
    re.MULTILINE,
)
"""An array of bash that holds a whole command."""
_OPTION_ARRAY: Final = re.compile(
    r"^[ \t]*(?P<name>[A-Z]\w*(?:ARGS|FLAGS|OPTIONS|OPTS))=\([ \t]*\n"
    r"(?P<words>(?:(?![ \t]*\))[^\n]{0,400}\n){1,120})[ \t]*\)[ \t]*$",
    re.MULTILINE,
)
"""An array with nothing but options, in a file that another one reads."""
_MODEL_SET: Final = re.compile(
    r"^[ \t]*(?:export[ \t]+)?MODEL(?:_NAME|_ID|_PATH)?=[\"']?([\w./-]*[\w-]/[\w.-]+)[\"']?[ \t]*$", re.MULTILINE
)
_OF_ANOTHER: Final = re.compile(rf"(?:-m[ \t]+|`){OTHER_ENGINES.pattern}(?![\w/-])")
"""Another engine, as a module that is run or in the ticks of a document."""


def read_last_resort(state: ScriptState, texts: list[tuple[int, str]]) -> None:
    """Of the texts, with their offsets. The first way that finds something is taken."""
    if any(_is_among_sentences(text, start, state) for start, text in texts):
        state.problems.items.clear()  # no shell was meant to read them
        return
    if is_of_another(state.text.clean):
        return
    ways = (
        powershell_lists(state, texts),
        helm_values(state, texts),
        quoted_options(state, texts),
        chat_programs(state),
        offline_programs(state),
        option_lines(state, texts, DECISIVE),
        _unknown_programs(state),
        _arrays(state, texts),
        _option_arrays(state, texts),
        _keyed_commands(state, texts),
        _variables(state),
        service_options(state, texts, DECISIVE),
        handed_texts(state, texts),
        exported_options(state, texts, DECISIVE),
        _named_options(state, texts),
        word_lists(state, texts, DECISIVE),
        dashed_lists(state, texts, DECISIVE),
        table_options(state, texts, DECISIVE),
        _option_keys(state, texts),
    )
    for commands in ways:
        if added := list(commands):
            state.commands += added
            return
    for start, text in texts:
        if not is_python(text) or "```" in text:  # a docstring tells what has to run already; a cell's text is a guide
            read_spoken(state, start, as_shell(text) if is_powershell(text) else text)
            containers_in_ticks(state, start, text)
    if not any(starts_with_options(command) for command in state.commands):
        state.commands += list(printed_commands(state, texts))
    if not any(starts_with_options(command) for command in state.commands) and (spoken := spoken_starts(state, texts)):
        state.commands += spoken
        state.problems.items.clear()  # no shell was meant to read sentences
    if not any(starts_with_options(command) for command in state.commands):
        read_commented_servers(state, texts)


def _is_among_sentences(text: str, start: int, state: ScriptState) -> bool:
    if "import " not in text:
        return False
    from moonpad.explain.python.unfenced import read_unfenced  # with all that reads Python

    return read_unfenced(text, start, state)


def is_of_another(text: str) -> bool:
    """Whether the text is about an engine that is none of those here, and starts none of these."""
    return _OF_ANOTHER.search(text) is not None and not SPEAKING.search(text)


def _unknown_programs(state: ScriptState) -> Iterator[Command]:
    """`./serve.sh --model m --tensor-parallel-size 8`: what the program does with them is not known."""
    for command in state.commands:
        words = [*command.prefix, *command.argv]
        first = next((at for at, word in enumerate(words) if word.text.startswith("-") and at), None)
        if command.program not in ("other", "docker") or first is None or base_name(words[0]) in SPEAKS_OF:
            continue
        if _NO_STARTS & {word.text for word in (*words[1:first], *words[-1:])}:
            continue
        words = words[:-1] if words[-1].text in _STARTS and not words[-2].text.startswith("-") else words
        if {base_name(words[0]), *(wrapper.kind for wrapper in command.wrappers)} & _OF_TRAINING:
            continue
        modules = [behind for word, behind in pairwise(words[:5]) if word.text == "-m"]
        named = command.container.image.text if command.container and command.container.image else ""
        others = (OTHER_ENGINES.fullmatch(word.text) for word in (*words[: first + 2], *modules))
        launches = hands_on_program(words) or any(base_name(word) in LAUNCHERS for word in words[: first + 1])
        if OF_NO_ENGINE.search(named) or any(others) or launches:
            continue
        decisive = [at for at, word in enumerate(words) if _flag(word) in DECISIVE]
        speaks = any(MENTION.search(word.text.casefold()) for word in words) or _led_by_mention(words, state)
        measures = any(_MEASURING.search(word.text) for word in _started(words, command))
        if len({_flag(words[at]) for at in decisive}) > (0 if speaks else 1) and not measures:
            at = decisive[0]
            image = command.container.image if command.container else None
            if image is not None and image in words:
                at = words.index(image) + 1
            own = (*words[at:], more(f"<what {base_name(words[0])} adds>", command.line))
            # No program stands there: `command: ["--model", …]` of a container are the arguments of the image's own,
            # and a text's `--model …` below "start it with:" are an engine's.
            all_own = words[0].text.startswith("--") and (image is not None or _flag(words[0]) in _MODEL_FLAGS)
            if _ONE_DASH.match(words[0].text) or all_own:
                own = (*words,)
            called = [name for word in words if (name := word.text.casefold()) in PROGRAM_OF]
            program = PROGRAM_OF[called[0]] if called else _of_script(words[:first])
            fragment = replace(command, program="fragment", prefix=(), argv=own, wrappers=())
            if not program and (of := _engines_of(state)):
                program = with_program(fragment, of).program
                if program == "fragment":
                    continue  # the text is about an engine that has no such options
            yield replace(fragment, program=program or "fragment", guessed=bool(program))


def _of_script(words: Sequence[Word]) -> str:
    """The program of the engine that a file is called by: `exec "$ROOT/vllm.sh" --model m`."""
    named = {name for word in words for name in _NAMED_IN.findall(base_name(word).casefold())}
    return PROGRAM_OF[named.pop()] if len(named) == 1 else ""


def _led_by_mention(words: Sequence[Word], state: ScriptState) -> bool:
    """Whether options alone stand below a line that names an engine: `our vllm flags are:`."""
    if not words[0].text.startswith("-") or sum(word.text.startswith("--") for word in words) < _FEW:
        return False
    end = state.text.offset(words[0].line - 1)
    above = state.text.clean[max(0, end - _ROW) : end].rstrip().split("\n")[-_FEW:]
    return any(MENTION.search(line.casefold()) for line in above)


def _engines_of(state: ScriptState) -> frozenset[str]:
    """The programs of the engines that a text names."""
    state.budget.once("engines by name", len(state.text.clean) // 40, "the text")
    return frozenset(PROGRAM_OF[name] for name in _NAMED_ENGINE.findall(state.text.clean.casefold()))


def _keyed_commands(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    """`cmd: > …` of a file of another tool: a program that is not known, with options that are."""
    before = len(state.commands)
    for start, text in texts:
        for match in islice(_KEYED.finditer(text), _MOST):
            lines = match["folded"] or match["plain"] or ""
            which = "folded" if match["folded"] else "plain"
            code = re.sub(r"\n", " ", lines) if which == "folded" and match["style"] == ">" else lines
            Shell(state, Source.block(state.text, start + match.start(which), code)).read()
    added = state.commands[before:]
    del state.commands[before:]
    others, state.commands = state.commands, added
    try:
        yield from list(_unknown_programs(state))
    finally:
        state.commands = others


def _arrays(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    """`SERVE=(vllm serve m --port 8000)` that a function puts together with more: what is added is not known."""
    before = len(state.commands)
    for start, text in texts:
        for match in islice(_ARRAY.finditer(text), _MOST):
            words = words_of(Source.block(state.text, start + match.start("words"), match["words"]), state)
            if words:
                added = more("<what the array is used with>", words[-1].line)
                Shell(state, Source.block(state.text, start + match.start("words"), "")).command([*words, added])
    made = [command for command in state.commands[before:] if starts_with_options(command)]
    del state.commands[before:]
    yield from made


def _option_arrays(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    for start, text in texts:
        model = _MODEL_SET.search(text)
        for match in islice(_OPTION_ARRAY.finditer(text), _MOST if model else 0):
            words = words_of(Source.block(state.text, start + match.start("words"), match["words"]), state)
            options = bool(words) and words[0].text.startswith("--")
            if model is None or not options or not {_flag(word) for word in words} & DECISIVE:
                continue
            at = start + model.start(1)
            named = (state.text.word("--model", at, at), state.text.word(model[1], at, start + model.end(1)))
            rest = more("<what reads this file adds>", words[0].line)
            yield fragment([*named, *words, rest], state, match["name"])


def _variables(state: ScriptState) -> Iterator[Command]:
    """`docker run -e TENSOR_PARALLEL_SIZE=8 … IMAGE`: variables that are called as options, for an image whose
    entrypoint makes options of them."""
    seen = set[tuple[Word, ...]]()  # a shell as entrypoint: the container, and what the shell in it starts
    for command in state.commands:
        image = command.container.image if command.container else None
        if command.program not in ("docker", "other") or image is None or not command.env or is_waiting(command):
            continue
        called = re.sub("[-_]", "", image.text)
        for program in islice((PROGRAM_OF[name] for name in PROGRAM_OF if re.sub("[-_]", "", name) in called), 1):
            words = [word for name, value in command.env.items() for word in as_option(name, value, program)]
            of_any = {word.text for word in words} & {*DECISIVE, *serving_programs()[program].options.values()}
            if of_any and (image, *words) not in seen:
                seen.add((image, *words))
                rest = more("<what the image adds>", command.line)
                yield replace(command, program="fragment", prefix=(), argv=(*words, rest), env={}, wrappers=())


def _flag(word: Word) -> str:
    name = word.text.partition("=")[0]
    if name.startswith("-") and f"-{name.replace('_', '-')}" in DECISIVE:
        return f"-{name.replace('_', '-')}"
    return f"--{name[2:].replace('_', '-')}" if name.startswith("--") and name not in DECISIVE else name


def _started(words: Sequence[Word], command: Command) -> list[Word]:
    """The words in front of the options, those of an interpreter aside, and of a container those behind its image."""
    image = command.container.image if command.container else None
    first = words.index(image) + 1 if image is not None and image in words else 0
    named = [*words[:1]]
    for word in words[first:]:
        if word.text.startswith("--") and word.text != "--":  # `kubectl exec POD -- python3 bench.py --model m`
            break
        named += [] if word.text.startswith("-") else [word]
    return named


def _named_options(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    for start, text in texts:
        state.budget.work(len(text) // 4, "options behind a name")
        found = list(islice(_NAMED.finditer(text), _MOST))
        keys = {match["key"] for match in found if (match["quoted"] or match["bare"]).count(" -") > 1}
        for match in found:
            which = "quoted" if match["quoted"] else "bare"
            code = match[which]
            if match["key"] not in keys or len(code) > _LONGEST:
                continue
            code = code.replace("\\\n", "  ")
            code = code.rstrip("\"', ") if which == "bare" else code
            if match["quote"] == '"' and '\\"' in code:
                code = code.replace('\\"', '"')
                begin, end = start + match.start(which), start + match.end(which)
                source = Source(code, state.text, (Piece(0, len(code), begin, end),))
            else:
                source = Source.block(state.text, start + match.start(which), code)
            words = words_of(source, state)
            if {word.text.partition("=")[0] for word in words} & DECISIVE:
                made = fragment([*_model_above(words, text, start, match.start(), state), *words], state, match["name"])
                nodes = list(NODES_BEFORE.finditer(text, max(0, match.start() - _ROW), match.start()))
                yield replace(made, pods=max(1, int(nodes[-1]["count"])), made=True) if nodes else made


def _option_keys(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    """`tensor-parallel-size: 16` and more such lines, below the name of an engine: its options as a file has them."""
    for start, text in texts:
        state.budget.work(len(text) // 4, "options as keys")
        for match in islice(_KEYS.finditer(text), _MOST):
            above = state.text.clean[max(0, start + match.start() - _ROW) : start + match.start()].casefold()
            named = [PROGRAM_OF[name] for name in _ENGINE.findall(above)]
            lines = list(_KEY.finditer(text, match.start(), match.end()))
            options = [_as_option(state, line, start, named[-1]) for line in lines if named]
            words = [word for option in options for word in option]
            known = sum(bool(option) for option in options) + sum(_is_null(line) for line in lines)
            if known >= max(_FEW, _MOSTLY * len(lines)) and {word.text for word in words} & DECISIVE:
                yield replace(fragment(words, state, ""), program=named[-1], guessed=True)


def _is_null(line: re.Match[str]) -> bool:
    """A key without a value: the engine's own default counts."""
    return line["value"].strip().casefold() in ("null", "~", "none")


def _as_option(state: ScriptState, line: re.Match[str], start: int, program: str) -> tuple[Word, ...]:
    if _is_null(line) or _ANNOTATION.fullmatch(line["value"].strip()):
        return ()
    value = state.text.word(line["value"].strip("\"' "), start + line.start("key"), start + line.end("value"))
    return as_option(line["key"], value, program)


def _model_above(words: Sequence[Word], text: str, start: int, at: int, state: ScriptState) -> Iterator[Word]:
    """`model_path: org/name` of the same row, where the options name none."""
    if any(_flag(word) in ("--model", "--model-path") for word in words):
        return
    above = list(_MODEL_KEY.finditer(text, max(0, at - _ROW), at))
    if above:
        begin, end = start + above[-1].start(1), start + above[-1].end(1)
        yield from (state.text.word("--model", begin, begin), state.text.word(above[-1][1], begin, end))
