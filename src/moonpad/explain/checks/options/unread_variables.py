"""Variables of the engine's own kind that no recorded release reads: of a change that was never merged, of a fork, or
of a release of long ago."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.known_variables import library_variables
from moonpad.catalog.options import ever_known_environment, versions
from moonpad.engines import foreign_names as names
from moonpad.explain.builds import other_build
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.options.setting_slips import is_used, named_like_option
from moonpad.explain.checks.shell.variable_prefixes import is_anybodys
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.longer_names import with_one_word_more
from moonpad.explain.manifests.option_sources import Rulebook, rulebook
from moonpad.explain.nearest_names import declared_like
from moonpad.explain.results import Remark
from moonpad.explain.target_detection import Version
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.versions import is_final, since

_OF_PLUGINS: Final = re.compile(
    r"\b(?:gaudi\d?|hpu|dcu|hcu|metax|maca|mlu|musa|spyre|neuron|trainium\d?|xpu|tpu|hygon|kunlun\w{0,6})\b",
    re.IGNORECASE,
)
"""Devices whose plugins and builds read variables of the same beginning."""
_LONGEST: Final = 2_000
_SHOWN: Final = 4
_LEAST: Final = 2
"""Underscores of a name that is long enough to be none of the text's own: `VLLM_MODEL`, `VLLM_IMAGE`."""


def unread_variables(case: Case) -> Iterator[Remark]:
    """`VLLM_FORCE_NUM_KV_SPLITS=9`: one note that names all of them. A build of its own may read them."""
    begins, command, program = names.ALL_DECLARED.get(case.engine.name), case.commands[0], case.engine.program
    written = [each for each in command.env if begins and each.startswith(begins) and each.count("_") >= _LEAST]
    recorded = versions(program)
    if not written or not recorded or command.embedded or command.custom or command.fork or other_build(command):
        return  # the image's own start, or that of a fork, may read them
    if case.version and not (is_final(case.version) and since(case.version, recorded[0])):
        return
    book = rulebook(program, Version(case.version, ""))
    if book is None:
        return
    case.script.budget.work(20 * len(written) + len(case.script.lines), "its variables")
    if is_in_lines(_OF_PLUGINS, case.script.lines, _LONGEST):
        return
    ever = ever_known_environment(program)
    unread = [name for name in written if name not in ever and not _is_told(name, case, ever, book)]
    if not unread:
        return
    them, have = ("them", "they have") if len(unread) > 1 else ("it", "it has")
    more = f" and {len(unread) - _SHOWN} more" if len(unread) > _SHOWN else ""
    message = (
        f"no release of {case.engine.facts.title} from {recorded[0]} to {recorded[-1]} reads "
        f"{', '.join(unread[:_SHOWN])}{more}: without a build of its own {have} no effect"
    )
    remedy = f"leave {them} out, or take the build with the change that brings {them}"
    finding = Finding(Severity.NOTE, Code.DEAD_ENV, unread[0], message, remedy)
    yield Remark(finding, command=0, variable=unread[0])


def _is_told(name: str, case: Case, ever: frozenset[str], book: Rulebook) -> bool:
    """Whether another check speaks of it, a library or the text reads it, or an image of AMD's may."""
    if name in library_variables() or named_like_option(name, case) or is_anybodys(name, case) or is_used(case, name):
        return True
    alike = {name.partition("_")[0]: sorted(ever)}
    return (
        with_one_word_more(name, ever) is not None or declared_like(name, alike, book, case.script.budget) is not None
    )
