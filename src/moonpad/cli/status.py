"""`moonpad status`: which endpoints are up, and their states."""

from __future__ import annotations

import time
from typing import Any

from moonpad.cli.output import Json, emit_json, next_command, out
from moonpad.run.endpoints import copies_of, find_run, group_of, keyless_endpoint_of, name_of, without_copies
from moonpad.run.planned_figures import kv_tokens_measured
from moonpad.run.run_status import read_status
from moonpad.store.run_folder import RunFolder, current_run, current_runs
from moonpad.store.schema_version import SchemaTooNew
from moonpad.values.visible_text import shell_word

UNKNOWN = "unknown"
"""The state of a run whose files a newer moonpad wrote."""

_CHANGES = ("spawned", "ready", "stalled", "recovered", "ended", "stopped", "failed")
_UNKNOWN_ROW: dict[str, Any] = {
    **dict.fromkeys(("base_url", "model", "engine", "spec", "since"), ""),
    **dict.fromkeys(("pid", "keeper_pid", "controller_pid")),
    **{"stable": False, "restarts": 0, "hosts": {}, "despite": [], "group": "", "router": None, "pools": []},
    "kv_tokens": {"planned": None, "measured": None},
}


def status(target: str | None = None, *, json: Json = False) -> None:
    """Show which endpoints are up, and their states.

    Parameters
    ----------
    target
        A spec or the name of an endpoint; without it, all of them.
    """
    rows = [_make_row(folder) for folder in _folders(target)]
    _add_pools(rows)
    if json:
        emit_json({"endpoints": rows})
        return
    if not rows:
        out().print("No endpoint was ever started on this machine.")
        next_command("moonpad up SPEC.toml")
        return
    for row in rows:
        out().print(f"{row['name']}: {row['state']}{_steadiness(row)} ({row['because']})")
        if row["state"] == UNKNOWN:
            continue
        if row["router"]:
            pools = ", ".join(f"{pool['ready']} of {pool['of']} {pool['name']} ready" for pool in row["pools"])
            router = row["router"]
            out().print(f"  {router['name']} {router['version']}, {router['policy']}: {pools}")
        out().print(f"  {row['base_url']}  model {row['model']}  engine {row['engine']}  pid {row['pid'] or '-'}")
        out().print(f"  since {row['since']}{_kv_words(row['kv_tokens'])}")
        if row["hosts"]:
            there = ", ".join(f"{node} on {target}" for node, target in row["hosts"].items())
            out().print(f"  with {there}; moonpad logs --node {next(iter(row['hosts']))}")
    up = [row for row in rows if row["state"] == "ready"]
    down = rows[0]["spec"] or "SPEC.toml"
    next_command(f"moonpad verify {shell_word(up[0]['spec'])}" if up else f"moonpad up {shell_word(down)}")


def _folders(target: str | None) -> tuple[RunFolder, ...]:
    """The runs that are meant, each router before its copies."""
    if target is None:
        return tuple(run for folder in without_copies(current_runs()) for run in (folder, *copies_of(folder.name)))
    copies = copies_of(name_of(target))
    if copies and current_run(name_of(target)) is None:
        return copies  # the router comes once all of them are ready
    return find_run(target), *copies


def _add_pools(rows: list[dict[str, Any]]) -> None:
    """To each router's row, how many of its copies are ready."""
    for row in rows:
        if not row["router"]:
            continue
        copies = [other for other in rows if other["group"] == row["name"]]
        ready = sum(copy["state"] == "ready" for copy in copies)
        row["pools"] = [{"name": "replicas", "ready": ready, "of": len(copies)}]


def _make_row(folder: RunFolder) -> dict[str, Any]:
    try:
        return _read_row(folder)
    except SchemaTooNew as error:
        return {**_UNKNOWN_ROW, "name": folder.name, "state": UNKNOWN, "because": error.message, "run": folder.run_id}


def _read_row(folder: RunFolder) -> dict[str, Any]:
    about = folder.about()
    status = read_status(folder, keyless_endpoint_of(folder))
    since = folder.last_event(*_CHANGES)
    return {
        "name": folder.name,
        "state": str(status.state),
        "because": status.because,
        "stable": status.stable,
        "restarts": status.restarts,
        "base_url": about.get("base_url", ""),
        "model": about.get("served_name", ""),
        "engine": about.get("engine", ""),
        "pid": status.engine_pid,
        "keeper_pid": status.keeper_pid,
        "controller_pid": status.controller_pid,
        "since": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(since["at"])) if since else "",
        "run": folder.run_id,
        "spec": about.get("spec", ""),
        "group": group_of(folder),
        "router": about.get("router"),
        "pools": [],
        "hosts": about.get("hosts") or {},
        "despite": about.get("despite") or [],
        "kv_tokens": {"planned": folder.memory().get("kv_tokens"), "measured": kv_tokens_measured(folder)},
    }


def _steadiness(row: dict[str, Any]) -> str:
    """`, stable, 2 restarts`, "" without either."""
    words = (", stable" if row["stable"] else ", not stable yet") if row["state"] == "ready" else ""
    restarts = row["restarts"]
    words += f", {restarts} restart{'s' * (restarts != 1)}" if restarts else ""
    return words + (f", started despite {', '.join(row['despite'])}" if row["despite"] else "")


def _kv_words(kv_tokens: dict[str, Any]) -> str:
    """Planned and measured, as far as each is known."""
    planned, measured = kv_tokens["planned"], kv_tokens["measured"]
    if not measured:
        return f", KV cache planned for {planned['value']:,.0f} tokens" if planned else ""
    size = f", KV cache of {measured:,} tokens"
    if not planned:
        return size
    difference = measured / planned["value"] - 1 if planned["value"] else 0.0
    return f"{size}, as planned" if measured == planned["value"] else f"{size}, {difference:+.1%} from the plan"
