"""Containers that YAML describes: services of compose, pods of Kubernetes, and lists of arguments elsewhere.

Each becomes the `docker run` that starts the same container, with its words at their places in the file, so that it is
read like one in a script. Sources: https://docs.docker.com/reference/compose-file/services/,
https://docs.docker.com/reference/compose-file/interpolation/,
https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container and
https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from yaml import MarkedYAMLError, Node

from moonpad.explain.commands import (
    Command,
    HereFile,
    Word,
    Wrapper,
    WrapperOption,
    concatenated,
    cut,
    in_the_container,
)
from moonpad.explain.input_limits import COMMANDS, NESTING, Budget, too_deep, too_large
from moonpad.explain.interpreter import ScriptState, Shell, words_of
from moonpad.explain.source_text import Source
from moonpad.explain.yaml_options import environment_of, is_option_file, merged_args, option_words
from moonpad.explain.yaml_repair import repaired
from moonpad.explain.yaml_source import Fields, YamlSource, is_true, items, scalar
from moonpad.explain.yaml_texts import device_variables, read_text, shell_texts
from moonpad.values.errors import UsageError

_SURELY_YAML: Final = re.compile(
    r"^(?:- )?(?:apiVersion|services|kind|spec|containers|resources|envs|type):", re.MULTILINE
)
_DEVICES: Final = re.compile(r"(?:nvidia|amd)\.com/gpu|huawei\.com/Ascend\w*")

# References to variables that are replaced before a container starts.
_COMPOSE: Final = re.compile(
    r"\$(?:(?P<dollar>\$)|\{(?P<braced>[A-Za-z_]\w*)(?:(?P<operator>:?[-?+])(?P<default>[^{}]*))?\}"
    r"|(?P<name>[A-Za-z_]\w*))"
)
_KUBERNETES: Final = re.compile(r"\$(?:(?P<dollar>\$)|\((?P<name>[\w.-]+)\))")

# Keys of a compose service → the option of `docker run`, for each item of a list, and for one value.
_LISTS: Final = {
    "ports": "--publish",
    "volumes": "--volume",
    "cap_add": "--cap-add",
    "security_opt": "--security-opt",
    "devices": "--device",
}
_VALUES: Final = {"network_mode": "--network", "shm_size": "--shm-size", "gpus": "--gpus", "ipc": "--ipc"}


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What a container gets from outside of its own mapping."""

    compose: bool = False
    options: tuple[Word, ...] = ()
    variables: Mapping[str, Word] = field(default_factory=dict)
    """Those that a controller sets."""
    label: str = ""

    def interpolated(self, word: Word, values: Mapping[str, Word], budget: Budget) -> Word:
        """With the values in place of references; a name that is not known stays as it is, and is unresolved."""
        parts, at = list[Word](), 0
        for match in (_COMPOSE if self.compose else _KUBERNETES).finditer(word.text):
            reference = cut(word, *match.span())
            value = self._value(match, values)
            budget.spend(1, len(value.text))
            pieces = (piece._replace(start=0, end=len(value.text)) for piece in reference.pieces[:1])
            parts += (cut(word, at, match.start()), replace(value, pieces=tuple(pieces)))
            at = match.end()
        return concatenated((*parts, cut(word, at, len(word.text))), word)

    def _value(self, match: re.Match[str], values: Mapping[str, Word]) -> Word:
        groups = match.groupdict()
        name = groups.get("braced") or groups["name"]
        if groups["dollar"]:
            return Word("$")
        if (groups.get("operator") or "").endswith("-"):
            return Word(groups["default"])
        return values.get(name) or Word(f"${{{name}}}", unresolved=(name,))


def read_manifest(text: str, start: int, state: ScriptState) -> bool:
    """Adds the commands of the containers in `text`, which begins at the offset `start` of the whole text.

    False where it is not YAML. Raises UsageError where it is such a file and cannot be read, or goes beyond a limit.
    """
    source = YamlSource(state.text, start, text)
    try:
        documents = source.documents()
    except MarkedYAMLError as error:
        if not _SURELY_YAML.search(text):
            return False
        try:
            for offset, message in repaired(source):
                at = start + offset
                state.problems.add("yaml", at, at + max(1, len(text[offset:].split("\n", 1)[0])), message)
            documents = source.documents()
        except MarkedYAMLError:
            message = f"line {source.line(error)} is not YAML: {error.problem}"
            raise UsageError(message, remedy="if it is a template, pass what it renders to") from None
    reader = _ManifestReader(source, state)
    before = len(state.commands)
    for document in documents:
        reader.collect(document)
    for document in documents:
        reader.document(document)
    # A text that only looks like YAML is read as what it is where it starts nothing so.
    return len(state.commands) > before or bool(_SURELY_YAML.search(text)) or reader.collected


def collect_config_maps(text: str, start: int, state: ScriptState) -> None:
    """Keeps the values of the ConfigMaps in a file for those that refer to them, in whichever order they are read."""
    source = YamlSource(state.text, start, text)
    with suppress(MarkedYAMLError):
        for document in source.documents():
            _ManifestReader(source, state).collect(document)


class _ManifestReader:
    def __init__(self, source: YamlSource, state: ScriptState) -> None:
        self.source, self.state = source, state
        self.fields, self.inner, self.word = source.fields, source.inner, source.word
        self.collected = False
        """Whether there are ConfigMaps in it."""

    # --- objects ---

    def document(self, node: Node) -> None:
        fields = self.fields(node)
        if "services" in fields and "apiVersion" not in fields:
            for name, service in self.fields(fields["services"]).items():
                self.container(service, _Surroundings(compose=True, label=name))
        else:
            self.visit(node, _Surroundings(label=scalar(self.inner(fields, "metadata", "name"))))

    def collect(self, node: Node) -> None:
        """The values of ConfigMaps, to which others refer by name and key."""
        for item in (node, *items(self.fields(node).get("items"))):
            fields = self.fields(item)
            if scalar(fields.get("kind")) == "ConfigMap":
                name = scalar(self.inner(fields, "metadata", "name"))
                values = self.fields(fields.get("data")).items()
                self.state.config_maps[name] = {key: self.word(value) for key, value in values}
                self.collected = True

    def visit(self, node: Node, around: _Surroundings, depth: int = 0) -> None:
        """All containers in it. What an alias stands for is read wherever it stands; it may hold itself."""
        self.state.budget.work(20, "its YAML")
        if depth > NESTING:
            raise too_deep("the YAML is")
        fields = self.fields(node)
        if "leaderWorkerTemplate" in fields:
            self._leader_and_workers(self.fields(fields["leaderWorkerTemplate"]), around, depth)
        elif scalar(fields.get("kind")) == "ConfigMap":
            for name, content in self.fields(fields.get("data")).items():
                word = self.word(content)
                self.state.files[name] = HereFile(name, word.text, word.line)
                self._texts(fields, content, replace(around, label=name))
        elif any(items(fields.get(name)) for name in ("command", "args", "entrypoint")):
            self.container(node, around)
        elif "Config" in fields and (inspected := self.fields(fields["Config"])).keys() & {"Cmd", "Entrypoint"}:
            self._inspected(inspected, self.fields(fields.get("HostConfig")), around)
        elif is_option_file(fields):
            self._option_file(node, around)
        elif words := option_words(merged_args(fields, self.source) or fields, self.source):
            image = fields.get("image")
            label = scalar(image) or around.label
            self.state.add(Command("fragment", words, (), {}, label=label or None, line=words[0].line))
        else:
            if "containers" in fields:
                around = replace(around, options=tuple(self._pod_options(fields)))
            for name, child in fields.items() if fields else (("", item) for item in items(node)):
                if not self._texts(fields, child, around) and not self._flags(child, fields, around):
                    label = name if self.fields(child) and not around.label else around.label
                    self.visit(child, replace(around, label=label), depth + 1)

    def _texts(self, fields: Fields, value: Node, around: _Surroundings) -> bool:
        """Whether the value is what a shell reads, with the variables that are set beside it; read if so."""
        found = False
        for word in shell_texts(value, self.source):
            variables = {**around.variables, **device_variables(fields, self.source)}
            variables |= dict(environment_of(fields, self.source))
            read_text(word, self.state, variables, around.label)
            found = True
        return found

    def _flags(self, value: Node, fields: Fields, around: _Surroundings) -> bool:
        """Whether the value is a list of flags, under whichever key; read if so."""
        words = [self.word(item) for item in items(value) if scalar(item)]
        text = scalar(value)
        if text.startswith("--") and " " in text:
            words = list(words_of(Source.inside(self.word(value), self.state.text), self.state))
        flags = [word.text for word in words if word.text.startswith("--")]
        if len(flags) < 2 or not words[0].text.startswith("-"):
            return False
        env = dict(environment_of(fields, self.source))
        self.state.add(Command("fragment", tuple(words), (), env, label=around.label or None, line=words[0].line))
        return True

    def _inspected(self, config: Fields, host: Fields, around: _Surroundings) -> None:
        """What `docker inspect` prints of a container."""
        words = [self.word(item) for key in ("Entrypoint", "Cmd") for item in items(config.get(key))]
        shell = Shell(self.state, Source.block(self.state.text, self.source.start, self.source.text))
        for item in items(config.get("Env")):
            name, equals, value = scalar(item).partition("=")
            if equals:
                shell.scope.set(name, replace(self.word(item), text=value, pieces=()), export=True)
        if not words:
            return
        image, before = config.get("Image"), len(self.state.commands)
        shell.command(words)
        at = self.word(image) if image is not None else words[0]
        network = scalar(host.get("NetworkMode"))
        options = (WrapperOption("--network", network, (at,)),) if network else ()
        container = Wrapper("docker run", (), options, at)
        self.state.commands[before:] = [
            replace(command, wrappers=(container, *command.wrappers)) for command in self.state.commands[before:]
        ]

    def _option_file(self, node: Node, around: _Surroundings) -> None:
        """Options of TensorRT-LLM, whose command is made elsewhere."""
        at = self.word(node)
        first = self.source.text.rfind("\n", 0, at_offset := self.source.offset_of(node)) + 1
        text = textwrap.dedent(" " * (at_offset - first) + self.source.text[at_offset : self.source.end_of(node)])
        name = f"{around.label or 'options'}.yaml"
        self.state.files[name] = HereFile(name, text, at.line)
        argv = (replace(at, text="--config", pieces=()), replace(at, text=name, pieces=()))
        self.state.add(Command("trtllm-serve", argv, (), {}, label=around.label or None, line=at.line))

    def _leader_and_workers(self, template: Fields, around: _Surroundings, depth: int) -> None:
        """A LeaderWorkerSet: `size` counts the leader too (https://lws.sigs.k8s.io/docs/reference/)."""
        workers = template.get("workerTemplate")
        pods = [template.get("leaderTemplate", workers)]
        size = scalar(template.get("size"))
        if size.isascii() and size.isdigit():
            if int(size[:9]) > COMMANDS:
                message = f"a LeaderWorkerSet has a size of {size[:9]}; the limit is {COMMANDS}"
                raise too_large(message, "write the size that you run")
            pods += [workers] * (int(size[:9]) - 1)
        for rank, pod in enumerate(pods):
            if pod is None:
                continue
            at = self.word(pod)
            variables = {
                "LWS_WORKER_INDEX": replace(at, text=str(rank)),
                "LWS_GROUP_SIZE": replace(at, text=str(len(pods))),
                "LWS_LEADER_ADDRESS": _unknown(at, "LWS_LEADER_ADDRESS"),
            }
            self.visit(pod, replace(around, variables=variables, label=f"node {rank}"), depth + 1)

    def _pod_options(self, pod: Fields) -> Iterator[Word]:
        if is_true(pod.get("hostNetwork")):
            yield from self._option("--network", "host", pod["hostNetwork"])
        for volume in items(pod.get("volumes")):
            if path := self.inner(self.fields(volume), "hostPath", "path"):
                yield from self._option("--volume", f"{scalar(path)}:{scalar(path)}", path)

    # --- containers ---

    def interpolated(self, node: Node, around: _Surroundings, values: Mapping[str, Word]) -> Word:
        self.state.budget.work(20, "its YAML")
        return around.interpolated(self.word(node), values, self.state.budget)

    def container(self, node: Node, around: _Surroundings) -> None:
        fields = self.fields(node)
        env = dict(self._environment(fields, around))
        keys = ("entrypoint", "command") if around.compose else ("command", "args")
        entrypoint, arguments = (self._argv(fields.get(key), around, env) for key in keys)
        words = [*entrypoint, *arguments]
        source = Source.block(self.state.text, self.source.start, self.source.text)
        shell = Shell(self.state, source, label=around.label)
        if image := fields.get("image"):
            at = self.word(node)
            options = [*around.options, *self._options(fields)]
            for name, value in env.items():
                options += (replace(at, text="--env"), replace(value, text=f"{name}={value.text}", pieces=()))
            if entrypoint:
                options += (replace(at, text="--entrypoint"), words.pop(0))
            start = (replace(at, text="docker"), replace(at, text="run"))
            before = len(self.state.commands)
            shell.command([*start, *options, self.interpolated(image, around, {}), *words])
            commands = [in_the_container(command, around.variables) for command in self.state.commands[before:]]
            self.state.commands[before:] = commands
        elif words and words[0].text.startswith("-"):
            # Arguments of a program that is named elsewhere.
            self.state.add(Command("fragment", tuple(words), (), env, label=around.label, line=words[0].line))
        elif words:
            for name, value in env.items():
                shell.scope.set(name, value, export=True)
            shell.command(words)

    def _argv(self, node: Node | None, around: _Surroundings, env: Mapping[str, Word]) -> Sequence[Word]:
        """A list of words, or in compose a text that is split into words as by a shell."""
        if not scalar(node) or node is None:
            return [self.interpolated(item, around, env) for item in items(node)]
        return words_of(Source.inside(self.interpolated(node, around, {}), self.state.text), self.state)

    def _environment(self, fields: Fields, around: _Surroundings) -> Iterator[tuple[str, Word]]:
        """Of compose a mapping or a list of `NAME=value`, of Kubernetes a list in which names refer to those before."""
        environment = fields.get("environment")
        for item in items(environment):
            word = self.interpolated(item, around, {})
            name, equals, value = word.text.partition("=")
            yield name, replace(word, text=value, pieces=()) if equals else _unknown(word, name)
        for name, node in self.fields(environment).items():
            word = self.interpolated(node, around, {})
            yield name, word if scalar(node) else _unknown(word, name)
        values = dict(around.variables)
        for variable in map(self.fields, items(fields.get("env"))):
            name = scalar(variable.get("name"))
            if "value" in variable:
                values[name] = self.interpolated(variable["value"], around, values)
            elif name:
                reference = self.fields(self.inner(variable, "valueFrom", "configMapKeyRef"))
                known = self.state.config_maps.get(scalar(reference.get("name")), {})
                values[name] = known.get(scalar(reference.get("key"))) or _unknown(self.word(variable["name"]), name)
        for source in map(self.fields, items(fields.get("envFrom"))):
            reference = self.fields(source.get("configMapRef"))
            values = {**self.state.config_maps.get(scalar(reference.get("name")), {}), **values}
        yield from values.items()

    def _options(self, fields: Fields) -> Iterator[Word]:
        """What the container is granted: keys of compose, then those of Kubernetes."""
        for key, option in _LISTS.items():
            for item in items(fields.get(key)):
                yield from self._granted(key, option, item)
        for key, option in _VALUES.items():
            if value := scalar(fields.get(key)):
                yield from self._option(option, value, fields[key])
        for device in items(self.inner(fields, "deploy", "resources", "reservations", "devices")):
            reserved = self.fields(device)
            count = scalar(reserved.get("count")) or str(len(items(reserved.get("device_ids"))) or "all")
            yield from self._option("--gpus", count, device)
        security = self.fields(fields.get("securityContext"))
        for privileged in (fields.get("privileged"), security.get("privileged")):
            if privileged is not None and is_true(privileged):
                yield replace(self.word(privileged), text="--privileged")
        for item in items(self.inner(security, "capabilities", "add")):
            yield from self._option("--cap-add", scalar(item), item)
        profile = self.inner(security, "seccompProfile", "type")
        if profile is not None and scalar(profile) == "Unconfined":
            yield from self._option("--security-opt", "seccomp=unconfined", profile)
        for name, limit in self.fields(self.inner(fields, "resources", "limits")).items():
            if _DEVICES.fullmatch(name):
                yield from self._option("--gpus", scalar(limit), limit)

    def _granted(self, key: str, option: str, item: Node) -> Iterator[Word]:
        """An item of a list, which for ports and volumes may be a mapping."""
        given = {name: scalar(value) for name, value in self.fields(item).items() if scalar(value)}
        if not given:
            yield from self._option(option, scalar(item), item)
        elif key == "volumes":
            yield from self._option("--mount", ",".join(f"{name}={value}" for name, value in given.items()), item)
        elif key == "ports" and "published" in given:
            parts = (given.get("host_ip", ""), given["published"], given.get("target", ""))
            yield from self._option(option, ":".join(part for part in parts if part), item)

    def _option(self, name: str, value: str, node: Node) -> tuple[Word, Word]:
        at = self.word(node)
        return replace(at, text=name, pieces=()), replace(at, text=value, pieces=())


def _unknown(at: Word, name: str) -> Word:
    """The value of a variable that is set elsewhere."""
    return replace(at, text=f"${{{name}}}", unresolved=(name,), pieces=())
