"""Groups of pods that run one deployment: a leader and its workers.

Sources: https://lws.sigs.k8s.io/docs/reference/, https://docs.ome.io (engineConfig of a ServingRuntime),
https://github.com/sgl-project/rbg (roles of a RoleBasedGroup), https://kthena.volcano.sh (roles of a ModelServing) and https://docs.ray.io/en/latest/cluster/kubernetes/.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from yaml import MappingNode, Mark, Node, ScalarNode, SequenceNode

from moonpad.explain.commands import Word, whole_number
from moonpad.explain.input_limits import NESTING
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar

_LWS: Final = ("LWS_WORKER_INDEX", "LWS_GROUP_SIZE", "LWS_LEADER_ADDRESS")
_RBG: Final = ("RBG_LWP_WORKER_INDEX", "RBG_LWP_GROUP_SIZE", "RBG_LWP_LEADER_ADDRESS")
_KTHENA: Final = ("WORKER_INDEX", "GROUP_SIZE", "ENTRY_ADDRESS")


class PodGroup(Struct, frozen=True):
    """`size` counts the leader too. `variables` name a pod's number, the size, and the leader's address."""

    leader: Node | None
    worker: Node | None
    size: int
    variables: tuple[str, str, str] = _LWS


def pod_group(fields: Fields, source: YamlSource) -> PodGroup | None:
    """None where the mapping does not describe one."""
    pattern, group = (source.fields(fields.get(key)) for key in ("leaderWorkerPattern", "leaderWorkerSet"))
    if "template" in pattern:
        size = whole_number(scalar(pattern.get("size"))) or 1
        return PodGroup(pattern["template"], pattern["template"], size, _RBG)
    if "template" in fields and (size := whole_number(scalar(group.get("size"))) or 0):
        whole = fields["template"]
        patches = group.get("patchLeaderTemplate"), group.get("patchWorkerTemplate")
        return PodGroup(patched(whole, patches[0], source), patched(whole, patches[1], source), size)
    template = source.fields(fields.get("leaderWorkerTemplate"))
    if not template and "leaderTemplate" in fields and "workerTemplate" in fields:
        template = fields
    if template:
        worker = template.get("workerTemplate")
        count = scalar(template.get("size"))
        return PodGroup(template.get("leaderTemplate", worker), worker, int(count[:9]) if _is_number(count) else 1)
    if "entryTemplate" in fields:
        workers = whole_number(scalar(fields.get("workerReplicas"))) or 0
        return PodGroup(fields["entryTemplate"], fields.get("workerTemplate"), workers + 1, _KTHENA)
    worker = fields.get("worker")
    count = scalar(source.fields(worker).get("size"))
    if "leader" in fields and _is_number(count):
        return PodGroup(fields["leader"], worker, int(count[:9]) + 1)
    return None


def patched(node: Node, patch: Node | None, source: YamlSource, depth: int = 0) -> Node:
    """With the keys of the patch in place of its own, mapping in mapping; items of lists are told by their names, as in
    https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/."""
    own, new = source.fields(node), source.fields(patch)
    source.whole.budget.work(4 + 2 * len(own), "its YAML")
    if patch is None or depth > NESTING:
        return node
    if own and new:
        merged = {**new, **{key: patched(value, new.get(key), source, depth + 1) for key, value in own.items()}}
        keys = ((ScalarNode("tag:yaml.org,2002:str", key, *_marks(patch)), value) for key, value in merged.items())
        return MappingNode("tag:yaml.org,2002:map", list(keys), *_marks(patch))
    named = {scalar(source.fields(item).get("name")): item for item in items(patch)}
    if not items(node) or "" in named:
        return patch
    before = {scalar(source.fields(item).get("name")): item for item in items(node)}
    whole = [patched(item, named.get(name), source, depth + 1) for name, item in before.items()]
    whole += [item for name, item in named.items() if name not in before]
    return SequenceNode("tag:yaml.org,2002:seq", whole, *_marks(patch))


def _marks(node: Node) -> tuple[Mark, Mark]:
    return node.start_mark, node.end_mark


def groups_of_ranks(layout: Mapping[str, Word]) -> int:
    """The pods that share the data-parallel ranks, 0 where nothing is said of it."""
    ranks, local = (whole_number(layout[name].text) if name in layout else None for name in ("dp", "dp_local"))
    return ranks // local if ranks and local else 0


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def ray_pods(fields: Fields, source: YamlSource) -> int:
    """The pods of a cluster of Ray, 0 where the mapping describes none."""
    if "headGroupSpec" not in fields:
        return 0
    workers = map(source.fields, items(fields.get("workerGroupSpecs")))
    return 1 + sum((whole_number(scalar(group.get("replicas"))) or 1) for group in workers)
