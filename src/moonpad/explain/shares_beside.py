"""Servers that stand on the same devices of one machine at the same time, and what share of the memory each takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from moonpad.engines.surrounding_names import CHOOSE_DEVICES
from moonpad.explain.commands import Command, Script
from moonpad.explain.grouping import model_of, value_of
from moonpad.explain.programs import is_server

SHARES: Final = ("--gpu-memory-utilization", "--mem-fraction-static")
_DEVICES: Final = (*CHOOSE_DEVICES, "NVIDIA_VISIBLE_DEVICES")
_CHOOSES: Final = ("--base-gpu-id", "--device", "--gpu-id-step", "--headless", "--node-rank", "--data-parallel-rank")
_APART: Final = frozenset({"ssh", "srun", "mpirun", "pdsh", "clush"})
_BACKGROUND: Final = re.compile(r"&[ \t]*(?:#.*)?$")
_ENDS: Final = re.compile(
    r"(?<![\w-])(?:kill\w*|pkill|stop\w*|shut\w*|fuser|exit|return|ssh|srun)(?![\w-])|\(\)[ \t]*\{"
    r"|^[ \t]*(?:function[ \t]|esac\b|;;)|docker[ \t]+(?:rm|stop|kill)|compose[ \t]+(?:down|stop|rm)"
)
"""What may end the first server before the second is started."""
_PROFILES: Final = re.compile(r"[ \t]*profiles:")
_LISTED: Final = re.compile(r"device_ids\b|device=|VISIBLE_DEVICES")
_NUMBERS: Final = re.compile(r"\d{1,3}(?:,\d{1,3})*")
_MOST: Final = 40
"""Commands of a text that is looked at."""
_LONGEST: Final = 1000


class Beside(Struct, frozen=True):
    """Another server: its line and its share. `sure`: the file itself starts both on one machine."""

    line: int
    share: float
    sure: bool


def shares_beside(commands: Sequence[Command], script: Script) -> tuple[Beside, ...]:
    """The servers that take a stated share of the devices of this one, of one compose file, one script, or of a text in
    which the shares are those of one whole."""
    if len(commands) != 1 or len(script.commands) > _MOST or script.objects:
        return ()
    mine = commands[0]
    if not _is_here(mine):
        return ()
    found: dict[int, Beside] = {}
    for other in script.commands:
        share = share_of(other)
        if other.line == mine.line or share is None or not _is_here(other) or not _overlap(mine, other, script):
            continue
        if script.place(other.line)[0] != script.place(mine.line)[0] or not _together(mine, other):
            continue
        sure = _in_one_manifest(mine, other, script) or _run_together(mine, other, script)
        if sure or _are_parts(mine, other, script):
            found[other.line] = Beside(other.line, share, sure)
    return tuple(found.values())


def share_left(commands: Sequence[Command], script: Script) -> float:
    """Of the memory, what the servers beside it leave to this one, in whole hundredths."""
    taken = sum(other.share for other in shares_beside(commands, script))
    return int(100 * max(0.0, 1 - taken) + 1e-6) / 100


def share_of(command: Command) -> float | None:
    word = value_of(command.argv, SHARES)
    if word is None or word.unresolved or not re.fullmatch(r"0?\.\d{1,4}|1(?:\.0+)?", word.text):
        return None
    return float(word.text)


def _is_here(command: Command) -> bool:
    served = is_server(command.program) or command.program == "fragment"
    moved = any(value_of(command.argv, (flag,)) is not None for flag in _CHOOSES)
    return served and not moved and not any(wrapper.kind in _APART for wrapper in command.wrappers)


def _together(one: Command, two: Command) -> bool:
    branches = dict(one.arms)
    return all(branches.get(condition, branch) == branch for condition, branch in two.arms)


def _in_one_manifest(one: Command, two: Command, script: Script) -> bool:
    """Services of a compose file, whose containers no line of a shell runs; with profiles they may be alternatives."""
    of_file = [command.container is not None and not command.container.words for command in (one, two)]
    return all(of_file) and one.label != two.label and not any(map(_PROFILES.match, script.lines))


def _run_together(one: Command, two: Command, script: Script) -> bool:
    """Whether the earlier of the two still runs when a script starts the other."""
    first, second = sorted((one, two), key=lambda command: command.line)
    last = max((word.end_line for word in first.words), default=first.line)
    if script.markdown or not 0 < last <= len(script.lines) or last >= second.line:
        return False
    detached = first.container is not None and first.container.has("--detach")
    if not detached and not _BACKGROUND.search(script.lines[last - 1][-_LONGEST:]):
        return False
    return not any(_ENDS.search(text[:_LONGEST]) for text in script.lines[last : second.line - 1])


def _are_parts(one: Command, two: Command, script: Script) -> bool:
    """Whether a document gives each a part of one whole: other models, and shares that are less than all."""
    shares = [share_of(each) for each in (one, two)]
    if not script.markdown or any(share is None for share in shares):
        return False
    models = [model_of(each) or each.heading or "" for each in (one, two)]
    return models[0] != models[1] and sum(share or 0 for share in shares) <= 1


def _overlap(one: Command, two: Command, script: Script) -> bool:
    """Whether no lists of devices keep them apart; a number of devices alone says nothing of which."""
    sets = [_devices(each, script) for each in (one, two)]
    if any(each == "unknown" for each in sets):
        return False
    lists = [each for each in sets if isinstance(each, frozenset)]
    return len(lists) < len(sets) or bool(frozenset.intersection(*lists))


def _devices(command: Command, script: Script) -> frozenset[int] | str:
    """Their numbers; "" for all that there are, "unknown" where only the number of them is said."""
    given = [command.env[name] for name in _DEVICES if name in command.env]
    texts = [word.text.partition("=")[2].strip("'\"") or word.text for word in given]
    container = command.container
    for option in container.given("--gpus") if container is not None else ():
        value = (option.value or "").strip("'\"")
        if value.startswith("device="):
            texts.append(value.removeprefix("device="))
        elif value.isdigit():
            texts.append(_listed(option.words[-1].line, script) if option.words else "?")
    texts = [text for text in texts if text not in ("all", "")]
    if not texts:
        return ""
    numbers = texts[0].replace(" ", "")
    return frozenset(map(int, numbers.split(","))) if _NUMBERS.fullmatch(numbers) else "unknown"


def _listed(line: int, script: Script) -> str:
    """`device_ids: ["0", "1"]` of a compose file, in the lines around the place of the reservation."""
    around = script.lines[max(0, line - 2) : line + 3] if line > 0 else ()
    found: Iterator[str] = (text for text in around if _LISTED.search(text[:_LONGEST]))
    return ",".join(re.findall(r"\d{1,3}", next(found, "?").partition(":")[2])) or "?"
