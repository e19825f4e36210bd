"""Configurations of tests with a list of arguments for each node, whose variables a second list of the same file fills.

Source: https://github.com/vllm-project/vllm-ascend, tests/e2e/nightly/multi_node/config.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.manifests.option_maps import list_words
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar
from moonpad.values.records import replace

_ARGUMENTS: Final = re.compile(r"server_cmd(?:_template)?|server_args(?:_template)?|args_template")
_VARIABLE: Final = re.compile(r"\$\{?([A-Z][A-Z0-9_]*)\}?")
_ROLES: Final = {"prefill": "prefill", "decod": "decode"}


def node_templates(fields: Fields, source: YamlSource) -> Iterator[tuple[list[Word], Mapping[str, Word], str, int]]:
    """The words, the environment, the role and the line of each node's server; nothing for a file of another kind."""
    known = {scalar(given.get("node_index")): given for given in map(source.fields, items(fields.get("config")))}
    model = fields.get("model")
    for template in map(source.fields, items(fields.get("templates"))):
        arguments = next((node for key, node in template.items() if _ARGUMENTS.fullmatch(key)), None)
        index = scalar(template.get("node_index"))
        if arguments is None or index not in known:
            continue
        values = {key.upper(): source.word(node) for key, node in known[index].items() if scalar(node)}
        words = [_filled_in(word, values) for word in list_words(arguments, source)]
        if not words or not words[0].text.startswith("-"):
            continue
        if model is not None and scalar(model) and not any(word.text == "--model" for word in words):
            words = [source.word(model), *words]
        environment = {key: source.word(node) for key, node in source.fields(template.get("envs")).items()}
        yield words, environment, _role(fields, index, source), words[-1].line


def _filled_in(word: Word, values: Mapping[str, Word]) -> Word:
    if not _VARIABLE.search(word.text):
        return word
    text = _VARIABLE.sub(lambda match: values[match[1]].text if match[1] in values else match.group(), word.text)
    return replace(word, text=text, pieces=(), unresolved=tuple(_VARIABLE.findall(text)))


def _role(fields: Fields, index: str, source: YamlSource) -> str:
    """That of the group with the node in it: `groups: {prefiller: [0], decoder: [1]}`."""
    groups = source.fields(source.fields(fields.get("routing")).get("groups"))
    for name, nodes in groups.items():
        if index in [scalar(node) for node in items(nodes)]:
            return next((role for start, role in _ROLES.items() if name.startswith(start)), "")
    return ""
