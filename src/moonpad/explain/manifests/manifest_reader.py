"""Containers that YAML describes: services of compose, pods of Kubernetes, and lists of arguments elsewhere.

Each becomes the `docker run` that starts the same container, with its words at their places in the file, so that it is
read like one in a script. Sources: https://docs.docker.com/reference/compose-file/interpolation/,
https://kubernetes.io/docs/reference/kubernetes-api/ and https://lws.sigs.k8s.io/docs/reference/.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from yaml import MappingNode, Node

from moonpad.engines import foreign_names as engines
from moonpad.explain.commands import Command, Word, whole_number
from moonpad.explain.documents.surroundings import Surroundings, unknown_value
from moonpad.explain.input_limits import COMMANDS, NESTING, too_deep, too_large
from moonpad.explain.manifests import config_maps, tested_servers
from moonpad.explain.manifests.containers import Container, read_container
from moonpad.explain.manifests.custom_resources import (
    controller_of,
    is_custom,
    is_llm_service,
    is_schema,
    lone_role_of,
    runtimes_used,
    with_runtime,
)
from moonpad.explain.manifests.fill_ins import fill_ins, filled_in
from moonpad.explain.manifests.folded_text import folded, unfolded
from moonpad.explain.manifests.layout_keys import layout_of
from moonpad.explain.manifests.made_commands import MadeCommands
from moonpad.explain.manifests.node_labels import kinds_of
from moonpad.explain.manifests.notebook_cells import CELLS, shell_texts
from moonpad.explain.manifests.option_maps import has_bare_json, list_words, model_named, named_by_key
from moonpad.explain.manifests.pod_groups import PodGroup, groups_of_ranks, pod_group, ray_pods
from moonpad.explain.manifests.pods import PodReader, is_container
from moonpad.explain.manifests.tasks import SET_BY_SCHEDULER, read_task
from moonpad.explain.manifests.tried_options import is_tried
from moonpad.explain.manifests.yaml_repair import readable
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar
from moonpad.explain.programs import base_name, identify, names_engine_command
from moonpad.explain.roles import ROLES, roles_of
from moonpad.explain.shell.env_files import DEFAULT, variables_in
from moonpad.explain.shell.interpreter import ScriptState, Shell, words_of
from moonpad.explain.shell.scope import Scope
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_SURELY_YAML: Final = re.compile(r"^(?:apiVersion|services):", re.MULTILINE)
_NO_COMMANDS: Final = frozenset(
    """
    annotations description managedFields metadata status readinessProbe livenessProbe startupProbe
    readiness_probe healthcheck lifecycle notes comment initContainer tolerations
    """.split()  # noqa: SIM905
)
"""Keys under which no engine is started."""
_OF_OTHERS: Final = re.compile(
    r"(?i:(?:device|docker|podman|nerdctl|apptainer|singularity|srun|sbatch|slurm|mpi(?:run)?)_?(?:args|options|flags))"
)
"""Keys whose words are for what starts the container or the job."""
_RUNS: Final = frozenset({"command", "cmd", "entrypoint", "exec", "run", "script"})  # others name a program's place
_OF_POD: Final = frozenset({"containers", "volumes", "nodeSelector", "affinity", "hostNetwork"})
_NESTED_YAML: Final = frozenset({"serveConfigV2", "values", "valuesContent", "valuesYaml", "patch"})
"""Keys whose text is YAML: of a RayService, of charts in Argo CD, of a kustomization and others."""
_LEAST_LINES: Final = 2
_SIDECAR: Final = "Always"
"""The restart policy of an init container that goes on running."""
_FLAG: Final = re.compile(r"--[^\s-]")


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
    objects = [source.fields(document) for document in documents]
    reader.roles = roles_of(scalar(source.inner(fields, "metadata", "name")) for fields in objects)
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
        self.roles: Mapping[str, str] = {}
        """Of objects, by their names."""
        self.taken: frozenset[int] = frozenset()
        """Lists at the top of a document that stand in it again."""
        self.merged: list[Node] = []
        """Made here, and kept: the source remembers nodes by their identity."""
        self.fields, self.inner, self.word = source.fields, source.inner, source.word
        self.pods = PodReader(source, state)
        self.made = MadeCommands(self.pods)

    # --- objects ---

    def document(self, node: Node, depth: int = 0) -> None:
        self.state.budget.work(40, "its YAML")
        if depth > NESTING:
            raise too_deep("the YAML is")
        fields = self.fields(node)
        self.taken = tested_servers.lists_taken_elsewhere(node, self.source)
        if self._is_suite(fields):
            return
        if "services" in fields and "apiVersion" not in fields:
            services = self.fields(fields["services"])
            roles = roles_of(services)
            given = dict(variables_in(self.state.files, DEFAULT))
            for name, service in services.items():
                role = roles.get(name, "")
                self.pods.container(service, Surroundings(compose=True, label=name, role=role, parameters=given))
        elif scalar(fields.get("kind")).endswith("List") and "items" in fields:
            for item in self._not_owned(items(fields["items"])):
                self.document(item, depth + 1)
        else:
            label = scalar(self.inner(fields, "metadata", "name"))
            around = Surroundings(
                label=label, controller=controller_of(fields, self.source), role=self.roles.get(label, "")
            )
            around = replace(around, parameters=dict(self._parameters(fields)))
            before = self.state.budget.commands
            self.visit(node, replace(around, custom=bool(around.controller) and is_custom(fields)))
            if self.state.budget.commands > before:
                first = self.source.line_of(node.start_mark)
                self.state.objects.append((first, max(first, self.source.last_line(node))))

    def _is_suite(self, fields: Fields) -> bool:
        """Tests of a chart (github.com/helm-unittest/helm-unittest): values for a template, which nobody installs."""
        if "tests" not in fields or not {"suite", "templates"} & fields.keys():
            return False
        return any({"asserts", "documentIndex"} & self.fields(test).keys() for test in items(fields["tests"]))

    def _parameters(self, fields: Fields) -> Iterator[tuple[str, Word]]:
        """Of a template of OpenShift, those that have a value."""
        for parameter in map(self.fields, items(fields.get("parameters"))) if "objects" in fields else ():
            if name := scalar(parameter.get("name")):
                given = parameter.get("value")
                at = self.word(parameter["name"])
                yield name, self.word(given) if given is not None else unknown_value(at, name)

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
        self.state.budget.work(40, "its YAML")
        if depth > NESTING:
            raise too_deep("the YAML is")
        fields = self.fields(node)
        self.state.budget.work(8 * len(fields), "its YAML")
        if is_schema(fields):
            return  # the types of values that are written elsewhere
        around = self._around(fields, around) if fields else around
        if _OF_POD & fields.keys():
            around = self.pods.pod(fields, around)
        if self._left_out(fields) and around.controller:
            return
        if "base" in fields and any("override" in name for name in fields):
            fields = {"base": fields["base"]}  # the overrides are pieces of a recipe
        if group := pod_group(fields, self.source):
            self._leader_and_workers(group, around, depth)
        elif is_llm_service(fields):
            spec = self.fields(fields["spec"])
            self.made.llm_service(spec, self._around(spec, around))
        elif scalar(fields.get("kind")) in ("ConfigMap", "Secret", "CustomResourceDefinition"):
            return  # data, or the schema of objects that are written elsewhere
        elif scalar(fields.get("kind")).endswith("ServingRuntime") and around.label in self.runtimes:
            return  # it is read with what the InferenceService adds
        elif isinstance(node, MappingNode) and (runtime := self.runtimes.get(scalar(fields.get("runtime")))):
            self.merged.append(with_runtime(node, runtime, self.source))
            before = len(self.state.commands)
            self.pods.container(self.merged[-1], around)
            line = self.word(node).line
            self.state.commands[before:] = [replace(command, line=line) for command in self.state.commands[before:]]
        elif scalar(fields.get("modelCommand")) in engines.COMMANDS_OF_CHART:
            self.made.by_chart(fields, around)
        elif (kind := scalar(fields.get("cell_type"))) in CELLS:
            for text in shell_texts(fields, kind, self.source, self.state):
                self._script(text, {}, around)
        elif "Config" in fields and "Image" in self.fields(fields["Config"]):
            self._inspected(fields, around)
        elif is_container(fields):
            self.pods.container(node, around)
        elif (
            read_task(fields, around, self.source, self.state, self._script)
            or self.made.recipe(fields, around)
            or self.made.engine_options(fields, around, alone=self._is_whole(around, depth))
        ):
            return
        else:
            self._children(node, fields, around, depth)

    def _around(self, fields: Fields, around: Surroundings) -> Surroundings:
        """What its keys say of everything in it."""
        layout = layout_of(fields, self.source)
        labels = self.fields(self.inner(fields, "metadata", "labels"))
        roles = [scalar(fields.get(key)) for key in ("subComponentType", "componentType", "role", "type", "name")]
        roles += [scalar(node) for key, node in labels.items() if key.rpartition("/")[2] == "role"]
        lone_role = lone_role_of(fields, self.source) or around.lone_role
        counts = (self.inner(fields, "multinode", "nodeCount"), fields.get("lwsGroupSize"))
        pods = next((number for node in counts if (number := whole_number(scalar(node)))), around.pods)
        pods = ray_pods(fields, self.source) or groups_of_ranks(layout) or pods
        if "workerSpec" in fields and "pp" in layout:
            pods = whole_number(layout["pp"].text) or pods  # of KServe: a stage in each pod
        return replace(
            around,
            layout={**around.layout, **layout} if layout else around.layout,
            role=next((role for role in roles if role in ROLES and role != lone_role), around.role),
            lone_role=lone_role,
            pods=max(1, pods),
            devices=None if "raySpec" in fields else self.pods.devices(fields) or around.devices,
            model=model_named(fields, self.source) or around.model,
            kinds=tuple(filter(None, (*kinds_of(fields, self.source), tested_servers.npus_of(fields, self.source))))
            or around.kinds,
            common=tested_servers.common_environment(fields, self.source) or around.common,
            fill_ins=fill_ins(fields, self.source) or around.fill_ins,
        )

    def _children(self, node: Node, fields: Fields, around: Surroundings, depth: int) -> None:
        beside = tested_servers.environment_beside(fields, self.source, around.common)
        around = replace(around, beside=beside) if fields else around
        roles = roles_of(name for name, child in fields.items() if not self._left_out(self.fields(child)))
        parts = [name for name, child in fields.items() if name not in roles and self._holds_flags(child)]
        added = {base: name for name in parts if (base := tested_servers.added_to(name, parts))}
        parts = [name for name in parts if name not in added.values()]
        if len(parts) > 1:
            self.made.combined([fields[name] for name in parts], around)
        for name, child in fields.items():
            if (len(parts) > 1 and name in parts) or name in added.values() or (not depth and id(child) in self.taken):
                continue
            if name in added or (tested_servers.is_start(name) and items(child) and name in parts):
                lists = [child, *([fields[added[name]]] if name in added else [])]
                self.made.tested(lists, around, self.word(lists[-1]).line if id(child) in self.taken else 0)
                continue
            if name == "initContainers":
                for container in items(child):
                    if scalar(self.fields(container).get("restartPolicy")) == _SIDECAR:
                        self._child("", container, around, depth + 1)
            elif name not in _NO_COMMANDS and not is_tried(name, child, fields, self.source):
                program = engines.PROGRAM_OF.get(name.casefold(), around.program)
                model = named_by_key(name, child, self.source) or around.model
                role = roles.get(name) or around.role
                self._child(name, child, replace(around, role=role, program=program, model=model), depth + 1)
        names = [scalar(self.fields(child).get("name")) for child in items(node)]
        roles = roles_of(names)
        for name, child in zip(names, items(node), strict=True):
            self._child("", child, replace(around, role=roles.get(name) or around.role), depth + 1)

    def _holds_flags(self, node: Node) -> bool:
        """Whether it is a list or a text of options without a program."""
        texts = [scalar(item) for item in items(node)] or [scalar(node)]
        return _FLAG.match(texts[0]) is not None and (len(texts) > 1 or " " in texts[0])

    def _is_whole(self, around: Surroundings, depth: int) -> bool:
        """Whether it is all of a file without a kind, which another one does not name."""
        return depth == 0 and around.controller != "" and not around.custom and not self.state.files

    @staticmethod
    def _left_out(fields: Fields) -> bool:
        """What a chart is told not to make."""
        return any(scalar(fields.get(key)).lower() == "false" for key in ("create", "enabled"))

    def _child(self, name: str, node: Node, around: Surroundings, depth: int) -> None:
        """A mapping, a list of words under any key, or a text that is a script."""
        self.state.budget.work(12, "its YAML")
        if _OF_OTHERS.fullmatch(name):
            return
        words = [scalar(item) for item in items(node)]
        if words and all(words) and (words[0].startswith("-") or self._starts_engine(items(node))):
            self._list(node, around)
        elif text := scalar(node):
            if name in _NESTED_YAML and self._nested(node):
                return
            if _FLAG.match(text) and text.count(" --") > 0:
                self._flags(node, around)
                return
            if names_engine_command(text) and (len(text.split()) > 1 or name.lower() in _RUNS):
                own = self.word(node)
                whole = unfolded(node, own) if " " in name or self.source.mended else folded(node, own)
                self._script(whole, around.beside, around, name)
        else:
            self.visit(node, around, depth)

    def _flags(self, node: Node, around: Surroundings) -> None:
        """`args: "--tensor-parallel-size 8 --port 8000"` of a chart."""
        before = len(self.state.commands)
        inside = Source.inside(self.word(node), self.state.text)
        words = tuple(list_words(node, self.source) if has_bare_json(scalar(node)) else words_of(inside, self.state))
        self.state.add(Command("fragment", words, (), dict(around.beside), label=around.label, line=words[0].line))
        self.pods.deployed(before, around, words[0].line, around.devices)

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
        elif sum(_FLAG.match(word.text) is not None for word in words) > 1:
            argv = tuple(list_words(node, self.source))
            env = dict(around.beside)
            self.state.add(Command("fragment", argv, (), env, label=around.label, line=words[0].line))
        self.pods.deployed(before, around, words[0].line, around.devices)

    def _script(self, word: Word, env: Mapping[str, Word], around: Surroundings, label: str = "") -> None:
        """A text that a shell runs."""
        word = filled_in(word, around.fill_ins, self.source.unknown, self.state.budget)
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

    def _leader_and_workers(self, group: PodGroup, around: Surroundings, depth: int) -> None:
        if group.size > COMMANDS:
            message = f"a LeaderWorkerSet has a size of {group.size}; the limit is {COMMANDS}"
            raise too_large(message, "write the size that you run")
        self.merged += [pod for pod in (group.leader, group.worker) if pod is not None]
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
            label, before = f"node {rank}", len(self.state.commands)
            self.visit(pod, replace(around, variables=variables, label=label, pods=group.size), depth + 1)
            if rank:  # a worker that only joins the leader is no deployment
                started = self.state.commands[before:]
                self.state.commands[before:] = [each for each in started if each.program != "docker"]
