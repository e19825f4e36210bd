"""ConfigMaps and Secrets: values for the environment of containers, and files that are mounted into them.

Sources: https://kubernetes.io/docs/concepts/configuration/configmap/ and
https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/configmapgenerator/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from yaml import MarkedYAMLError, Node

from moonpad.explain.commands import HereFile, Word
from moonpad.explain.input_limits import NESTING
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar
from moonpad.explain.programs import names_engine_command
from moonpad.explain.python.signs import is_python
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

_SECRET: Final = re.compile(r"token|key|password|passwd|secret|credential", re.IGNORECASE)
_MANIFEST: Final = re.compile(
    r"\A(?:[ \t]*#.*\n|[ \t]*\n)*apiVersion:[^\n]*\n(?=[\s\S]{0,20000}^[ \t]+containers:)", re.MULTILINE
)
"""A pod, or what makes pods, that another program takes out of a ConfigMap and fills in."""
_GENERATED: Final = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}


def gather(text: str, start: int, state: ScriptState) -> None:
    """Remembers what the ConfigMaps in a text of YAML hold, which begins at the offset `start` of the whole."""
    source = YamlSource(state.text, start, text)
    try:
        documents = source.documents()
    except MarkedYAMLError:
        return
    for document in documents:
        remember(document, source, state)


def remember(node: Node, source: YamlSource, state: ScriptState, depth: int = 0) -> None:
    """Those of an object, or of a list of objects."""
    fields = source.fields(node)
    kind = scalar(fields.get("kind"))
    if kind in ("ConfigMap", "Secret"):
        name = scalar(source.inner(fields, "metadata", "name"))
        held = state.config_maps.setdefault((kind, name), {})
        for key, word in _held(fields, kind, source):
            held[key] = word
            if kind == "ConfigMap":
                state.files[key] = HereFile(key, word.text, word.line)
                if key.endswith(".py") and is_python(word.text):
                    state.programs[key] = word
                elif names_engine_command(word.text) or _MANIFEST.search(word.text):
                    state.scripts[key] = word
        return
    for key, kind in _GENERATED.items():
        for generator in map(source.fields, items(fields.get(key))):
            held = state.config_maps.setdefault((kind, scalar(generator.get("name"))), {})
            for word in map(source.word, items(generator.get("literals"))):
                name, _, value = word.text.partition("=")
                held[name] = replace(word, text=value.strip("\"'"), pieces=())
    if depth < NESTING:
        for item in items(fields.get("items")):
            remember(item, source, state, depth + 1)


def _held(fields: Fields, kind: str, source: YamlSource) -> Iterator[tuple[str, Word]]:
    """What is secret is not shown: its values are unknown. `data` of a Secret is encoded."""
    if kind == "Secret":
        for key, node in source.fields(fields.get("data")).items():
            yield key, unknown(source.word(node), key)
    for key, node in source.fields(fields.get("data" if kind == "ConfigMap" else "stringData")).items():
        word = source.word(node)
        yield key, unknown(word, key) if kind == "Secret" and _SECRET.search(key) else word


def unknown(at: Word, name: str) -> Word:
    """The value of a variable that is not in the text."""
    return replace(at, text=f"${{{name}}}", unresolved=(name,), pieces=())


def referred(variable: Fields, name: str, source: YamlSource, state: ScriptState) -> Word | None:
    """What `valueFrom` takes out of a ConfigMap or a Secret; None where it is not in the text."""
    origin = source.fields(variable.get("valueFrom"))
    for kind, key in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
        reference = source.fields(origin.get(key))
        held = state.config_maps.get((kind, scalar(reference.get("name"))), {})
        if word := held.get(scalar(reference.get("key"))):
            return unknown(word, name) if word.unresolved else word
    return None


def imported(fields: Fields, source: YamlSource, state: ScriptState) -> Iterator[tuple[str, Word]]:
    """All variables of the ConfigMaps and Secrets under `envFrom`."""
    for entry in map(source.fields, items(fields.get("envFrom"))):
        prefix = scalar(entry.get("prefix"))
        for kind, key in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
            name = scalar(source.inner(entry, key, "name"))
            for variable, word in state.config_maps.get((kind, name), {}).items():
                yield prefix + variable, word


def volumes(pod: Fields, source: YamlSource, state: ScriptState) -> Mapping[str, Mapping[str, HereFile]]:
    """Of each volume of a pod that comes from ConfigMaps, the files by their paths in it."""
    mounted: dict[str, dict[str, HereFile]] = {}
    for volume in map(source.fields, items(pod.get("volumes"))):
        parts = [volume, *map(source.fields, items(source.inner(volume, "projected", "sources")))]
        for part in parts:
            config = source.fields(part.get("configMap"))
            held = state.config_maps.get(("ConfigMap", scalar(config.get("name"))), {})
            chosen = {scalar(entry.get("key")): scalar(entry.get("path")) for entry in _entries(config, source)}
            for key, word in held.items():
                path = chosen.get(key, "") if chosen else key
                if path:
                    file = HereFile(path, word.text, word.line)
                    mounted.setdefault(scalar(volume.get("name")), {})[path] = file
    return mounted


def mounts(
    container: Fields, held: Mapping[str, Mapping[str, HereFile]], source: YamlSource
) -> Iterator[tuple[str, HereFile]]:
    """The paths in a container under which it has the files of its volumes."""
    for mount in map(source.fields, items(container.get("volumeMounts"))):
        path, part = scalar(mount.get("mountPath")).rstrip("/"), scalar(mount.get("subPath"))
        for name, file in held.get(scalar(mount.get("name")), {}).items():
            if part in ("", name):
                yield path if part else f"{path}/{name}", file


def _entries(config: Fields, source: YamlSource) -> Iterator[Fields]:
    yield from map(source.fields, items(config.get("items")))
