"""Servers in configurations of tests: `server_cmd:` with `envs:` beside it, `env_common:` for all nodes, and lists of
options that are written once and taken by anchors.

Source: https://github.com/vllm-project/vllm-ascend, tests/e2e/nightly.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from yaml import MappingNode, Node, SequenceNode

from moonpad.explain.commands import Word
from moonpad.explain.documents.surroundings import unknown_value
from moonpad.explain.manifests.tasks import environment_of
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar
from moonpad.values.records import replace

_START: Final = re.compile(r"(?:server|serve|prefill_server|decode_server)_(?:cmd|command|args)(?:_template)?")
"""Keys of what starts a server, in configurations of tests."""
_VARIABLE: Final = re.compile(r"\$\{?([A-Z][A-Z0-9_]*)\}?")
_OF_A3: Final = "16"
"""NPUs that only servers of this kind have."""


def environment_beside(fields: Fields, source: YamlSource, common: Mapping[str, Word]) -> Mapping[str, Word]:
    """That of `server_cmd:` in the same mapping, as configurations of tests have it, and what they set for all nodes. A
    port that is a word there is filled in by the program that runs the test."""
    if not any(_START.fullmatch(key) for key in fields) or source.fields(fields.get("secrets")):
        return {}
    return {**common, **_with_ports(dict(environment_of(fields, source)))}


def common_environment(fields: Fields, source: YamlSource) -> Mapping[str, Word]:
    """`env_common:` above the starts of several nodes."""
    return _with_ports({name: source.word(node) for name, node in source.fields(fields.get("env_common")).items()})


def _with_ports(environment: dict[str, Word]) -> dict[str, Word]:
    for name, word in environment.items():
        if name.endswith("PORT") and not word.text.isdigit():
            environment[name] = unknown_value(word, name)
    return environment


def added_to(name: str, names: Collection[str]) -> str:
    """The list of options that another one is added to: `server_cmd` for `server_cmd_extra`; "" where there is none."""
    base = name.removesuffix("_extra")
    return base if base != name and base in names and _START.fullmatch(base) else ""


def is_start(name: str) -> bool:
    """Whether a list or a text under the key starts a server, in a configuration of tests."""
    return _START.fullmatch(name) is not None


def with_variables(words: Iterable[Word], environment: Mapping[str, Word]) -> Iterator[Word]:
    """A list of options, in which the program that runs the test fills in variables."""
    for word in words:
        names = _VARIABLE.findall(word.text)
        if not names:
            yield word
            continue
        known = {name: environment[name].text for name in names if name in environment}
        known = {name: text for name, text in known.items() if not environment[name].unresolved}
        text = _VARIABLE.sub(partial(_value, known), word.text)
        yield replace(word, text=text, pieces=(), unresolved=tuple(name for name in names if name not in known))


def _value(known: Mapping[str, str], match: re.Match[str]) -> str:
    return known.get(match[1], match.group())


def npus_of(fields: Fields, source: YamlSource) -> str:
    """`16xA3` of `npu_per_node: 16`; "" where the kind is not said."""
    each = scalar(fields.get("npu_per_node"))
    named = scalar(source.fields(fields.get("env_common")).get("ASCEND_A3_ENABLE")) == "1"
    return f"{each}xA3" if each == _OF_A3 or (named and each.isdigit() and 0 < int(each[:4]) <= int(_OF_A3)) else ""


def lists_taken_elsewhere(root: Node, source: YamlSource) -> frozenset[int]:
    """Lists, by their identity, that stand at several places of a document: under a key of their own and by aliases."""
    if "*" not in source.text:
        return frozenset()
    seen, taken, left = {id(root)}, set[int](), [root]
    while left:
        node = left.pop()
        values = [value for _, value in node.value] if isinstance(node, MappingNode) else list(items(node))
        source.whole.budget.work(len(values), "its YAML")
        for value in values:
            if id(value) not in seen:
                seen.add(id(value))
                left.append(value)
            elif isinstance(value, SequenceNode):
                taken.add(id(value))
    return frozenset(taken)
