"""Servers that engines' own tests start by a class: `RemoteOpenAIServer(model, arguments, env_dict=environment)`."""

from __future__ import annotations

from moonpad.engines.offline_names import TEST_SERVERS
from moonpad.explain.python.data import Listing, Table, Text, environment_in, spread
from moonpad.values.records import replace


def started_by_test(call: Table, arms: tuple[tuple[int, int], ...]) -> Listing | None:
    """The words of the command; None for any other call."""
    program = TEST_SERVERS.get(call.call.rpartition(".")[2])
    model, arguments = call.fields.get("#0"), call.fields.get("#1")
    if program is None or not isinstance(model, Text) or not isinstance(arguments, Listing):
        return None
    start = [Text(replace(model.word, text=word, pieces=(), unresolved=()), word) for word in program]
    variables = call.fields.get("env_dict")
    environment = environment_in(variables) if isinstance(variables, Table) else {}
    return Listing([*start, model, *spread(arguments)], arms, environment=environment)
