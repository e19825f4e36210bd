"""Words of Kubernetes' objects that its API refuses."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import pod_objects
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_PAIR: Final = re.compile(
    r"(?:^|[\s{,])[\"']?(?P<key>[A-Za-z][\w.-]*(?:/[\w.-]+)?)[\"']?:[ \t]+[\"']?(?P<value>[^\s\"',{}\[\]#]+)[\"']?"
)
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "medium": ("Memory", "HugePages"),
    "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "restartPolicy": ("Always", "OnFailure", "Never", "None", "Default", "RecreateGroupOnPodRestart"),
    "protocol": ("TCP", "UDP", "SCTP"),
    "dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    "concurrencyPolicy": ("Allow", "Forbid", "Replace"),
    "podManagementPolicy": ("OrderedReady", "Parallel"),
}
"""Keys → the only words that they take; nearly one of them is a slip."""
_DEVICES: Final = re.compile(r"(?P<vendor>nvidia|amd|intel)\.com/(?:gpus|GPU|Gpu|GPUS|gpu-count|gpu_count)")
_COMMENT: Final = re.compile(r"\s*#")
_ALIKE: Final = 0.85


def pod_words(case: Case) -> Iterator[Remark]:
    """`medium: memory`, `nvidia.com/gpus: 8`."""
    script = case.script
    if not script.objects or not is_first_server(case.commands, script):
        return
    spans = [(each.first, each.last) for each in pod_objects(script) if not each.templated]
    for number, text in numbered(script, 1, len(script.lines)):
        if _COMMENT.match(text) or "{{" in text or "$" in text or not any(low <= number <= high for low, high in spans):
            continue
        for pair in _PAIR.finditer(text):
            found = _problem(pair["key"], pair["value"])
            if found is not None:
                message = f"{script.where(number)}: {found[1]}"
                remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, found[0], message, found[2])
                yield Remark(remark.finding, command=None)
                return


def _problem(key: str, value: str) -> tuple[str, str, str] | None:
    """The place, what is wrong and what to write."""
    words = _WORDS.get(key)
    if words is not None and value not in words and not value.startswith(words):
        same = [word for word in words if word.casefold() == value.casefold()]
        near = same or difflib.get_close_matches(value, words, 1, _ALIKE)
        if near:
            return (
                key,
                f"{key} takes {_listed(words)}, and Kubernetes refuses {shortened(value, 40)}",
                f"write {near[0]}",
            )
    if device := _DEVICES.fullmatch(key):
        message = f"no device plugin offers {key}: the pod waits for a node that has it, and is never scheduled"
        return key, message, f"write {device['vendor']}.com/gpu"
    return None


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(words[:-1]) + f" or {words[-1]}"
