"""Commands that are not written out: a chart, a tool or the controller of a resource makes them of keys."""

from __future__ import annotations

from collections.abc import Sequence

from yaml import Node

from moonpad.engines import foreign_names as names
from moonpad.explain.commands import Command, Word, Wrapper, WrapperOption, whole_number
from moonpad.explain.documents.surroundings import Surroundings
from moonpad.explain.grouping import value_of
from moonpad.explain.manifests.chart_parts import mapped_variables, server_part
from moonpad.explain.manifests.custom_resources import served_by_controller
from moonpad.explain.manifests.option_maps import image_of, list_words, option_commands
from moonpad.explain.manifests.pods import PodReader, is_container
from moonpad.explain.manifests.recipes import Served, served_by_recipe
from moonpad.explain.manifests.tested_servers import with_variables
from moonpad.explain.manifests.yaml_source import Fields
from moonpad.explain.programs import named_by_image, program_named, served_by_image
from moonpad.values.records import replace


class MadeCommands:
    """Of one YAML text."""

    def __init__(self, pods: PodReader) -> None:
        self.pods, self.source, self.state = pods, pods.source, pods.state

    def engine_options(self, fields: Fields, around: Surroundings, *, alone: bool = False) -> bool:
        """Mappings of an engine's options, `engine: vllm` with `engine_args:`, `--flag: value`."""
        server = server_part(fields, self.source, self._has_engine) if alone else None
        options = list(option_commands(fields, self.source, around.model, around.program, alone=alone, server=server))
        env = {**around.variables, **dict(self.pods.environment(fields, around))} if options else {}
        for part in (fields, server.fields if server is not None else {}) if options else ():
            env |= mapped_variables(part, self.source)
        for found in options:
            devices = around.devices or (server.devices if server is not None else None)
            before = len(self.state.commands)
            granted = (WrapperOption("--gpus", devices.text, (devices,)),) if devices is not None else ()
            wrappers = (Wrapper("docker run", (), granted, found.image),) if found.image is not None else ()
            frame = Command("", (), (), env, wrappers, label=around.label, by_ray="model_loading_config" in fields)
            frame = replace(frame, made=found.chart and found.image is not None)
            if found.files:
                frame = replace(frame, files=found.files)
                self.state.files.update(found.files)
            self._add(found.program, found.argv, frame)
            around = replace(around, custom=True) if found.chart else replace(around, controller="")
            nodes = value_of(found.argv, ("--nnodes",))
            if found.chart and nodes is not None:
                around = replace(around, pods=max(around.pods, whole_number(nodes.text) or 1))
            self.pods.deployed(before, around, self.state.commands[-1].line, devices)
        return bool(options)

    def _has_engine(self, fields: Fields) -> bool:
        image = image_of(fields, self.source)
        return image is not None and bool(served_by_image(image.text) or named_by_image(image.text))

    def recipe(self, fields: Fields, around: Surroundings) -> bool:
        served: list[Served] = list(served_by_recipe(fields, self.source))
        condition = len(self.state.conditions)
        for server in served:
            arms: tuple[tuple[int, int], ...] = ()
            if server.arm is not None and len(served) > 1:
                self.state.conditions.setdefault(id(served), (condition, served))
                arms = ((condition, server.arm),)
            if server.machine:
                self.state.machines.append((server.line, server.machine))
            wrappers = (Wrapper("docker exec", (), (), server.image),) if server.image is not None else ()
            frame = Command(
                *("", (), (), server.env, wrappers),
                label=around.label,
                arms=arms,
                pods=server.pods,
                role=server.role,
                more=server.more,
                files=server.files,
                by_alias=server.alias,
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

    def combined(self, lists: Sequence[Node], around: Surroundings) -> None:
        """Lists of options that a tool puts together: the first is the base, and each of the others may be added."""
        base, *others = lists
        condition = len(self.state.conditions)
        self.state.conditions.setdefault(id(lists), (condition, lists))
        for arm, other in enumerate((None, *others)):
            before = len(self.state.commands)
            words = (*list_words(base, self.source), *(list_words(other, self.source) if other is not None else ()))
            more = "what combines these lists of options"
            arms = ((condition, arm),)
            frame = Command("fragment", words, label=around.label, line=words[0].line, arms=arms, more=more)
            self.state.add(frame)
            self.pods.deployed(before, around, words[0].line, around.devices)

    def tested(self, lists: Sequence[Node], around: Surroundings, line: int = 0) -> None:
        """Lists of options of which a configuration of tests makes one command."""
        before = len(self.state.commands)
        words = tuple(with_variables([word for node in lists for word in list_words(node, self.source)], around.beside))
        line = line or words[0].line
        self.state.add(Command("fragment", words, (), dict(around.beside), label=around.label, line=line))
        self.pods.deployed(before, around, line, around.devices)

    def by_chart(self, container: Fields, around: Surroundings) -> None:
        """A container of llm-d's chart, which puts the program, the model and the layout before its arguments."""
        before, env = len(self.state.commands), dict(self.pods.environment(container, around))
        image = image_of(container, self.source) if "image" in container else None
        wrappers = (Wrapper("docker run", (), (), image),) if image is not None else ()
        words = [word for word in (around.model,) if word is not None]
        if "args" in container:
            words += list_words(container["args"], self.source)
        words = words or [Word("MODEL", unresolved=("MODEL",))]
        self._add(names.OF_LLM_SERVICE, words, Command("", (), (), env, wrappers, label=around.label))
        devices = self.pods.devices(container)
        line = self.state.commands[-1].line
        self.pods.deployed(before, replace(around, controller=""), line, devices)

    def llm_service(self, spec: Fields, around: Surroundings) -> None:
        """Of KServe: the controller makes the command of the parallelism and of one variable."""
        for served in served_by_controller(spec, around, self.source):
            pod = self.pods.pod(served.pod, replace(served.around, devices=self.pods.devices(served.container)))
            if served.node is not None and is_container(served.container) and not served.only_arguments:
                self.pods.container(served.node, pod)
                continue
            env = dict(self.pods.environment(served.container, pod))
            before = len(self.state.commands)
            self._add(served.program, served.words(env), Command("", (), (), env, label=around.label))
            self.pods.deployed(before, replace(pod, controller=""), self.state.commands[-1].line, pod.devices)
