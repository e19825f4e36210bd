"""Resources that a controller makes commands of: which are run as they are written, and the LLM services of KServe.

Source: https://kserve.github.io/website/docs/model-serving/generative-inference/llmisvc/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from moonpad.engines import foreign_names as names
from moonpad.engines.start_names import IN_A_LIST
from moonpad.explain.commands import Word, whole_number
from moonpad.explain.documents.surroundings import Surroundings
from moonpad.explain.manifests.layout_keys import layout_of
from moonpad.explain.manifests.option_maps import list_words, shell_words
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar
from moonpad.explain.roles import ROLES
from moonpad.values.records import replace

_AS_WRITTEN: Final = (
    *("", "apps", "batch", "core", "leaderworkerset.x-k8s.io", "serving.knative.dev", "ray.io", "jobset.x-k8s.io"),
    *("argoproj.io", "nvidia.com", "serving.kserve.io", "ome.io", "kubeflow.org", "batch.volcano.sh", "helm.sh"),
    *(
        "orchestration.aibrix.ai",
        "workloads.x-k8s.io",
        "template.openshift.io",
        "apps.openshift.io",
        "trainer.kubeflow.org",
    ),
)
"""Groups of APIs whose containers run with the arguments that stand there, and no others."""
_OF_CHARTS: Final = frozenset({"helm.toolkit.fluxcd.io", "helm.cattle.io"})
"""Groups of APIs whose objects hold a chart's values: https://fluxcd.io/flux/components/helm/helmreleases/."""
_KSERVE: Final = "serving.kserve.io"
_RUNTIMES: Final = ("ServingRuntime", "ClusterServingRuntime")
_LLM_SERVICE: Final = ("LLMInferenceService", "LLMInferenceServiceConfig")


def is_whole(fields: Fields) -> bool:
    """Whether a container has an image in one text; or a program and its arguments, each as a list, in place of all
    that an image in parts (`repository`, `tag`) and a chart bring."""
    lists = (fields.get("command"), fields.get("args"))
    return bool(scalar(fields.get("image"))) or (
        "image" in fields and all(isinstance(each, SequenceNode) for each in lists)
    )


def controller_of(fields: Fields, source: YamlSource) -> str:
    """Whose work may add options to the arguments in a document; "" where nothing does: JSON with a whole command is no
    values of a chart, but what a tool runs."""
    if "apiVersion" not in fields:
        whole = source.text.lstrip().startswith("{") and IN_A_LIST.search(source.text)
        return "" if whole else "what a chart or a tool adds to these options"
    group = scalar(fields["apiVersion"]).rpartition("/")[0]
    kind = scalar(fields.get("kind"))
    if kind in _RUNTIMES and group == _KSERVE:
        return "what an InferenceService adds to these options"
    if group in _OF_CHARTS:
        return "what a chart or a tool adds to these options"
    return "" if group in _AS_WRITTEN else f"what the controller of {kind or group} adds to these options"


def is_custom(fields: Fields) -> bool:
    """Whether a controller makes something of its own of an object: no chart does so of its values."""
    group = scalar(fields.get("apiVersion")).rpartition("/")[0]
    return "apiVersion" in fields and group not in _OF_CHARTS


def runtimes_used(documents: Iterable[Node], source: YamlSource) -> Mapping[str, Fields]:
    """By name, the containers of runtimes of KServe for which an InferenceService of the text asks."""
    objects = [source.fields(document) for document in documents]
    objects += [source.fields(item) for fields in objects for item in items(fields.get("items"))]
    asked = {scalar(source.inner(fields, "spec", "predictor", "model", "runtime")) for fields in objects} - {""}
    found: dict[str, Fields] = {}
    for fields in objects:
        name = scalar(source.inner(fields, "metadata", "name"))
        containers = items(source.inner(fields, "spec", "containers"))
        if scalar(fields.get("kind")) in _RUNTIMES and name in asked and containers:
            found[name] = source.fields(containers[0])
    return found


def with_runtime(service: MappingNode, runtime: Fields, source: YamlSource) -> MappingNode:
    """The container of a runtime with what an InferenceService adds to its arguments and variables, and its resources
    in their place (https://kserve.github.io/website/docs/concepts/resources/servingruntime)."""
    own = source.fields(service)
    merged = {**runtime, **{key: own[key] for key in ("resources", "image") if key in own}}
    for key in ("args", "env"):
        values = [*items(runtime.get(key)), *items(own.get(key))]
        if values:
            merged[key] = SequenceNode("tag:yaml.org,2002:seq", values, service.start_mark, service.end_mark)
    marks = (service.start_mark, service.end_mark)
    pairs = [(ScalarNode("tag:yaml.org,2002:str", key, *marks), value) for key, value in merged.items()]
    return MappingNode("tag:yaml.org,2002:map", pairs, *marks)


def lone_role_of(fields: Fields, source: YamlSource) -> str:
    """Of Dynamo's graph, all of whose workers are named in one mapping, the only role that any of them has: without the
    other side it prefills and decodes (https://github.com/ai-dynamo/dynamo, docs/kubernetes/api_reference.md)."""
    workers = [source.fields(node) for node in source.fields(fields.get("services")).values()]
    roles = {scalar(worker.get("subComponentType")) for worker in workers} & {*ROLES}
    return roles.pop() if len(roles) == 1 else ""


def is_schema(fields: Fields) -> bool:
    """Of JSON Schema: its keys are the names of values, `port: {type: integer}`."""
    is_object = scalar(fields.get("type")) == "object" or "json-schema" in scalar(fields.get("$schema"))
    return is_object and isinstance(fields.get("properties"), MappingNode)


def is_llm_service(fields: Fields) -> bool:
    return scalar(fields.get("kind")) in _LLM_SERVICE and "spec" in fields


class ServedPart(Struct, frozen=True):
    """One role of a service: its pod, and the container in it that serves."""

    around: Surroundings
    pod: Fields
    container: Fields
    node: Node | None
    source: YamlSource
    program: str = names.OF_LLM_SERVICE

    @property
    def only_arguments(self) -> bool:
        """Whether it has arguments for the program that the controller starts."""
        first = next((scalar(item) for item in items(self.container.get("args"))), "")
        return first.startswith("-") and not items(self.container.get("command"))

    def words(self, env: Mapping[str, Word]) -> Sequence[Word]:
        """The model, and what its arguments and the variable for more of them hold."""
        model = self.around.model
        given = list(list_words(self.container["args"], self.source)) if self.only_arguments else []
        named = any(word.text.partition("=")[0] == "--model" for word in given)
        words = [model] if model is not None and not named else []
        words += given
        if (more := env.get(names.MORE_OPTIONS)) is not None:
            words += _split(more)
        return words or [Word("MODEL", unresolved=("MODEL",))]


def served_by_controller(spec: Fields, around: Surroundings, source: YamlSource) -> Iterator[ServedPart]:
    """The service itself, which only decodes where there is a part for prefill, and that part."""
    prefill = source.fields(spec.get("prefill"))
    for role, part in (("decode" if prefill else "", spec), ("prefill", prefill)):
        pod = source.fields(part.get("template"))
        nodes = items(pod.get("containers"))
        serving = [node for node in nodes if scalar(source.fields(node).get("name")) == "main"] or list(nodes[:1])
        layout = layout_of(part, source)
        if not part or not (layout or serving):
            continue
        ranks, local = (whole_number(layout[name].text) if name in layout else None for name in ("dp", "dp_local"))
        size = ranks // local if ranks and local else whole_number(layout["pp"].text) if "pp" in layout else None
        container = source.fields(serving[0]) if serving else {}
        # Arguments of its own are those of each pod: what the controller makes of data parallelism is not in them.
        alone = bool(ranks and local and container.get("args"))
        pods = size if size and "worker" in part and not alone else 1
        inside = replace(around, role=role, pods=pods, layout=layout)
        yield ServedPart(inside, pod, container, serving[0] if serving else None, source)


def _split(word: Word) -> Iterator[Word]:
    """A variable that a shell splits, with the quotes that it evaluates."""
    yield from (replace(word, text=part, pieces=()) for part in shell_words(word.text))
