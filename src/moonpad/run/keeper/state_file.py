"""`keeper.json`, for those who come after the keeper: whether it lives, and which processes it owns."""

from __future__ import annotations

from typing import Any

from moonpad.facts.processes import find_descendants, find_writers, is_alive, read_boot_id
from moonpad.run.keeper import cgroup

FINAL = ("stopped", "failed")


def has_keeper(document: dict[str, Any]) -> bool:
    """Whether the keeper that wrote this lives."""
    own: dict[str, int] = document.get("keeper") or {}
    return bool(own) and document.get("boot_id") == read_boot_id() and is_alive(own["pid"], own["start"])


def find_living(document: dict[str, Any], log: str) -> dict[int, int]:
    """pid → start time of the run's processes that live, keeper and controller left out.

    By what the keeper wrote down and what descends from that. When a keeper was killed its last look may be older than
    an orphan: then whatever writes to the run's log, or is in its cgroup, belongs to the run too.
    """
    if not document or document.get("boot_id") != read_boot_id():
        return {}
    owned = {process["pid"]: process["start"] for process in document.get("owned", ())}
    living = {pid: start for pid, start in owned.items() if is_alive(pid, start)}
    if not has_keeper(document) and document.get("state") not in FINAL:
        living.update(find_writers(log))
        living.update(cgroup.list_members(document["cgroup"]) if document["cgroup"] else {})
    return {**find_descendants(set(living)), **living}
