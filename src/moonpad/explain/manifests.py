"""Containers that YAML describes: services of compose, pods of Kubernetes, and lists of arguments elsewhere.

Each becomes the `docker run` that starts the same container, with its words at their places in the file, so that it is
read like one in a script. Sources: https://docs.docker.com/reference/compose-file/services/,
https://docs.docker.com/reference/compose-file/interpolation/,
https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container and
https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from yaml import Node

from moonpad.explain.commands import Command, HereFile, Word, concatenated
from moonpad.explain.containers import Container, read_container
from moonpad.explain.input_limits import COMMANDS, NESTING, too_deep, too_large
from moonpad.explain.interpreter import ScriptState, Shell, words_of
from moonpad.explain.option_maps import option_commands
from moonpad.explain.programs import base_name, engine_commands, identify, program_named
from moonpad.explain.scope import Scope
from moonpad.explain.source_text import Source
from moonpad.explain.surroundings import Surroundings, unknown_value
from moonpad.explain.yaml_repair import readable
from moonpad.explain.yaml_source import Fields, YamlSource, is_true, items, scalar

_SURELY_YAML: Final = re.compile(r"^(?:apiVersion|services):", re.MULTILINE)
_DEVICES: Final = re.compile(r"gpu|(?:nvidia|amd)\.com/gpu|huawei\.com/Ascend\w*")

# Keys of a compose service → the option of `docker run`, for each item of a list, and for one value.
_LISTS: Final = {
    "ports": "--publish",
    "volumes": "--volume",
    "cap_add": "--cap-add",
    "security_opt": "--security-opt",
    "devices": "--device",
}
_VALUES: Final = {"network_mode": "--network", "shm_size": "--shm-size", "gpus": "--gpus", "ipc": "--ipc"}


_NO_COMMANDS: Final = frozenset(
    """
    annotations description managedFields metadata status readinessProbe livenessProbe startupProbe
    readiness_probe healthcheck lifecycle notes comment
    """.split()  # noqa: SIM905
)
"""Keys under which no engine is started."""


def read_manifest(text: str, start: int, state: ScriptState) -> bool:
    """Adds the commands of the containers in `text`, which begins at the offset `start` of the whole text.

    False where it is not YAML. Lines that are no YAML are left out with a problem. Raises UsageError beyond a limit.
    """
    surely = bool(_SURELY_YAML.search(text))
    problems_before, commands_before = len(state.problems.items), state.budget.commands
    source, documents = readable(state, start, text, surely=surely)
    if source is None:
        return False
    reader = _ManifestReader(source, state)
    for document in documents:
        reader.config_maps(document)
    for document in documents:
        reader.document(document)
    reader.unused_scripts()
    if source.mended and not surely and state.budget.commands == commands_before:
        # A script or prose that was only like YAML.
        del state.problems.items[problems_before:]
        return False
    return True


class _ManifestReader:
    def __init__(self, source: YamlSource, state: ScriptState) -> None:
        self.source, self.state = source, state
        self.fields, self.inner, self.word = source.fields, source.inner, source.word

    # --- objects ---

    def document(self, node: Node) -> None:
        fields = self.fields(node)
        if "services" in fields and "apiVersion" not in fields:
            for name, service in self.fields(fields["services"]).items():
                self.container(service, Surroundings(compose=True, label=name))
        else:
            self.visit(node, Surroundings(label=scalar(self.inner(fields, "metadata", "name"))))

    def visit(self, node: Node, around: Surroundings, depth: int = 0) -> None:
        """All containers in it. What an alias stands for is read wherever it stands; it may hold itself."""
        self.state.budget.work(20, "its YAML")
        if depth > NESTING:
            raise too_deep("the YAML is")
        fields = self.fields(node)
        if "leaderWorkerTemplate" in fields:
            self._leader_and_workers(self.fields(fields["leaderWorkerTemplate"]), around, depth)
        elif scalar(fields.get("kind")) == "ConfigMap":
            return
        elif scalar(fields.get("cell_type")) == "code":
            self._cell(fields, around)
        elif "Config" in fields and "Image" in self.fields(fields["Config"]):
            self._inspected(fields, around)
        elif self._is_container(fields):
            self.container(node, around)
        elif self._task(fields, around) or self._engine_options(fields, around):
            return
        else:
            if "containers" in fields:
                around = replace(around, options=tuple(self._pod_options(fields)))
            for name, child in fields.items():
                if name not in _NO_COMMANDS:
                    self._child(name, child, around, depth + 1)
            for child in items(node):
                self._child("", child, around, depth + 1)

    def _child(self, name: str, node: Node, around: Surroundings, depth: int) -> None:
        """A mapping, a list of words under any key, or a text that is a script."""
        words = [scalar(item) for item in items(node)]
        if words and all(words) and (words[0].startswith("-") or self._starts_engine(items(node))):
            self._list(node, around)
        elif text := scalar(node):
            if any(text.find(start) >= 0 for start in engine_commands()):
                self._script(self.word(node), {}, around, name)
        else:
            self.visit(node, around, depth)

    def _starts_engine(self, nodes: Sequence[Node]) -> bool:
        words = [self.word(node) for node in nodes[:6]]
        return identify(words) is not None or (base_name(words[0]) in ("bash", "sh") and len(words) > 1)

    def _list(self, node: Node, around: Surroundings) -> None:
        words = [self.interpolated(item, around, around.variables) for item in items(node)]
        if not words[0].text.startswith("-"):
            Shell(self.state, Source.block(self.state.text, self.source.start, self.source.text)).command(words)
        elif sum(word.text.startswith("--") for word in words) > 1:
            self.state.add(Command("fragment", tuple(words), (), {}, label=around.label, line=words[0].line))

    def _script(self, word: Word, env: Mapping[str, Word], around: Surroundings, label: str = "") -> None:
        """A text that a shell runs."""
        scope = Scope({**around.variables, **env})
        shell = Shell(self.state, Source.inside(word, self.state.text), scope, label=around.label or label)
        before = len(self.state.commands)
        shell.read()
        self.state.commands[before:] = [
            command if command.program != "other" else replace(command, env={})
            for command in self.state.commands[before:]
        ]

    @staticmethod
    def _is_container(fields: Fields) -> bool:
        return any(items(fields.get(name)) for name in ("command", "args", "entrypoint")) or (
            "image" in fields and any(scalar(fields.get(name)) for name in ("command", "args"))
        )

    def _cell(self, fields: Fields, around: Surroundings) -> None:
        """A cell of a notebook: its lines behind `!`, or a whole cell behind `%%bash`."""
        lines = [self.word(line) for line in items(fields.get("source"))] or [self.word(fields["source"])]
        whole = concatenated(lines, lines[0])
        if not any(start in whole.text for start in engine_commands()):
            return
        text = re.sub(r"^%%\w+.*$|^[ \t]*[!%]", lambda mark: " " * len(mark.group()), whole.text, flags=re.MULTILINE)
        self._script(replace(whole, text=text), {}, around)

    def _inspected(self, fields: Fields, around: Surroundings) -> None:
        """What `docker inspect` prints of a container."""
        config = self.fields(fields["Config"])
        env: dict[str, Word] = {}
        for word in map(self.word, items(config.get("Env"))):
            name, _, value = word.text.partition("=")
            env[name] = replace(word, text=value, pieces=())
        entrypoint, arguments = ([self.word(item) for item in items(config.get(key))] for key in ("Entrypoint", "Cmd"))
        source = Source.block(self.state.text, self.source.start, self.source.text)
        label = scalar(fields.get("Name")).strip("/") or around.label
        at = self.word(fields["Config"])
        read_container(
            Container(at, self.word(config["Image"]), entrypoint, arguments, env, label=label), source, self.state
        )

    # --- tasks: SkyPilot, dstack ---

    def _task(self, fields: Fields, around: Surroundings) -> bool:
        """`run:` and `setup:` (https://docs.skypilot.co/en/latest/reference/yaml-spec.html), or `commands:`
        (https://dstack.ai/docs/reference/dstack.yml/service/), also in the groups of `replicas:`."""
        env = {**around.variables, **dict(self._task_environment(fields))}
        around = replace(around, variables=env)
        resources = self.fields(fields.get("resources"))
        accelerators = resources.get("accelerators") or resources.get("gpu") or fields.get("gpu")
        named = self._accelerators(accelerators)
        if count := next((match[2] for match in named if match[2]), ""):
            at = self.word(fields["resources"]) if "resources" in fields else Word("")
            names = ("DSTACK_GPUS_NUM", "DSTACK_GPUS_PER_NODE", "SKYPILOT_NUM_GPUS_PER_NODE")
            env |= {name: replace(at, text=count, pieces=()) for name in names}
        groups = [group for group in items(fields.get("replicas")) if "commands" in self.fields(group)]
        for group in groups:
            self._task(self.fields(group), around)
        if commands := items(fields.get("commands")):
            for word in [self.word(command) for command in commands]:
                self._script(word, env, around)
            return True
        scripts = [fields[name] for name in ("setup", "run") if scalar(fields.get(name))]
        if not scripts or not (resources or fields.keys() & {"envs", "env", "setup", "num_nodes", "workdir"}):
            return bool(groups)
        for script in scripts:
            self._script(self.word(script), env, around)
        return True

    def _task_environment(self, fields: Fields) -> Iterator[tuple[str, Word]]:
        for key in ("envs", "env"):
            for name, node in self.fields(fields.get(key)).items():
                yield name, self.word(node) if scalar(node) else unknown_value(self.word(node), name)
            for item in items(fields.get(key)):
                word = self.word(item)
                name, equals, value = word.text.partition("=")
                if name:
                    yield name, replace(word, text=value, pieces=()) if equals else unknown_value(word, name)

    def _accelerators(self, node: Node | None) -> list[tuple[Word, str, str]]:
        """`H200:8`, `{H200: 8, H20: 8}`, `{H200:8, H20:8}`, `[H200:8, H100:8]`: the words, kind and count of each."""
        given: list[tuple[Word, str, str]] = []
        named = [*items(node)] or ([node] if scalar(node) and node is not None else [])
        for name, number in self.fields(node).items():
            kind, _, inner = name.partition(":")
            if node is not None:
                given.append((self.word(node), kind, inner or scalar(number)))
        for word in map(self.word, named):
            parts = word.text.split(":")
            given.append((word, parts[0], next((part for part in parts[1:] if part.isdigit()), "1")))
        for word, kind, count in given:
            self.state.machines.append((word.line, f"{count}x{kind}"))
        return given

    # --- options as keys ---

    def _engine_options(self, fields: Fields, around: Surroundings) -> bool:
        """Mappings of an engine's options, `engine: vllm` with `engine_args:`, `--flag: value`."""
        commands = list(option_commands(fields, self.source))
        for program, argv in commands:
            named = program_named(program)
            start = (named.start if named else "") or program
            prefix = tuple(replace(argv[0], text=text, pieces=()) for text in start.split())
            env = dict(around.variables)
            self.state.add(Command(program, tuple(argv), prefix, env, label=around.label, line=argv[0].line))
        return bool(commands)

    # --- scripts of config maps ---

    def config_maps(self, node: Node, depth: int = 0) -> None:
        """Remembers what ConfigMaps hold, before what uses them is read."""
        fields = self.fields(node)
        if scalar(fields.get("kind")) == "ConfigMap":
            for name, content in self.fields(fields.get("data")).items():
                word = self.word(content)
                self.state.files[name] = HereFile(name, word.text, word.line)
                if any(start in word.text for start in engine_commands()):
                    self.state.scripts[name] = word
        elif depth < NESTING:
            for item in items(fields.get("items")):
                self.config_maps(item, depth + 1)

    def unused_scripts(self) -> None:
        """Those that no command of the file runs."""
        from moonpad.explain.input_kinds import read_unused

        read_unused(self.state)

    def _leader_and_workers(self, template: Fields, around: Surroundings, depth: int) -> None:
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
                "LWS_LEADER_ADDRESS": unknown_value(at, "LWS_LEADER_ADDRESS"),
            }
            self.visit(pod, replace(around, variables=variables, label=f"node {rank}"), depth + 1)

    def _pod_options(self, pod: Fields) -> Iterator[Word]:
        if is_true(pod.get("hostNetwork")):
            yield from self._option("--network", "host", pod["hostNetwork"])
        for volume in items(pod.get("volumes")):
            if path := self.inner(self.fields(volume), "hostPath", "path"):
                yield from self._option("--volume", f"{scalar(path)}:{scalar(path)}", path)

    # --- containers ---

    def interpolated(self, node: Node, around: Surroundings, values: Mapping[str, Word]) -> Word:
        self.state.budget.work(20, "its YAML")
        return around.interpolated(self.word(node), values, self.state.budget)

    def container(self, node: Node, around: Surroundings) -> None:
        fields = self.fields(node)
        env = dict(self._environment(fields, around))
        keys = ("entrypoint", "command") if around.compose else ("command", "args")
        entrypoint, arguments = (self._argv(fields.get(key), around, env) for key in keys)
        words = [*entrypoint, *arguments]
        source = Source.block(self.state.text, self.source.start, self.source.text)
        shell = Shell(self.state, source, label=around.label)
        if image := fields.get("image"):
            options = (*around.options, *self._options(fields))
            place = self.interpolated(image, around, {})
            container = Container(
                *(self.word(node), place, entrypoint, arguments, env, options), around.label, around.variables
            )
            read_container(container, source, self.state)
        elif words and words[0].text.startswith("-"):
            # Arguments of a program that is named elsewhere.
            self.state.add(Command("fragment", tuple(words), (), env, label=around.label, line=words[0].line))
        elif words:
            for name, value in env.items():
                shell.scope.set(name, value, export=True)
            shell.command(words)

    def _argv(self, node: Node | None, around: Surroundings, env: Mapping[str, Word]) -> Sequence[Word]:
        """A list of words, or in compose a text that is split into words as by a shell."""
        if not scalar(node) or node is None:
            return [self.interpolated(item, around, env) for item in items(node)]
        return words_of(Source.inside(self.interpolated(node, around, {}), self.state.text), self.state)

    def _environment(self, fields: Fields, around: Surroundings) -> Iterator[tuple[str, Word]]:
        """Of compose a mapping or a list of `NAME=value`, of Kubernetes a list in which names refer to those before."""
        environment = fields.get("environment")
        for item in items(environment):
            word = self.interpolated(item, around, {})
            name, equals, value = word.text.partition("=")
            yield name, replace(word, text=value, pieces=()) if equals else unknown_value(word, name)
        for name, node in self.fields(environment).items():
            word = self.interpolated(node, around, {})
            yield name, word if scalar(node) else unknown_value(word, name)
        values = dict(around.variables)
        for variable in map(self.fields, items(fields.get("env"))):
            name = scalar(variable.get("name"))
            if "value" in variable:
                values[name] = self.interpolated(variable["value"], around, values)
            elif name:
                values[name] = unknown_value(self.word(variable["name"]), name)
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
