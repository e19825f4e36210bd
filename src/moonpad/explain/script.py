"""A script, a document or a command line → its commands. Nothing of it is executed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.engines.log_lines import without
from moonpad.explain.chat_programs import chats
from moonpad.explain.commands import SURELY_WRONG, HereFile, Piece, Script, Word
from moonpad.explain.config_files import with_file_options
from moonpad.explain.documents import text_hints
from moonpad.explain.documents.cut_fences import mark_cut_lists
from moonpad.explain.documents.device_mentions import machines_of
from moonpad.explain.documents.flat_pages import with_breaks
from moonpad.explain.documents.hard_breaks import without_hard_breaks
from moonpad.explain.documents.labelled_settings import with_labelled_settings
from moonpad.explain.documents.launch_lines import with_launches
from moonpad.explain.documents.machine_types import keyed_machines, types_in
from moonpad.explain.documents.markdown import Block, Bullets, Inline, is_markdown, only_flags, parts_of, whole_script
from moonpad.explain.documents.markup import without_markup
from moonpad.explain.documents.measured_runs import with_measured
from moonpad.explain.documents.mended_marks import with_marks_mended
from moonpad.explain.documents.named_blocks import hold_shown, name_file
from moonpad.explain.documents.named_in_lists import listed_command
from moonpad.explain.documents.pasted_failures import error_lines
from moonpad.explain.documents.powershell_lists import without_lists
from moonpad.explain.documents.preset_text import read_presets
from moonpad.explain.documents.printed_lists import as_commands_of_lists
from moonpad.explain.documents.prose_problems import of_files, without_prose
from moonpad.explain.documents.restructured_text import blocks_of, is_restructured_text
from moonpad.explain.documents.said_to_start import with_spoken_serving
from moonpad.explain.documents.search_spaces import search_space_variables
from moonpad.explain.documents.source_strings import is_commented
from moonpad.explain.documents.spoken_roles import with_roles
from moonpad.explain.documents.start_logs import NO_LOGS, PastedLogs, beside_logs, pasted_logs, with_logs
from moonpad.explain.documents.systemd_unit import writes_units
from moonpad.explain.documents.table_columns import with_columns
from moonpad.explain.documents.told_settings import give_told
from moonpad.explain.input_kinds import gather_config_maps, is_file, is_program, read_kind, read_unused_scripts
from moonpad.explain.input_limits import PROBLEMS, Budget
from moonpad.explain.last_resort import DECISIVE, is_of_another, read_last_resort
from moonpad.explain.programs import starts_with_options
from moonpad.explain.repeated_options import without_named_files, without_parts
from moonpad.explain.shell.broken_off import with_broken_off
from moonpad.explain.shell.changes_of_lines import after_change
from moonpad.explain.shell.cut_commands import with_rest_cut_off, without_its_layout
from moonpad.explain.shell.evaluated_texts import with_joined_lines
from moonpad.explain.shell.forks import but_of_forks, with_forks
from moonpad.explain.shell.interpreter import ScriptState, Shell, words_of
from moonpad.explain.shell.launchers import with_launchers
from moonpad.explain.shell.line_repair import repaired, words_of_lines, words_of_options
from moonpad.explain.shell.lost_lines import once_a_command
from moonpad.explain.shell.odd_characters import odd_characters
from moonpad.explain.shell.powershell import as_shell, is_powershell
from moonpad.explain.shell.scope import Scope
from moonpad.explain.shell.shown_lines import without_marks
from moonpad.explain.shell.sizes_apart import with_sizes_apart
from moonpad.explain.shell.slurm_directives import is_called_with_others, slurm_variables
from moonpad.explain.shell.terminal_session import without_prompts, without_repeats
from moonpad.explain.shell.wrapper_scripts import with_started_scripts
from moonpad.explain.shell.wrappers import assignment
from moonpad.explain.shown_scripts import hold_files, hold_parts, in_sections, read_calls
from moonpad.explain.source_text import IGNORED, InputText, Source, without_template_comments
from moonpad.values.records import replace

_HAS_VALUE: Final = re.compile(r"[ =](?!<?[A-Z][A-Z_]+>?$)")
"""Of an option in a list, `--port 8000`; `--port PORT` says what it means."""
_FAILED: Final = re.compile(
    r"\b(?:(?:did|does|do) ?(?:not|n't) (?:work|help)|not working|failed|tried before|avoid)\b|没用|不行|失败|无效",
    re.IGNORECASE,
)
_PROCESS_WORDS: Final = 4096
_PRINTED_WORDS: Final = re.compile(
    r"\s*[\w./-]+ [^'\"`$;&<>#\n]{1,4000}\s[^\s'\"`$;&<>#|()]+\([^\s'\"`$;&<>#]*\)[^'\"`$;&<>#\n]*\s*"
)
"""One line without quotes, with brackets inside a word."""
_ADDITION: Final = 6
BLOCK_STEPS: Final = 150
"""What a block of shell takes besides its words: it is looked at for what else it may be, and has its own shell."""
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def read_script(text: str, *, markdown: bool | None = None, beside: Sequence[tuple[str, str]] = ()) -> Script:
    """Reads a bash script, the shell blocks of a markdown document, or the containers of a YAML file; for None
    `markdown` is found out.

    Raises UsageError for more than 1 MB, 50 levels of nesting, 500 commands of engines, or variables and loops that
    unfold into more than 60,000 words.
    """
    if words := process_words(text):
        return read_command(words)
    state = ScriptState(InputText(text))
    state.files.update((name, HereFile(name, content, 1)) for name, content in beside)
    logs = pasted_logs(state.text)
    unlogged = _unlogged(state.text, logs)
    document = _read_file(0, state.text.clean, unlogged, state, markdown)
    return _script(state, document, [(0, unlogged)], logs)


def read_files(files: Sequence[tuple[str, str]], beside: Sequence[tuple[str, str]] = ()) -> Script:
    """Reads the pieces of one deployment, name and text of each. Variables of one are not known to the next. `beside`
    are files that are only looked at where a command names them.

    Raises UsageError as above, of all of them together.
    """
    if len(files) == 1:
        return replace(read_script(files[0][1], beside=beside), file_name=files[0][0])
    texts = [text.replace("\r\n", "\n").rstrip("\r\n") + "\n" for _, text in files]
    whole = InputText("".join(texts), Budget(len(files)))
    state = ScriptState(whole)
    state.files.update((name, HereFile(name, text, 1)) for name, text in beside)
    documents, origins, start = False, [], 0
    for (name, _), text in zip(files, texts, strict=True):
        origins.append((name, whole.place(start)[0]))
        file = HereFile(name, whole.clean[start : start + len(text)], whole.place(start)[0])
        state.files[name] = file
        gather_config_maps(whole.clean[start : start + len(text)], start, state)
        start += len(text)
    start, placed, logs = 0, [], pasted_logs(whole)
    unlogged = _unlogged(whole, logs)
    for text in texts:
        placed.append((start, unlogged[start : start + len(text)]))
        start += len(text)
    held = hold_files([(name, *each) for (name, _), each in zip(files, placed, strict=True)], _as_typed, state)
    for number in sorted(range(len(placed)), key=held.__contains__):
        if (name := held.get(number, "")) not in state.ran_scripts:
            start, text = placed[number]
            state.ran_scripts |= {name} - {""}
            documents |= _read_file(start, whole.clean[start : start + len(text)], text, state)
    return of_files(_script(state, documents, placed, logs), origins)


def _unlogged(text: InputText, logs: PastedLogs) -> str:
    """Blank where an engine has logged, and in the place of tags of HTML: no shell reads that."""
    unlogged = without(text.clean.split("\n"), logs.lines, logs.columns) if logs.lines else text.clean
    return without_markup(with_launches(text, as_commands_of_lists(unlogged)))


def process_words(text: str) -> list[str]:
    """Of a copy of /proc/PID/cmdline, whose words end with a NUL, or of one line that a list of processes has printed:
    a bracket stands in it that no shell would take without quotes."""
    whole = text.rstrip("\n")
    if "{{" not in text and _PRINTED_WORDS.fullmatch(text) and SPEAKING.search(text.split("(", 1)[0]):
        return text.split()
    if not whole.endswith("\0") or whole.startswith("\0") or whole.count("\0") > _PROCESS_WORDS:
        return []
    return whole.rstrip("\0").split("\0")


def _read_file(start: int, raw: str, text: str, state: ScriptState, markdown: bool | None = None) -> bool:
    """Whether it is a markdown document. `text` is without what was logged; files of other kinds are read whole."""
    text = with_marks_mended(with_breaks(without_template_comments(text)))
    program = markdown is None and is_program(raw)
    document = (is_markdown(text) and not program) if markdown is None else markdown
    known_before = len(state.commands)
    rest = markdown is None and not program and "```" not in text and is_restructured_text(text)
    if not (document or rest) and read_kind(raw, start, state):
        return False
    document = document or rest
    hold_shown(text, start, state)
    parts = list(
        blocks_of(text, start)
        if rest
        else parts_of(text, start)
        if document
        else in_sections(*whole_script(text, start))
    )
    for part in parts:
        if isinstance(part, Block) and part.other:
            gather_config_maps(part.text, part.start, state)
    held = hold_parts(parts, text, start, _as_typed, state)
    for part in (part for at, part in enumerate(parts) if at not in held):
        _read_part(part, state, document)
    read_calls([*held.values()], text, start, state)
    for at, name in held.items():
        if name not in state.ran_scripts:
            state.ran_scripts.add(name)
            _read_part(parts[at], state, document)
    state.heading = None
    speaks = any(command.program not in ("other", "docker") for command in state.commands[known_before:])
    if document and markdown is None and not speaks and read_kind(text, start, state):
        return False  # YAML with a guide in one of its values
    return document


def _read_part(part: Block | Bullets | Inline, state: ScriptState, document: bool) -> None:
    state.heading = part.heading
    if isinstance(part, Block) and document:
        name_file(part, state)
    if isinstance(part, Inline):
        _read_inline(part, state)
    elif isinstance(part, Block) and (part.other or is_file(part.text)):
        _read_other(part, state, document)
    elif isinstance(part, Bullets) or only_flags(part.text):
        _read_flags(part, state)
    else:
        _read_block(part, state, document)


def _read_other(block: Block, state: ScriptState, document: bool) -> None:
    """A manifest, or another file that is no script."""
    first = len(state.commands)
    if not read_kind(block.text, block.start, state) and writes_units(block.text):
        _read_block(block, state, document)
    if document:
        mark_cut_lists(state, first, block.start, block.text)
    if document and len(state.commands) > first and state.earlier.values and "${" in block.text:
        from moonpad.explain.manifests.here_manifests import fill_templates  # it needs PyYAML

        scope = Scope()
        state.earlier.give(scope, block.heading, state.budget)
        fill_templates(state, first, scope.variables)


def read_command(
    words: Sequence[str], *, env: Mapping[str, str] | None = None, files: Sequence[tuple[str, str]] = ()
) -> Script:
    """Reads a command line that a shell has already split, as behind `moonpad explain --`.

    The places are those in the line as it would be typed, which is the script's text. `env` is what a running process
    has, `files` are the files of options that it names. Raises UsageError as above.
    """
    words = [_LONE_SURROGATE.sub("\ufffd", word) for word in words]
    written = [shlex.quote(word) for word in words]
    whole = InputText(" ".join(written))
    state = ScriptState(whole)
    placed: list[Word] = []
    position = 0
    for word, shown in zip(words, written, strict=True):
        end = position + len(shown.replace("\r\n", "\n"))
        inner = position + 1 if shown == f"'{word}'" else position
        piece = Piece(0, len(word), inner, inner + len(word) if inner > position or shown == word else end)
        placed.append(whole.word(word, position, end, (piece,)))
        position = end + 1
    shell = Shell(state, Source.block(whole, 0, whole.clean))
    state.files.update((name, HereFile(name, text, 1)) for name, text in files)
    for name, value in (env or {}).items():
        shell.scope.set(name, Word(value, 1), export=True)
    first = 0
    while first + 1 < len(placed) and (pair := assignment(placed[first])):
        shell.scope.set(*pair, export=True)
        first += 1
    if placed:
        shell.command(placed[first:])
    return _script(state, False, [])


def _as_typed(block: Block, state: ScriptState) -> str:
    """As a shell reads it, with all characters in their places."""
    changed = after_change(block.text)
    text = as_shell(changed) if is_powershell(changed) else without_prompts(without_marks(changed))
    return with_joined_lines(repaired(text, block.start, state.problems), block.start, state.problems)


def _read_block(block: Block, state: ScriptState, document: bool) -> None:
    state.budget.work(BLOCK_STEPS, "its blocks")
    state.intro = block.intro
    problems_before, commands_before = len(state.problems.items), state.budget.commands
    text = _as_typed(block, state)
    shell = Shell(state, Source.block(state.text, block.start, with_columns(text, block, state)))
    if placed := (words_of_options(block.text) if block.plain else []) or words_of_lines(block.text):
        at = block.start
        shell.command([state.text.word(word, at + place, at + place + len(word)) for place, word in placed])
        state.intro = None
        return
    if "#SBATCH" in text:
        variables = slurm_variables(text, block.start, state)
        shell.scope.give_of_job(variables, sure=not is_called_with_others(text))
    if state.search_space is None:  # once for all blocks: a text may have a hundred thousand of them
        state.search_space = search_space_variables(state.text)
    shell.scope.variables.update(state.search_space)
    if document:
        state.earlier.give(shell.scope, block.heading, state.budget)
        state.earlier.give_of_unit(shell.scope, block.intro or "")
        give_told(shell.scope, block, state)
    before = dict(shell.scope.variables)
    shell.read(substitutions=block.substitutions, indent=block.indent)
    if document:
        state.earlier.take(shell.scope, block.heading, before, starts=state.budget.commands > commands_before)
    if state.budget.commands == commands_before and document:
        # Outputs stand in shell blocks too: they are not commands with mistakes. None ends a line so.
        sure = [problem for problem in state.problems.items[problems_before:] if problem.code in SURELY_WRONG]
        state.problems.items[problems_before:] = sure
    else:
        for start, character in state.text.odd_in(block.start, block.start + len(block.text)):
            if state.text.in_comment(start):
                continue
            message = f"the shell does not ignore this invisible character (U+{ord(character):04X})"
            state.problems.add("invisible-character", start, start + 1, message, "retype the line")
    state.intro = None


def _read_inline(part: Inline, state: ScriptState) -> None:
    """A command in the middle of a text: only where it starts an engine."""
    commands_before, problems_before = len(state.commands), len(state.problems.items)
    last_known = state.last_known
    text = as_shell(part.text) if is_powershell(part.text) else part.text
    shell = Shell(state, Source.block(state.text, part.start, text))
    state.earlier.give(shell.scope, part.heading, state.budget)
    shell.read()
    servers = [each for each in state.commands[commands_before:] if starts_with_options(each) or chats(each)]
    state.commands[commands_before:] = [without_its_layout(server) for server in servers]
    if not servers:
        state.last_known = last_known
        del state.problems.items[problems_before:]


def _read_flags(part: Block | Bullets, state: ScriptState) -> None:
    """Flags without a command. A list that only explains those of the command above is left out."""
    argv: list[Word] = []
    env: dict[str, Word] = {}
    for start, code in part.codes if isinstance(part, Bullets) else ((part.start, part.text),):
        state.budget.work(25, "its lists of flags")
        words = words_of(Source.block(state.text, start, code), state)
        if any(word.text == "=" for word in words[:2]):
            continue  # what an option means: `--tensor-parallel-size = GPUs with a fast link`
        first = 0
        while first < len(words) and (pair := assignment(words[first])):
            env[pair[0]] = pair[1]
            first += 1
        argv += words[first:]
    if isinstance(part, Bullets) and (above := state.last_known) is not None:
        state.budget.work(len(above.words) + len(above.env), "its lists of flags")
        flags = {word.text.partition("=")[0] for word in argv if word.text.startswith("-")} | set(env)
        if flags <= {word.text.partition("=")[0] for word in above.words} | set(above.env):
            return
    if isinstance(part, Bullets) and any(_FAILED.search(text) for text in (part.heading or "", part.intro or "")):
        return  # what was tried
    if isinstance(part, Bullets) and 2 * sum(bool(_HAS_VALUE.search(code)) for _, code in part.codes) < len(part.codes):
        return  # what the options mean
    few = len(argv) <= _ADDITION and not any(word.text.partition("=")[0] in DECISIVE for word in argv)
    if few and (isinstance(part, Bullets) or state.last_known is not None):
        return  # "add these to the command": no deployment of its own
    if argv:
        state.add(listed_command(part, argv, env, state.text))


def _script(state: ScriptState, document: bool, texts: list[tuple[int, str]], logs: PastedLogs = NO_LOGS) -> Script:
    read_unused_scripts(state)
    state.commands[:] = with_launchers(with_started_scripts(state))
    state.commands[:] = [with_file_options(command, state.files, state.budget) for command in state.commands]
    state.commands[:] = with_logs(state.commands, logs, state.budget)
    state.commands[:] = without_lists(state)
    read_presets(state)
    if is_of_another(state.text.clean):
        state.commands[:] = [command for command in state.commands if command.program != "fragment"]
    if not any(command.program not in ("other", "docker") for command in state.commands):
        read_last_resort(state, [each for each in texts if not is_commented(each[1])])
    lines = state.text.lines
    state.commands[:] = without_named_files(state)
    state.commands[:] = with_broken_off(with_rest_cut_off(state.commands, state.text), state.text, state.problems)
    state.commands[:] = with_labelled_settings(state.commands, state.text)
    state.commands[:] = with_measured(with_spoken_serving(state.commands, lines), lines)
    state.commands[:] = with_forks(with_roles(without_repeats(without_parts(state), lines), lines), lines)
    state.commands[:] = with_sizes_apart(state.commands, lines, len(state.conditions))
    whole = state.text
    text = whole.clean.replace(IGNORED, " ")
    named, minimum = text_hints.versions_of(text)
    named = but_of_forks(named, state.commands)
    named |= logs.versions
    for command in state.commands:
        image = command.container.image if command.container else None
        if image is not None and (version := text_hints.version_of_image(image.text)):
            named.setdefault(*version)
    hints = dict.fromkeys((machine, line) for line, machine in (*state.machines, *logs.machines))
    machines = (*machines_of(text, state.budget), *types_in(text), *keyed_machines(text))
    hints |= dict.fromkeys((machine, whole.place(offset)[0]) for offset, machine in machines)
    state.budget.work(5 * len(hints), "the machines that it names")
    found = without_prose(beside_logs(state.problems.items, state.commands, logs), whole.lines, state.commands)
    problems = (*without_hard_breaks(found, whole.lines), *islice(odd_characters(state.commands), PROBLEMS))
    return Script(
        tuple(state.commands),
        whole.lines,
        dict(state.files),
        named,
        minimum,
        tuple(hints),
        tuple(once_a_command(dict.fromkeys(problems), whole.lines)),
        document,
        objects=tuple(state.objects),
        asked=frozenset((machine, line) for line, machine in state.machines),
        error_lines=error_lines(whole.lines, logs.lines),
        budget=state.budget,
        stand_ins=dict(state.text.stand_ins),
    )
