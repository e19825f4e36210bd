"""Why a start of ours failed, by its log: the same words as those of `moonpad doctor --log`."""

from __future__ import annotations

from collections.abc import Iterable

from moonpad.engines.log_grammar import Failure, LogGrammar, failure_at, first_cause, worth_a_look
from moonpad.observe.log_cause import read_log


def failure_in(lines: Iterable[str], grammar: LogGrammar) -> Failure | None:
    """The first true error; None if the log shows none. A router's or proxy's own causes are looked for first."""
    kept = list(lines)
    if not grammar.engine and (named := first_cause(grammar.causes, worth_a_look(kept))) is not None:
        return failure_at(named.cause, named.match)
    answer = read_log("\n".join(kept), grammar.engine)
    if not answer.line:
        return None
    message = answer.message if answer.key or not answer.kind else f"{answer.message[:300]}: {answer.kind}"
    return Failure(message, answer.remedy, answer.text)
