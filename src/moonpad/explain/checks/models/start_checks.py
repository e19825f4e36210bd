"""What the start itself compares and refuses: sizes and names that no other rule looks at."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from moonpad.engines import foreign_names as names
from moonpad.engines.surrounding_names import MODEL_ON_COMMAND_LINE
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_error = partial(make_remark, Severity.ERROR)


def dense_size(case: Case) -> Iterator[Remark]:
    """The dense layers are whole on each rank, or sliced like all others."""
    place = case.option(names.DENSE)
    if case.base != names.EXPERTS_BY_OPTION or place is None or not isinstance(place.value, str):
        return
    size, group = whole(place.value), case.size("--tp-size")
    if size is None or unresolved(place.value) or not case.laid_out:
        return
    as_group = size == group and (not case.base_version or since(case.base_version, names.DENSE_AS_GROUP))
    if as_group and size > 1 and not case.version:
        before = f"releases before {names.DENSE_AS_GROUP} take 1 or nothing here"
        message = f"{size}: {before}, and end with the size of the group"
        remedy = "leave it out, which slices them like the others"
        note = partial(make_remark, Severity.NOTE)
        yield note(Code.INVALID_VALUE, names.DENSE, message, remedy, at=place.index)
    if size != 1 and not as_group:
        message = f"{size}: dense layers are whole on each rank, with 1, or sliced like the others, without it"
        edit = Edit(place.index, place.length, (names.DENSE, "1"))
        remedy = f"write {names.DENSE} 1, or leave it out"
        yield _error(Code.INVALID_VALUE, names.DENSE, message, remedy, at=place.index, edits=[edit])


def colon_in_name(case: Case) -> Iterator[Remark]:
    """The colon of a served name stands before the name of an adapter."""
    place = case.option("--served-model-name")
    if case.base != names.EXPERTS_BY_OPTION or place is None or not isinstance(place.value, str):
        return
    known = case.engine.name == case.base and (not case.version or since(case.version, names.NAME_WITHOUT_COLON))
    if ":" in place.value and not unresolved(place.value) and known:
        message = f"{shortened(place.value)}: a colon is kept for the name of an adapter behind it, and stops the start"
        code, where = Code.INVALID_VALUE, "--served-model-name"
        yield _error(code, where, message, "write a dash in its place", at=place.index)


def ranks_of_nodes(case: Case) -> Iterator[Remark]:
    """The nodes have equally many ranks."""
    nodes, place = case.first.node.nodes, case.option("--nnodes")
    if case.base != names.EXPERTS_BY_OPTION or nodes is None or place is None or not case.laid_out:
        return
    ranks = case.size("--tp-size") * case.size("--pp-size")
    if nodes > 0 and ranks % nodes:
        message = f"{ranks} ranks (--tp-size × --pp-size) do not divide over {nodes} nodes"
        remedy, size = f"make the product a multiple of {nodes}", case.option("--tp-size") or place
        yield _error(Code.ILLEGAL_LAYOUT, size.written, message, remedy, at=size.index)


def model_in_file(case: Case) -> Iterator[Remark]:
    """A subcommand chooses its server by the model, which is its first word or an option, before it reads a file."""
    command, (subcommand, option, models) = case.commands[0], MODEL_ON_COMMAND_LINE
    words = tuple(word.text for word in command.prefix[-len(subcommand) :])
    if words != subcommand or not command.argv or not command.argv[0].text.startswith("-") or command.more:
        return
    given = [word.text.partition("=")[0] for word in command.argv]
    if {*given} & {*models, "-h", "--help"} or any(word.text.startswith("$") for word in command.argv):
        return
    name, place = " ".join(subcommand), case.option(option)
    if place is not None:
        message = f"{name} looks for the model among its own words before it reads the file: it ends"
        remedy = f"add {models[0]} beside {option}"
        yield make_remark(Severity.WARNING, Code.MISSING_FLAG, option, message, remedy, at=place.index)
    elif case.first.model in given and not unresolved(case.first.model):
        message = f"{name} takes the model as its first word or by {models[0]}, and not behind options: it ends"
        remedy = f"write {models[0]} in front of {shortened(case.first.model)}"
        at = given.index(case.first.model)
        yield make_remark(Severity.WARNING, Code.MISSING_FLAG, case.first.model, message, remedy, at=at)
