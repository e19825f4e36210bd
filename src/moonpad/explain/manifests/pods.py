"""A container of YAML with all that it gets from around it: environment, devices, mounted files, and its place among
the pods of a deployment.

Sources: https://docs.docker.com/reference/compose-file/services/,
https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container and
https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from yaml import Node

from moonpad.catalog.options import option_set
from moonpad.engines import foreign_names as names
from moonpad.engines.image_names import OF_NO_ENGINE, OF_UTILITIES
from moonpad.explain.commands import Command, HereFile, Word
from moonpad.explain.documents.surroundings import Surroundings, unknown_value
from moonpad.explain.flag_lists import knows_most, with_program
from moonpad.explain.grouping import model_of
from moonpad.explain.manifests import config_maps
from moonpad.explain.manifests.command_keys import is_for_image
from moonpad.explain.manifests.containers import Container, read_container
from moonpad.explain.manifests.custom_resources import is_whole
from moonpad.explain.manifests.fill_ins import filled_in
from moonpad.explain.manifests.layout_keys import has_layout, with_layout
from moonpad.explain.manifests.node_labels import kinds_of_nodes
from moonpad.explain.manifests.option_maps import image_of
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, is_true, items, scalar
from moonpad.explain.programs import base_name, is_server, names_engine_command
from moonpad.explain.shell.env_files import from_env_files
from moonpad.explain.shell.interpreter import ScriptState, Shell, words_of
from moonpad.explain.shell.one_item import apart
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_DEVICES: Final = re.compile(r"(?:[\w.-]+/)?(?:gpu|dcu|gaudi|Ascend\w*)")
"""Resources that are devices: `nvidia.com/gpu`, `huawei.com/Ascend910`, and `gpu` in some resources of others."""

_TPUS: Final = "google.com/tpu"
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SHELLS: Final = frozenset({"bash", "sh", "zsh"})
_MODULE: Final = re.compile(r"[a-z_]\w*(?:\.[a-z_]\w*)*\.(?!gguf|bin|safetensors)[a-z_]\w*")

# Keys of a compose service → the option of `docker run`, for each item of a list, and for one value.
_BY_DEFAULT: Final = re.compile(r"\$\{\w{1,64}:?-([\w,-]+)\}")
_LISTS: Final = {
    "ports": "--publish",
    "volumes": "--volume",
    "cap_add": "--cap-add",
    "security_opt": "--security-opt",
    "devices": "--device",
}
_VALUES: Final = {"network_mode": "--network", "shm_size": "--shm-size", "gpus": "--gpus", "ipc": "--ipc"}
_OF_GROUP: Final = (
    ("worker-index", "LWS_WORKER_INDEX"),
    ("leaderworkerset.sigs.k8s.io/size", "LWS_GROUP_SIZE"),
    ("leader-address", "LWS_LEADER_ADDRESS"),
)
"""Labels that a controller gives each pod of a group, and the variables that it sets to the same."""


class PodReader:
    """Reads the containers of one YAML text."""

    def __init__(self, source: YamlSource, state: ScriptState) -> None:
        self.source, self.state = source, state
        self.fields, self.inner, self.word = source.fields, source.inner, source.word

    def pod(self, fields: Fields, around: Surroundings) -> Surroundings:
        """What the containers of a pod get from it."""
        kinds = tuple(kind for kind in kinds_of_nodes(fields, self.source) if kind)
        held = config_maps.volumes(fields, self.source, self.state)
        return replace(
            around,
            options=tuple(self._pod_options(fields)) or around.options,
            kinds=kinds or around.kinds,
            files={**around.files, **held},
            host_paths={**around.host_paths, **dict(self._host_paths(fields))},
        )

    def devices(self, fields: Fields) -> Word | None:
        """How many devices the resources ask for."""
        resources = self.fields(fields.get("resources"))
        for asked in (resources.get("limits"), resources.get("requests"), fields.get("resources")):
            for name, number in self.fields(asked).items():
                if _DEVICES.fullmatch(name) and scalar(number).isdigit():
                    return self.word(number)
        for required in map(self.fields, items(fields.get("resourceRequirements"))):
            if scalar(required.get("type")).upper() == "GPU" and "value" in required:
                return self.word(required["value"])
        asked = fields.get("requestGPU")
        return self.word(asked) if asked is not None and scalar(asked).isdigit() else None

    def _pod_options(self, pod: Fields) -> Iterator[Word]:
        if is_true(pod.get("hostNetwork")):
            yield from self._option("--network", "host", pod["hostNetwork"])
        for volume in items(pod.get("volumes")):
            if path := self.inner(self.fields(volume), "hostPath", "path"):
                yield from self._option("--volume", f"{scalar(path)}:{scalar(path)}", path)

    def _host_paths(self, pod: Fields) -> Iterator[tuple[str, str]]:
        for volume in map(self.fields, items(pod.get("volumes"))):
            if path := scalar(self.inner(volume, "hostPath", "path")):
                yield scalar(volume.get("name")), path

    def _mounts(self, fields: Fields, around: Surroundings) -> Iterator[Word]:
        """Folders of the host under other paths; under the same ones the pod's own options have them."""
        for mount in map(self.fields, items(fields.get("volumeMounts"))):
            path, source = scalar(mount.get("mountPath")), around.host_paths.get(scalar(mount.get("name")), "")
            below = scalar(mount.get("subPath"))
            source = f"{source.rstrip('/')}/{below}" if source and below else source
            if source not in ("", "/", path) and path.startswith("/"):
                yield from self._option("--volume", f"{source}:{path}", mount["mountPath"])

    def interpolated(self, node: Node, around: Surroundings, values: Mapping[str, Word]) -> Word:
        self.state.budget.work(20, "its YAML")
        word = filled_in(self.word(node), around.fill_ins, self.source.unknown, self.state.budget)
        return around.interpolated(word, values, self.state.budget)

    def container(self, node: Node, around: Surroundings) -> None:
        fields = self.fields(node)
        before = len(self.state.commands)
        env = dict(self.environment(fields, around))
        of_pod = not around.controller
        around = around if around.custom or not is_whole(fields) else replace(around, controller="")
        compose = around.compose or "entrypoint" in fields  # a service alone, as threads paste it
        of_image = is_for_image(fields, compose=compose, of_pod=of_pod)
        keys = ("entrypoint" if compose else "entryPoint", "command") if of_image else ("command", "args")
        entrypoint, arguments = (self._argv(fields.get(key), around, env, is_program=key == keys[0]) for key in keys)
        if of_image and not compose and arguments and scalar(fields.get("args")):  # of another tool: both are texts
            arguments = [*arguments, *self._argv(fields["args"], around, env, is_program=False)]
        if len(entrypoint) == 1 and base_name(entrypoint[0]) in _SHELLS and scalar(fields.get("source")):
            at = self.word(fields["source"])  # a script of Argo Workflows
            arguments = [replace(at, text="-c", pieces=()), at]
        if not entrypoint and arguments and _names_module(arguments):
            entrypoint = (replace(arguments[0], text="python3", pieces=()),)  # which a controller puts in front
        if not entrypoint and "image" not in fields and _is_script(arguments):
            entrypoint = tuple(replace(arguments[0], text=text, pieces=()) for text in ("sh", "-c"))
        words = [*entrypoint, *arguments]
        source = Source.block(self.state.text, self.source.start, self.source.text)
        shell = Shell(self.state, source, label=around.label)
        devices = self.devices(fields) or around.devices
        image = image_of(fields, self.source) if "image" in fields else None
        if image is not None:
            options = (
                *around.options,
                *self._mounts(fields, around),
                *self._options(fields),
                *self._granted_devices(devices),
            )
            place = around.interpolated(image, {}, self.state.budget)
            cleared = of_image and keys[0] in fields and not entrypoint
            container = Container(
                *(self.word(node), place, entrypoint, arguments, env, options), around.label, around.variables, cleared
            )
            read_container(container, source, self.state)
            self._of_unknown_image(before, entrypoint, arguments)
            if OF_UTILITIES.search(image.text):
                self.state.commands[before:] = [
                    each for each in self.state.commands[before:] if each.program != "docker"
                ]
        elif words and words[0].text.startswith("-"):
            # Arguments of a program that is named elsewhere.
            argv = tuple(_renamed(word) for word in words)
            self.state.add(Command("fragment", argv, (), env, label=around.label, line=words[0].line))
        elif words:
            for name, value in env.items():
                shell.scope.set(name, value, export=True)
            shell.command(words)
        self.deployed(before, around, self.word(node).line, devices)
        files = dict(config_maps.mounts(fields, around.files, self.source))
        self._mounted(before, files)

    def _of_unknown_image(self, before: int, entrypoint: Sequence[Word], arguments: Sequence[Word]) -> None:
        """Arguments of an image whose name says nothing (`{{ .Values.image }}`): of the program that knows them."""
        alone = [command for command in self.state.commands[before:] if command.program == "docker"]
        if entrypoint or len(alone) != 1 or not arguments or not arguments[0].text.startswith("-"):
            return
        image = alone[0].container.image if alone[0].container is not None else None
        if image is not None and OF_NO_ENGINE.search(image.text):
            return
        flags = {word.text.partition("=")[0] for word in arguments if word.text.startswith("--")}
        fragment = with_program(replace(alone[0], program="fragment", argv=tuple(arguments), prefix=()))
        if flags & names.DECISIVE and fragment.program != "fragment" and knows_most(fragment, flags):
            fragment = replace(fragment, guessed=True)
            self.state.commands[before:] = [
                fragment if command is alone[0] else command for command in self.state.commands[before:]
            ]

    def deployed(self, before: int, around: Surroundings, line: int, devices: Word | None = None) -> None:
        """What is known of the commands read since `before` from around them."""
        commands = self.state.commands[before:]
        servers = [command for command in commands if starts_engine(command)]
        if servers:
            for kind in around.kinds:
                self.state.machines.append((line, _machine(kind, around.pods, devices)))
        self.state.commands[before:] = [
            _as_deployed(command, around) if starts_engine(command) else command for command in commands
        ]

    def _mounted(self, before: int, files: Mapping[str, HereFile]) -> None:
        if files:
            self.state.files.update((path, file) for path, file in files.items() if path not in self.state.files)
            self.state.commands[before:] = [replace(command, files=files) for command in self.state.commands[before:]]

    def _argv(
        self, node: Node | None, around: Surroundings, env: Mapping[str, Word], *, is_program: bool
    ) -> Sequence[Word]:
        """A list of words, or in compose a text that is split into words as by a shell. `is_program`: the first of them
        is the program."""
        if not scalar(node) or node is None:
            words = [self.interpolated(item, around, env) for item in items(node)]
            if len(words) == 1 and is_program and " " in words[0].text.strip() and names_engine_command(words[0].text):
                return self._whole_command(words[0])
            return [part for word in words for part in self._apart(word, around)]
        return words_of(Source.inside(self.interpolated(node, around, {}), self.state.text), self.state)

    def _whole_command(self, word: Word) -> Sequence[Word]:
        """The words of a command that stands in one item of its list."""
        if word.pieces:
            start, end = word.pieces[0].source_start, word.pieces[-1].source_end
            message = "the list has the whole command in one item: the container looks for a program of that name"
            remedy = "write each word as an item, or sh and -c in front of it"
            self.state.problems.add("whole-command", start, end, message, remedy)
        return words_of(Source.inside(word, self.state.text), self.state)

    def _apart(self, word: Word, around: Surroundings) -> Sequence[Word]:
        """The option and its value where one item holds both, which is a mistake unless a chart splits them."""
        return apart(word, self.state, told=not around.custom and not around.controller)

    def environment(self, fields: Fields, around: Surroundings) -> Iterator[tuple[str, Word]]:
        """Of compose a mapping or a list of `NAME=value`, of Kubernetes a list in which names refer to those before."""
        yield from from_env_files(fields, self.source, self.state.files)
        environment = fields.get("environment")
        for item in (item for item in items(environment) if scalar(item)):
            word = self.interpolated(item, around, {})
            name, equals, value = word.text.partition("=")
            yield name, replace(word, text=value, pieces=()) if equals else unknown_value(word, name)
        for name, node in self.fields(environment).items():
            word = self.interpolated(node, around, {})
            yield name, word if scalar(node) else unknown_value(word, name)
        for variable in map(self.fields, items(environment)):
            if "value" in variable and (name := scalar(variable.get("name"))):
                yield name, self.word(variable["value"])
        yield from self._assigned(fields.get("env"))
        values = {**around.variables, **dict(config_maps.imported(fields, self.source, self.state))}
        for variable in map(self.fields, items(fields.get("env"))):
            name = scalar(variable.get("name"))
            if "value" in variable:
                values[name] = self.interpolated(variable["value"], around, values)
            elif name:
                values[name] = self._taken(variable, name, fields, around)
        yield from values.items()

    def _assigned(self, node: Node | None) -> Iterator[tuple[str, Word]]:
        """`env: NAME=value OTHER=value`, one text of assignments, as some tools have it."""
        if node is None or "=" not in scalar(node):
            return
        text = self.word(node)
        words = words_of(Source.inside(text, self.state.text), self.state)
        pairs = [(word, *word.text.partition("=")) for word in words]
        if all(_NAME.fullmatch(name) and equals for _, name, equals, _ in pairs):
            yield from ((name, replace(word, text=value, pieces=())) for word, name, _, value in pairs)

    def _taken(self, variable: Fields, name: str, container: Fields, around: Surroundings) -> Word:
        """The value under `valueFrom`."""
        if word := config_maps.referred(variable, name, self.source, self.state):
            return word
        label = scalar(self.inner(variable, "valueFrom", "fieldRef", "fieldPath"))
        for part, known in _OF_GROUP:
            if part in label and known in around.variables:
                return around.variables[known]
        resource = scalar(self.inner(variable, "valueFrom", "resourceFieldRef", "resource"))
        if _DEVICES.fullmatch(resource.partition(".")[2]) and (devices := self.devices(container)):
            return devices
        return unknown_value(self.word(variable["name"]), name)

    def _has_tpus(self, container: Fields) -> bool:
        """Which GKE lets a container reach that may do everything: no option of Docker names them."""
        limits = [self.fields(self.inner(container, "resources", kind)) for kind in ("limits", "requests")]
        return any(_TPUS in each for each in limits)

    def _granted_devices(self, devices: Word | None) -> Iterator[Word]:
        if devices is not None:
            yield from (replace(devices, text="--gpus", pieces=()), devices)

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
            named = [name for item in items(reserved.get("device_ids")) for name in _ids_in(scalar(item))]
            yield from self._option("--gpus", scalar(reserved.get("count")) or str(len(named) or "all"), device)
        security = self.fields(fields.get("securityContext"))
        for privileged in (fields.get("privileged"), security.get("privileged")):
            if privileged is not None and is_true(privileged) and not self._has_tpus(fields):
                yield replace(self.word(privileged), text="--privileged")
        for item in items(self.inner(security, "capabilities", "add")):
            yield from self._option("--cap-add", scalar(item), item)
        profile = self.inner(security, "seccompProfile", "type")
        if profile is not None and scalar(profile) == "Unconfined":
            yield from self._option("--security-opt", "seccomp=unconfined", profile)

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


def _names_module(arguments: Sequence[Word]) -> bool:
    """`-m package.module`, and no file of weights behind an option of that name."""
    module = arguments[1].text if len(arguments) > 1 and arguments[0].text == "-m" else ""
    return _MODULE.fullmatch(module) is not None


def _is_script(arguments: Sequence[Word]) -> bool:
    """Whether a patch of an object gives the text for the shell that the object itself has: `args: [exec vllm …]`."""
    return len(arguments) == 1 and " " in arguments[0].text.strip() and names_engine_command(arguments[0].text)


def _renamed(word: Word) -> Word:
    """An option of a server that passes the others on to the engine, as the engine has it."""
    flag, equals, value = word.text.partition("=")
    name = names.OF_WRAPPING_SERVERS.get(flag)
    return replace(word, text=f"{name}{equals}{value}", pieces=()) if name else word


def _ids_in(written: str) -> list[str]:
    """Of `"0"`, of `${GPUS:-0,1}` what it has by default, and of `${GPUS}` one."""
    by_default = _BY_DEFAULT.fullmatch(written)
    return (by_default[1] if by_default else written).split(",")


def is_container(fields: Fields) -> bool:
    """Whether it has a command or arguments as a list, or beside an image as a text."""
    return any(items(fields.get(name)) for name in ("command", "args", "entrypoint", "entryPoint")) or (
        "image" in fields and any(scalar(fields.get(name)) for name in ("command", "args"))
    )


def starts_engine(command: Command) -> bool:
    """Whether it starts an engine, or is a list of flags for one."""
    return command.program == "fragment" or is_server(command.program)


def _as_deployed(command: Command, around: Surroundings) -> Command:
    if command.program == "fragment":
        command = with_program(command)
        command = _with_model(command, around)
    if command.program != "fragment":
        command = with_layout(command, around.layout)
    lacking = command.more or (around.controller if not has_layout(command) else "")
    return replace(
        command,
        pods=max(command.pods, around.pods),
        role=command.role or around.role,
        more=lacking,
        custom=around.custom,
    )


def _with_model(command: Command, around: Surroundings) -> Command:
    """A list of options with the model that the keys around it name, where it names none."""
    option = "--model-path" if command.program == names.MODEL_BY_PATH else "--model"
    recorded = option_set(command.program)
    named = model_of(command) is not None or recorded is None or recorded.named(option) is None
    if around.model is None or named:
        return command
    return replace(command, argv=(replace(around.model, text=option, pieces=()), around.model, *command.argv))


def _machine(kind: str, pods: int, devices: Word | None) -> str:
    """`2x4xGB300` of `GB300`; a type of machine with more devices than the pod gets is only a kind."""
    count, times, name = kind.partition("x")
    per_pod = devices.text if devices is not None else count if times and count.isdigit() else ""
    label = name if times and count.isdigit() else kind
    return f"{pods}x{per_pod}x{label}" if per_pod.isdigit() and pods > 1 else f"{per_pod}x{label}".lstrip("x")
