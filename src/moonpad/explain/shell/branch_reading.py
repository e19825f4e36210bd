"""Conditions of a script: every branch is read, and behind them holds what the script's own defaults take; where these
decide nothing, what all branches leave."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from moonpad.explain.commands import Word
from moonpad.explain.shell.bash_parser import Branches, Compound, For, Simple
from moonpad.explain.shell.default_branches import leaves, set_in, switch_of
from moonpad.explain.shell.scope import Layer, Other, Scope, size_of
from moonpad.explain.shell.shell_tests import (
    asked_by,
    asked_for,
    decided,
    demanded,
    ends,
    lacking_in,
    tested_files,
    tested_values,
)
from moonpad.explain.shell.tokens import Variable

if TYPE_CHECKING:
    from moonpad.explain.shell.interpreter import Shell


def read_branches(shell: Shell, node: Branches) -> None:
    conditions, scope = node.conditions, shell.scope
    shell.statements(conditions)
    asked_for(node, scope)
    taken = shell.defaults.branch(node)
    first = conditions[0] if len(conditions) == 1 else None
    has_value = isinstance(first, Simple) and decided(first.words, scope) is not None
    if taken is not None and (has_value or shell.defaults.is_sure(node)):
        shell.statements(node.bodies[taken] if taken >= 0 else ())
        return
    tests = [lacking_in(each.words, True) for each in conditions if isinstance(each, Simple)]
    with (
        scope.asking(tested_values(conditions, scope), tested_files(conditions)),
        shell.defaults.inside_loop(set_in(node.bodies[0]) if node.loops and node.bodies else frozenset()),
    ):
        _read(shell, node, taken, frozenset().union(*tests))
    _demand(shell, node)


def read_conditional(shell: Shell, node: Simple | Compound) -> None:
    """One command, or several in braces, behind `&&` or `||`."""
    scope, behind, tested = shell.scope, node.connector == "&&", shell.tested
    lacking, left = lacking_in(tested, behind), leaves([node] if isinstance(node, Simple) else node.body)
    if left:
        asked_by(lacking, scope)
    runs = shell.tested_by_default if behind or shell.tested_by_default is None else not shell.tested_by_default
    scope.push()
    shell.state.aside += runs is False
    if isinstance(node, Simple):
        shell.simple(node)
    else:
        shell.compound(node)
    shell.state.aside -= runs is False
    layer = scope.pop()
    if left and isinstance(node, Compound):
        return
    if runs is not None and not left:
        switch = next((part.name for word in tested for part in word.segments if isinstance(part, Variable)), "")
        _take(shell, layer if runs else ({}, {}), [] if runs else [Other(layer[0], switch)])
        return
    with scope.asking(frozenset(), tested_files([Simple(tested)])):
        _join(shell, [layer], exhaustive=False, defaults=lacking)


def _read(shell: Shell, node: Branches, taken: int | None, defaults: Collection[str]) -> None:
    bodies, scope, state = node.bodies, shell.scope, shell.state
    taken = None if taken is not None and taken >= 0 and leaves(bodies[taken]) else taken
    layers: list[Layer] = []
    condition, _ = state.conditions.setdefault(id(bodies), (len(state.conditions), bodies))
    for arm, body in enumerate(bodies):
        scope.push()
        state.arms.append((condition, arm))
        state.aside += taken not in (None, arm)
        shell.statements(body)
        state.aside -= taken not in (None, arm)
        state.arms.pop()
        layers.append(scope.pop())
    if node.loops and is_over_arguments(node, scope):
        layers = [scope.without_known(layer) for layer in layers]
    stays = [at for at, body in enumerate(bodies) if not leaves(body)]
    if taken is None:
        _join(shell, [layers[at] for at in stays] or layers, node.exhaustive, defaults)
        return
    others = [Other(layers[at][0], switch_of(node, at)) for at in stays if at != taken]
    _take(shell, layers[taken] if taken >= 0 else ({}, {}), others)


def is_over_arguments(node: Branches | For, scope: Scope) -> bool:
    """`while [ $# -gt 0 ]`, `while getopts …` and `for arg in "$@"`, where nobody calls the script."""
    if scope.arguments is not None:
        return False
    if isinstance(node, For):
        names = [part.name for token in node.values for part in token.segments if isinstance(part, Variable)]
        return names in ([], ["@"]) and len(node.values) == len(names)
    words = [word for each in node.conditions if isinstance(each, Simple) for word in each.words]
    if [word.text for word in words[:1]] == ["getopts"]:
        return True
    read = {part.name for word in words for part in word.segments if isinstance(part, Variable)}
    return bool(read) and read <= {"#", "1"}


def _take(shell: Shell, layer: Layer, others: Sequence[Other]) -> None:
    shell.state.budget.work(size_of(layer) + sum(size_of((each.variables, {})) for each in others), "its conditions")
    shell.scope.take(layer, others)


def _join(shell: Shell, layers: Sequence[Layer], exhaustive: bool, defaults: Collection[str]) -> None:
    shell.state.budget.work(sum(map(size_of, layers)), "its conditions")
    shell.scope.join(layers, exhaustive, defaults)


def _demand(shell: Shell, node: Branches) -> None:
    """`if [ "$TP" -ne 8 ]; then exit 1; fi`: behind it TP is 8."""
    first = node.conditions[0] if node.conditions else None
    if len(node.conditions) != 1 or len(node.bodies) != 1 or not isinstance(first, Simple) or not ends(node):
        return
    if (demand := demanded(first.words)) is not None and shell.scope.is_open(demand[0]):
        shell.scope.set(demand[0], next(iter(shell.expander.fields(demand[1])), Word("")))
