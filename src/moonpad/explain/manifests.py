"""Containers that YAML describes: services of compose, pods of Kubernetes, and lists of arguments elsewhere.

Each becomes the `docker run` that starts the same container, with its words at their places in the file, so that it is
read like one in a script. Sources: https://docs.docker.com/reference/compose-file/interpolation/,
https://kubernetes.io/docs/reference/kubernetes-api/ and https://lws.sigs.k8s.io/docs/reference/.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from yaml import MappingNode, Node

from moonpad.engines import foreign_names as names
from moonpad.explain import config_maps
from moonpad.explain.commands import Command, Word, Wrapper, WrapperOption, concatenated, whole_number
from moonpad.explain.containers import Container, read_container
from moonpad.explain.custom_resources import (
    controller_of,
    is_llm_service,
    runtimes_used,
    served_by_controller,
    with_runtime,
)
from moonpad.explain.input_limits import COMMANDS, NESTING, too_deep, too_large
from moonpad.explain.interpreter import ScriptState, Shell
from moonpad.explain.layout_keys import layout_of
from moonpad.explain.node_labels import cluster_of_label
from moonpad.explain.option_maps import list_words, model_named, option_commands
from moonpad.explain.pod_groups import PodGroup, groups_of_ranks, pod_group, ray_pods
from moonpad.explain.pods import PodReader
from moonpad.explain.programs import base_name, engine_commands, identify, program_named
from moonpad.explain.recipes import Served, served_by_recipe
from moonpad.explain.scope import Scope
from moonpad.explain.source_text import Source
from moonpad.explain.surroundings import Surroundings, unknown_value
from moonpad.explain.tasks import SET_BY_SCHEDULER, read_task
from moonpad.explain.yaml_repair import readable
from moonpad.explain.yaml_source import Fields, YamlSource, items, scalar

_SURELY_YAML: Final = re.compile(r"^(?:apiVersion|services):", re.MULTILINE)
_NO_COMMANDS: Final = frozenset(
    """
    annotations description managedFields metadata status readinessProbe livenessProbe startupProbe
    readiness_probe healthcheck lifecycle notes comment initContainer tolerations
    """.split()  # noqa: SIM905
)
"""Keys under which no engine is started."""
_OF_POD: Final = frozenset({"containers", "volumes", "nodeSelector", "affinity", "hostNetwork"})
_NESTED_YAML: Final = frozenset({"serveConfigV2", "values", "valuesContent", "valuesYaml"})
"""Keys whose text is YAML: of a RayService, of charts in Argo CD and others."""
_LEAST_LINES: Final = 2
_KIND_KEYS: Final = (
    *("instanceType", "instance_type", "machineType", "machine_type", "nodeType", "resourceProfile"),
    *("acceleratorType", "accelerator_type", "gpuType", "gpu_type", "gpuModel", "accelerator"),
)
"""Keys that name a type of machine or a kind of device."""
_SIDECAR: Final = "Always"
"""The restart policy of an init container that goes on running."""
_ROLES: Final = ("prefill", "decode")


def read_manifest(text: str, start: int, state: ScriptState) -> bool:
    """Adds the commands of the containers in `text`, which begins at the offset `start` of the whole text.

    False where it is not YAML. Lines that are no YAML are left out with a problem. Raises UsageError beyond a limit.
    """
    surely = bool(_SURELY_YAML.search(text))
    problems_before, commands_before = len(state.problems.items), state.budget.commands
    source, documents = readable(state, start, text, surely=surely)
    if source is None:
        return False
    reader = _ManifestReader(source, state, runtimes_used(documents, source))
    for document in documents:
        config_maps.remember(document, source, state)
    for document in documents:
        reader.document(document)
    if source.mended and not surely and state.budget.commands == commands_before:
        # A script or prose that was only like YAML.
        del state.problems.items[problems_before:]
        return False
    return True


class _ManifestReader:
    def __init__(self, source: YamlSource, state: ScriptState, runtimes: Mapping[str, Fields]) -> None:
        self.source, self.state, self.runtimes = source, state, runtimes
        self.merged: list[Node] = []
        """Made here, and kept: the source remembers nodes by their identity."""
        self.fields, self.inner, self.word = source.fields, source.inner, source.word
        self.pods = PodReader(source, state)

    # --- objects ---

    def document(self, node: Node) -> None:
        fields = self.fields(node)
        if "services" in fields and "apiVersion" not in fields:
            for name, service in self.fields(fields["services"]).items():
                self.pods.container(service, Surroundings(compose=True, label=name))
        elif scalar(fields.get("kind")).endswith("List") and "items" in fields:
            for item in self._not_owned(items(fields["items"])):
                self.document(item)
        else:
            label = scalar(self.inner(fields, "metadata", "name"))
            around = Surroundings(label=label, controller=controller_of(fields))
            before = self.state.budget.commands
            self.visit(node, replace(around, custom=bool(around.controller and "apiVersion" in fields)))
            if self.state.budget.commands > before:
                first = self.source.line_of(node.start_mark)
                self.state.objects.append((first, max(first, self.source.line_of(node.end_mark) - 1)))

    def _not_owned(self, nodes: Iterable[Node]) -> list[Node]:
        """Without the objects that a controller has made of others among them: the pods of a Deployment."""
        listed = [(node, self.fields(self.fields(node).get("metadata"))) for node in nodes]
        names = {scalar(metadata.get("name")) for _, metadata in listed}
        kept = []
        for node, metadata in listed:
            owners = {scalar(self.fields(owner).get("name")) for owner in items(metadata.get("ownerReferences"))}
            if not owners & names:
                kept.append(node)
        return kept

    def visit(self, node: Node, around: Surroundings, depth: int = 0) -> None:
        """All containers in it. What an alias stands for is read wherever it stands; it may hold itself."""
        self.state.budget.work(20, "its YAML")
        if depth > NESTING:
            raise too_deep("the YAML is")
        fields = self.fields(node)
        around = self._around(fields, around) if fields else around
        if self._left_out(fields) and around.controller:
            return
        if "base" in fields and any("override" in name for name in fields):
            fields = {"base": fields["base"]}  # the overrides are pieces of a recipe
        if group := pod_group(fields, self.source):
            self._leader_and_workers(group, around, depth)
        elif is_llm_service(fields):
            self._llm_service(self.fields(fields["spec"]), around, depth)
        elif scalar(fields.get("kind")) in ("ConfigMap", "Secret"):
            return
        elif scalar(fields.get("kind")).endswith("ServingRuntime") and around.label in self.runtimes:
            return  # it is read with what the InferenceService adds
        elif isinstance(node, MappingNode) and (runtime := self.runtimes.get(scalar(fields.get("runtime")))):
            self.merged.append(with_runtime(node, runtime, self.source))
            before = len(self.state.commands)
            self.pods.container(self.merged[-1], around)
            line = self.word(node).line
            self.state.commands[before:] = [replace(command, line=line) for command in self.state.commands[before:]]
        elif scalar(fields.get("modelCommand")) in names.COMMANDS_OF_CHART:
            self._made_by_chart(fields, around)
        elif scalar(fields.get("cell_type")) == "code":
            self._cell(fields, around)
        elif "Config" in fields and "Image" in self.fields(fields["Config"]):
            self._inspected(fields, around)
        elif self._is_container(fields):
            self.pods.container(node, around)
        elif (
            read_task(fields, around, self.source, self.state, self._script)
            or self._recipe(fields, around)
            or self._engine_options(fields, around)
        ):
            return
        else:
            if _OF_POD & fields.keys():
                around = self.pods.pod(fields, around)
            self._children(node, fields, around, depth)

    def _around(self, fields: Fields, around: Surroundings) -> Surroundings:
        """What its keys say of everything in it."""
        layout = layout_of(fields, self.source)
        labels = self.fields(self.inner(fields, "metadata", "labels"))
        roles = [scalar(fields.get(key)) for key in ("subComponentType", "componentType", "role", "type", "name")]
        roles += [scalar(node) for key, node in labels.items() if key.rpartition("/")[2] == "role"]
        counts = (self.inner(fields, "multinode", "nodeCount"), fields.get("lwsGroupSize"))
        pods = next((number for node in counts if (number := whole_number(scalar(node)))), around.pods)
        pods = ray_pods(fields, self.source) or groups_of_ranks(layout) or pods
        return replace(
            around,
            layout={**around.layout, **layout} if layout else around.layout,
            role=next((role for role in roles if role in _ROLES), around.role),
            pods=max(1, pods),
            devices=None if "raySpec" in fields else self.pods.devices(fields) or around.devices,
            model=model_named(fields, self.source) or around.model,
            kinds=tuple(self._kinds(fields)) or around.kinds,
        )

    def _kinds(self, fields: Fields) -> Iterator[str]:
        asked = [fields, *(self.fields(fields.get(part)) for part in ("resource", "resources"))]
        for value in (scalar(part.get(key)) for part in asked for key in _KIND_KEYS if key in part):
            name, colon, count = value.rpartition(":")
            if colon and count.isdigit() and (kind := cluster_of_label(name)):
                yield f"{count}x{kind.rpartition('x')[2]}"  # `nvidia-gpu-h200:8`
            elif kind := cluster_of_label(value):
                yield kind
        for label in items(self.inner(fields, "acceleratorTypes", "labelValues")):
            if kind := cluster_of_label(scalar(label)):
                yield kind

    def _children(self, node: Node, fields: Fields, around: Surroundings, depth: int) -> None:
        both = (
            all(not self._left_out(self.fields(fields.get(role))) for role in _ROLES) and set(_ROLES) <= fields.keys()
        )
        for name, child in fields.items():
            if name == "initContainers":
                for container in items(child):
                    if scalar(self.fields(container).get("restartPolicy")) == _SIDECAR:
                        self._child("", container, around, depth + 1)
            elif name not in _NO_COMMANDS:
                inside = replace(around, role=name) if both and name in _ROLES else around
                self._child(name, child, inside, depth + 1)
        for child in items(node):
            self._child("", child, around, depth + 1)

    @staticmethod
    def _left_out(fields: Fields) -> bool:
        """What a chart is told not to make."""
        return any(scalar(fields.get(key)).lower() == "false" for key in ("create", "enabled"))

    def _child(self, name: str, node: Node, around: Surroundings, depth: int) -> None:
        """A mapping, a list of words under any key, or a text that is a script."""
        words = [scalar(item) for item in items(node)]
        if words and all(words) and (words[0].startswith("-") or self._starts_engine(items(node))):
            self._list(node, around)
        elif text := scalar(node):
            if name in _NESTED_YAML and self._nested(node):
                return
            if any(text.find(start) >= 0 for start in engine_commands()):
                self._script(self.word(node), {}, around, name)
        else:
            self.visit(node, around, depth)

    def _nested(self, node: Node) -> bool:
        """YAML in a value of YAML, whose lines are all indented alike."""
        word = self.word(node)
        if len(word.pieces) < _LEAST_LINES or not all(piece.exact for piece in word.pieces):
            return False
        first, last = word.pieces[0].source_start - self.source.start, word.pieces[-1].source_end - self.source.start
        first = self.source.text.rfind("\n", 0, first) + 1
        return read_manifest(self.source.text[first:last], self.source.start + first, self.state)

    def _starts_engine(self, nodes: Sequence[Node]) -> bool:
        words = [self.word(node) for node in nodes[:6]]
        return identify(words) is not None or (base_name(words[0]) in ("bash", "sh") and len(words) > 1)

    def _list(self, node: Node, around: Surroundings) -> None:
        before = len(self.state.commands)
        words = [self.pods.interpolated(item, around, around.variables) for item in items(node)]
        if not words[0].text.startswith("-"):
            Shell(self.state, Source.block(self.state.text, self.source.start, self.source.text)).command(words)
        elif sum(word.text.startswith("--") for word in words) > 1:
            argv = tuple(list_words(node, self.source))
            self.state.add(Command("fragment", argv, (), {}, label=around.label, line=words[0].line))
        self.pods.deployed(before, around, words[0].line, around.devices)

    def _script(self, word: Word, env: Mapping[str, Word], around: Surroundings, label: str = "") -> None:
        """A text that a shell runs."""
        scope = Scope({name: value for name, value in env.items() if not name.startswith(SET_BY_SCHEDULER)})
        scope.variables.update({**around.variables, **env})
        shell = Shell(self.state, Source.inside(word, self.state.text), scope, label=around.label or label)
        before = len(self.state.commands)
        shell.read()
        self.state.commands[before:] = [
            command if command.program != "other" else replace(command, env={})
            for command in self.state.commands[before:]
        ]
        self.pods.deployed(before, replace(around, controller=""), word.line)

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

    # --- what others make a command of ---

    def _engine_options(self, fields: Fields, around: Surroundings) -> bool:
        """Mappings of an engine's options, `engine: vllm` with `engine_args:`, `--flag: value`."""
        options = list(option_commands(fields, self.source, around.model))
        env = {**around.variables, **dict(self.pods.environment(fields, around))} if options else {}
        for found in options:
            devices = around.devices
            before = len(self.state.commands)
            granted = (WrapperOption("--gpus", devices.text, (devices,)),) if devices is not None else ()
            wrappers = (Wrapper("docker run", (), granted, found.image),) if found.image is not None else ()
            frame = Command("", (), (), env, wrappers, label=around.label, by_ray="model_loading_config" in fields)
            self._add(found.program, found.argv, frame)
            around = around if found.chart else replace(around, controller="")
            self.pods.deployed(before, around, self.state.commands[-1].line, devices)
        return bool(options)

    def _recipe(self, fields: Fields, around: Surroundings) -> bool:
        served: list[Served] = list(served_by_recipe(fields, self.source))
        condition = len(self.state.conditions)
        for server in served:
            arms: tuple[tuple[int, int], ...] = ()
            if server.arm is not None and len(served) > 1:
                self.state.conditions.setdefault(id(served), (condition, served))
                arms = ((condition, server.arm),)
            if server.machine:
                self.state.machines.append((server.line, server.machine))
            frame = Command(
                *("", (), (), server.env),
                label=around.label,
                arms=arms,
                pods=server.pods,
                role=server.role,
                more=server.more,
                files=server.files,
            )
            self.state.files.update(server.files)
            self._add(server.program, server.argv, frame, server.line)
        return bool(served)

    def _add(self, program: str, argv: Sequence[Word], frame: Command, line: int = 0) -> None:
        """A command of that program, with everything else as in `frame`."""
        named = program_named(program)
        start = (named.start if named else "") or program
        prefix = tuple(replace(argv[0], text=text, pieces=(), unresolved=()) for text in start.split())
        places = [at for at, word in enumerate(argv[:-1]) if word.text == "--model"]
        if places and named is not None and named.positional_model == start.rpartition(" ")[2]:
            at = places[0]
            argv = (argv[at + 1], *argv[:at], *argv[at + 2 :])
        self.state.add(replace(frame, program=program, argv=tuple(argv), prefix=prefix, line=line or argv[0].line))

    def _made_by_chart(self, container: Fields, around: Surroundings) -> None:
        """A container of llm-d's chart, which puts the program, the model and the layout before its arguments."""
        before, env = len(self.state.commands), dict(self.pods.environment(container, around))
        image = self.word(container["image"]) if "image" in container else None
        wrappers = (Wrapper("docker run", (), (), image),) if image is not None else ()
        words = [word for word in (around.model,) if word is not None]
        if "args" in container:
            words += list_words(container["args"], self.source)
        words = words or [Word("MODEL", unresolved=("MODEL",))]
        self._add(names.OF_LLM_SERVICE, words, Command("", (), (), env, wrappers, label=around.label))
        devices = self.pods.devices(container)
        line = self.state.commands[-1].line
        self.pods.deployed(before, replace(around, controller=""), line, devices)

    def _llm_service(self, spec: Fields, around: Surroundings, depth: int) -> None:
        """Of KServe: the controller makes the command of the parallelism and of one variable."""
        around = self._around(spec, around)
        for served in served_by_controller(spec, around, self.source):
            pod = self.pods.pod(served.pod, replace(served.around, devices=self.pods.devices(served.container)))
            if served.node is not None and self._is_container(served.container) and not served.only_arguments:
                self.pods.container(served.node, pod)
                continue
            env = dict(self.pods.environment(served.container, pod))
            before = len(self.state.commands)
            self._add(served.program, served.words(env), Command("", (), (), env, label=around.label))
            self.pods.deployed(before, replace(pod, controller=""), self.state.commands[-1].line, pod.devices)

    def _leader_and_workers(self, group: PodGroup, around: Surroundings, depth: int) -> None:
        if group.size > COMMANDS:
            message = f"a LeaderWorkerSet has a size of {group.size}; the limit is {COMMANDS}"
            raise too_large(message, "write the size that you run")
        index, size, address = group.variables
        for rank in range(group.size):
            pod = group.worker if rank else group.leader
            if pod is None:
                continue
            at = self.word(pod)
            variables = {
                index: replace(at, text=str(rank)),
                size: replace(at, text=str(group.size)),
                address: unknown_value(at, address),
            }
            label = f"node {rank}"
            self.visit(pod, replace(around, variables=variables, label=label, pods=group.size), depth + 1)
