"""A command as it is shown in the judgement: as it stands, or with what the remarks change in it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from moonpad.engines.value_checks import as_json
from moonpad.explain.commands import Command, LeftOpen, Word, Wrapper, stands_for_more
from moonpad.explain.keys_by_name import takes_key
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.results import Edit, Line, Remark
from moonpad.explain.shell.wrappers import is_known
from moonpad.explain.spelling import cannot_be_typed
from moonpad.values.records import replace

_SETS_ENV: Final = frozenset({"-e", "--env", "-x"})
_SENTENCE: Final = re.compile(r"[A-Z][a-z]+")
_PAIR: Final = re.compile(r"([A-Z][A-Z0-9_]{2,})=(\S+)")
_EACH_TIME: Final = re.compile(r"\b(?:shuf|mktemp|uuidgen|date|urandom|RANDOM|SRANDOM|rand)\b")

_VARIABLE: Final = re.compile(r"\$\{?([A-Za-z_]\w*)\}?", re.ASCII)
_LEADS: Final = re.compile(
    r"(?:(?:the|my|our|this|full|exact|complete|start(?:up|ing)?|launch|serve|server|run|and) ){0,4}"
    r"(?:commands?|cmd|args?)(?:(?: (?:i|we) (?:use|used|run|ran))? (?:is|are|was)(?: as follows)?|:)"
    r"|[^\x00-\x7f]{1,12}[:：]?",
    re.IGNORECASE,
)
"""Words of a sentence that stand in front of a command on its own line."""
_MOST_LEADING: Final = 8
_OF_THE_SHELL: Final = frozenset({"nohup", "exec"})
"""What parts a program from its shell, or puts it in its place: who pastes the command loses the shell with `exec`."""


def mended_line(command: Command, remarks: Sequence[Remark], edits: Sequence[Edit] = ()) -> Line:
    """With what the remarks say of it, and with more edits, which go first."""
    edits = [*edits, *(edit for remark in remarks for edit in remark.edits)]
    dropped = frozenset().union(*(remark.dropped for remark in remarks))
    sets = dict(pair for remark in remarks for pair in remark.sets)
    program = next((remark.program for remark in remarks if remark.program), ())
    around, own = _around(command)
    images = {wrapper.image for wrapper in command.wrappers if wrapper.image is not None}
    for place, words in (pair for remark in remarks for pair in remark.around):
        at_image = place in images
        around, own = (_replaced(part, place, words) for part in (around, own))
        images |= {Word(words[-1])} if at_image and words else set()
    places = {(word.line, word.column) for word in (*around, *_set_when_created(command))}
    # A manifest's container has no words of its own: what it sets stands before the command, whatever wraps that.
    inside = command.container is not None and bool(command.container.words) and bool(around)
    env = {
        name: word.text.removeprefix(f"{name}=")
        for name, word in command.env.items()
        if name not in dropped
        and not cannot_be_typed(name)
        and not inside
        and (word.line, word.column) not in places
        and not _differs(command, word)
    }
    env = {name: text for name, text in env.items() if text not in _uses(name) and not cannot_be_typed(name)}
    env = {name: text for name, text in env.items() if text or not takes_key(name)}  # `TOKEN=` empties the caller's
    if _is_told(command):
        env |= {pair[1]: pair[2] for word in command.prefix if (pair := _PAIR.fullmatch(word.text)) is not None}
    around = _without(around, [word for name, word in command.env.items() if name in dropped])
    if inside and sets:
        around = _with_variables(around, sets, images)
    inner = program or tuple(word.text for word in own)
    front = (*(word.text for word in around), *(inner[1:] if _is_entrypoint(own, around) else inner))
    if not inside:
        env |= sets
    if not front:
        env = {}  # arguments of an image, whose environment stands elsewhere
    kept = [each for each in command.left_open if each.written and each.at >= 0]
    edits = _with_open_words(kept, edits, len(command.argv))
    edits += (Edit(at, 1, ()) for at, word in enumerate(command.argv) if stands_for_more(word))
    arguments = mended([word.text for word in command.argv], edits)
    if not command.prefix and not command.wrappers:
        arguments = _model_first(arguments, front)
    return Line(
        env,
        (*front, *_with_own_variables(arguments, env, command), *(word.text for word in command.own_words)),
        frozenset((*command.unresolved, *_given(env), *(name for each in kept for name in (each.name, each.written))))
        | {name for word in command.prefix for name in word.unresolved}
        | {f"${each.name}" for each in command.left_open if each.bare},
        frozenset({len(around), *(at for at, word in enumerate(around) if word in images)}),
    )


def _set_when_created(command: Command) -> Iterator[Word]:
    """The variables that the container of `docker exec` has from the `docker run` which made it: what is started in it
    has them, and a shell outside must not set them again."""
    container = command.container
    if container is not None and container.kind == "docker exec":
        own = {(word.line, word.column) for word in container.words}
        of_run = (word for option in container.given("--env") for word in option.words)
        yield from (word for word in of_run if (word.line, word.column) not in own)


def _model_first(arguments: tuple[str, ...], program: Sequence[str]) -> tuple[str, ...]:
    """`vllm serve MODEL …` for flags without their program, which may have been those of `api_server --model MODEL`."""
    named = program_named(" ".join(program))
    if named is None or not named.positional_model:
        return arguments
    for at, word in enumerate(arguments):
        if word == "--model" and at + 1 < len(arguments):
            return (arguments[at + 1], *arguments[:at], *arguments[at + 2 :])
        if word.startswith("--model="):
            return (word.removeprefix("--model="), *arguments[:at], *arguments[at + 1 :])
    return arguments


def program_words(command: Command) -> tuple[str, ...]:
    """The words that name the program, without what is wrapped around it."""
    return tuple(word.text for word in _around(command)[1])


def _is_told(command: Command) -> bool:
    """Whether words of a sentence stand before it on the same line."""
    told = bool(command.wrappers and command.prefix) and _SENTENCE.fullmatch(command.prefix[0].text) is not None
    return told and not is_known(command.wrappers[0])


def _behind_words(own: tuple[Word, ...]) -> tuple[Word, ...]:
    """From the last assignment, or the program, on."""
    first = next((at for at in reversed(range(len(own))) if "=" in own[at].text or own[at].text == "exec"), -1)
    return own[first + 1 :]


def _around(command: Command) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """What is wrapped around the program on the same line, and the words that name the program.

    A shell inside (`bash -c '…'`, `ssh`) has lines of its own: what is around it is left out. So is `nohup`, as the `&`
    and the file that belong to it are not among the words, and `exec`.
    """
    command = _without_sentence(command)
    for first in range(len(command.wrappers) + 1):
        words = tuple(word for wrapper in command.wrappers[first:] for word in wrapper.words)
        if command.prefix[: len(words)] == words:
            around, own = words, command.prefix[len(words) :]
            break
    if first == 0 and _is_told(command):
        return (), _behind_words(own)
    if not own and not command.wrappers:
        # Flags that were written without their program.
        program = program_named(command.program)
        start = program.start if program and program.start else command.program
        return (), tuple(Word(text) for text in start.split())
    if first == 0:
        return _without(
            around, [word for each in command.wrappers if each.kind in _OF_THE_SHELL for word in each.words]
        ), own
    return _launcher(command.wrappers[first:]), own


def _launcher(inner: Sequence[Wrapper]) -> tuple[Word, ...]:
    """What an engine of several ranks is started by in each of them: without it none finds the others."""
    names = program_table().launchers
    for at, wrapper in enumerate(inner):
        if wrapper.words and wrapper.words[0].text.rpartition("/")[2] in names:
            return tuple(word for each in inner[at:] for word in each.words)
    return ()


def _without_sentence(command: Command) -> Command:
    """Without the words of a sentence that lead to the program: `command is vllm serve …`."""
    texts = [word.text for word in command.prefix]
    count = next(
        (n for n in range(min(_MOST_LEADING, len(texts) - 1), 0, -1) if _LEADS.fullmatch(" ".join(texts[:n]))), 0
    )
    if not count:
        return command
    left = {(word.line, word.column) for word in command.prefix[:count]}
    wrappers = (each for each in command.wrappers if not left & {(word.line, word.column) for word in each.words})
    return replace(command, prefix=command.prefix[count:], wrappers=tuple(wrappers))


def _differs(command: Command, word: Word) -> bool:
    """Whether a line above sets it to what differs each time: `PORT=$(shuf -n 1 -i 20000-30000)`."""
    return word.line < command.line and "$" in word.text and _EACH_TIME.search(word.text) is not None


def _given(env: Mapping[str, str]) -> Iterator[str]:
    """Variables that are the whole value of another one, `SERVER_PORT: "${PORT}"` of a manifest: who starts it fills
    them in."""
    yield from (match[1] for text in env.values() if (match := _VARIABLE.fullmatch(text)))


def _uses(name: str) -> tuple[str, str]:
    """`PORT=${PORT}` sets nothing that the shell does not have, or sets it to nothing."""
    return f"${name}", f"${{{name}}}"


def _with_own_variables(arguments: Sequence[str], env: Mapping[str, str], command: Command) -> tuple[str, ...]:
    """With the values of variables that are shown in front of the command and stand elsewhere in the text: a shell
    fills them in before it sets them. What the text itself sets there stays as it is written."""
    last = command.prefix[-1] if command.prefix and command.container is None else Word("")
    own = {name for name, word in command.env.items() if word.line == last.line and word.column < last.column}
    named = [name for name in command.unresolved if name in env and name not in own]
    values = {use: env[name] for name in named for use in _uses(name)}
    return tuple(values.get(text, text) for text in arguments) if values else tuple(arguments)


def _is_entrypoint(own: Sequence[Word], around: Sequence[Word]) -> bool:
    """Whether the program's first word is the value of `--entrypoint`, which stands in front of the image."""
    places = {(word.line, word.column) for word in around if word.line}
    return bool(own) and (own[0].line, own[0].column) in places


def _without(words: Sequence[Word], dropped: Sequence[Word]) -> tuple[Word, ...]:
    """The words less those that set one of these variables, `-e NAME=value`."""
    places = {(word.line, word.column) for word in dropped}
    remaining: list[Word] = []
    for word in words:
        if not word.line or (word.line, word.column) not in places:
            remaining.append(word)
        elif remaining and remaining[-1].text in _SETS_ENV:
            remaining.pop()
    return tuple(remaining)


def _replaced(words: Sequence[Word], place: Word, texts: Sequence[str]) -> tuple[Word, ...]:
    """With these texts for a word; of those that are the same, the word stays."""
    return tuple(
        each
        for word in words
        for each in ([word if text == word.text else Word(text) for text in texts] if word == place else [word])
    )


def _with_variables(words: Sequence[Word], sets: Mapping[str, str], images: Collection[Word]) -> tuple[Word, ...]:
    """The words of a container with `-e NAME=value` before its image, or with another value where it is there."""
    texts = {name: f"{name}={value}" for name, value in sets.items()}
    placed = [replace(word, text=texts.pop(word.text.partition("=")[0], word.text)) for word in words]
    at = next((at for at, word in enumerate(placed) if word in images), 2)
    added = (Word(text) for more in texts.values() for text in ("-e", more))
    return (*placed[:at], *added, *placed[at:])


def _with_open_words(kept: Sequence[LeftOpen], edits: Sequence[Edit], count: int) -> list[Edit]:
    """The edits, with the words in their places that only the shell fills in: behind what another one puts there."""
    by_place = groupby(sorted(kept, key=attrgetter("at")), key=attrgetter("at"))
    open_words = {at: tuple(each.written for each in those) for at, those in by_place}
    merged: list[Edit] = []
    for edit in edits:
        own = open_words.pop(edit.at, ()) if edit.length == 0 and edit.at < count else ()
        merged.append(replace(edit, words=(*edit.words, *own)) if own else edit)
    return [*(Edit(at, 0, words) for at, words in open_words.items()), *merged]


def mended(words: Sequence[str], edits: Sequence[Edit]) -> tuple[str, ...]:
    """The arguments with all edits in them. Of edits at one place the first counts, and another's where one mends the
    name of an option and the other its value; additions keep their order."""
    replaced: dict[int, Edit] = {}
    before: dict[int, tuple[str, ...]] = {}
    added: list[str] = []
    inside = [text for edit in edits if edit.at < len(words) for text in edit.words]
    for edit in _carried(words, edits):
        if edit.at >= len(words):
            if not _contains(added, edit.words) and not _contains(inside, edit.words):
                added += edit.words
        elif edit.length == 0:
            before.setdefault(edit.at, edit.words)
        else:
            replaced[edit.at] = _both(words, replaced.get(edit.at, edit), edit)
    result: list[str] = []
    at = 0
    while at < len(words):
        edit = replaced.get(at) or Edit(at, 1, (words[at],))
        result += (*before.get(at, ()), *edit.words)
        at += edit.length
    return (*result, *added)


def _carried(words: Sequence[str], edits: Sequence[Edit]) -> Sequence[Edit]:
    """The edits, of which those that move a value move it as another one mends it: `--model FOLDER` becomes the first
    word, and is another folder."""
    within = {at for edit in edits if edit.length > 1 for at in range(edit.at + 1, edit.at + edit.length)}
    renamed = {
        words[edit.at]: edit.words[0]
        for edit in edits
        if edit.at in within and edit.at < len(words) and edit.length == 1 == len(edit.words) and "/" in words[edit.at]
    }
    if not renamed:
        return edits
    return [replace(edit, words=tuple(renamed.get(word, word) for word in edit.words)) for edit in edits]


def _both(words: Sequence[str], first: Edit, other: Edit) -> Edit:
    """The first edit, with the name or the value of the other where it changes only the other half. Of one object both
    may change keys."""
    name, value = _halves(words[first.at : first.at + first.length])
    (first_name, first_value), (other_name, other_value) = _halves(first.words), _halves(other.words)
    if first is not other and first.length == other.length and value.startswith("{"):
        whole = _of_both_objects(value, first_value or "{}", other_value or "{}")
        kept = first.words or other.words
        if whole is not None and kept:
            text = json.dumps(whole, ensure_ascii=False)
            return replace(first, words=(kept[0], text) if len(kept) > 1 else (f"{_halves(kept)[0]}={text}",))
    if first.length != other.length or not all((name, value, first_name, first_value, other_name, other_value)):
        return first
    if first_value == value and other_name == name:
        return replace(first, words=(first_name, other_value))
    if first_name == name and other_value == value:
        return replace(first, words=(other_name, first_value))
    return first


def _of_both_objects(before: str, one: str, other: str) -> dict[str, object] | None:
    """The object with what each of two makes of it; None where these change the same key, or have nothing left."""
    tables = [as_json(text.strip("'")) for text in (before, one, other)]
    was, first, second = (table if isinstance(table, dict) else None for table in tables)
    if was is None or first is None or second is None:
        return None
    changed = [{key for key in {*was, *table} if was.get(key) != table.get(key)} for table in (first, second)]
    if changed[0] & changed[1]:
        return None
    kept = {key: value for key, value in first.items() if key not in changed[1]}
    return {**kept, **{key: second[key] for key in second if key in changed[1]}} or None


def _halves(words: Sequence[str]) -> tuple[str, str]:
    """Name and value of an option, "" where it is another thing."""
    if len(words) == 1:
        name, _, value = words[0].partition("=")
        return name, value
    return (words[0], words[1]) if len(words) == 2 else ("", "")


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    return any(tuple(words[at : at + len(part)]) == tuple(part) for at in range(len(words) - len(part) + 1))
