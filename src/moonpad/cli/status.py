"""`moonpad status`: what is up, and in which state."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from moonpad.store.run_folder import RunFolder


def status(target: str | None = None, *, json: Annotated[bool, Parameter(negative=())] = False) -> None:
    """Say what is up, and in which state.

    Parameters
    ----------
    target
        A spec or the name of an endpoint; without it, all of them.
    json
        Print one JSON document on stdout.
    """
    from moonpad.cli.output import clean, emit_json, next_command, out
    from moonpad.run.endpoints import find_run
    from moonpad.store.run_folder import current_runs

    rows = [_row(folder) for folder in ((find_run(target),) if target else current_runs())]
    if json:
        emit_json({"endpoints": rows})
        return
    if not rows:
        out().print("No endpoint was ever up here.")
        next_command("moonpad up SPEC.toml")
        return
    for row in rows:
        out().print(clean(f"{row['name']}: {row['state']}{_steadiness(row)} ({row['because']})"))
        if row["state"] == UNKNOWN:
            continue
        out().print(f"  {row['base_url']}  model {row['model']}  engine {row['engine']}  pid {row['pid'] or '-'}")
        out().print(f"  since {row['since']}{_kv_words(row['kv_tokens'])}")
        if row["hosts"]:
            there = ", ".join(f"{node} on {target}" for node, target in row["hosts"].items())
            out().print(clean(f"  with {there}; moonpad logs --node {next(iter(row['hosts']))}"))
    up = [row for row in rows if row["state"] == "ready"]
    next_command(f"moonpad verify {up[0]['spec']}" if up else f"moonpad up {rows[0]['spec']}".rstrip())


def _row(folder: RunFolder) -> dict[str, Any]:
    from moonpad.store.schema import SchemaTooNew

    try:
        return _known_row(folder)
    except SchemaTooNew as error:
        return {**_NOTHING, "name": folder.name, "state": UNKNOWN, "because": error.message, "run": folder.run_id}


def _known_row(folder: RunFolder) -> dict[str, Any]:
    from moonpad.run.endpoints import keyless_endpoint_of
    from moonpad.run.planned import kv_tokens_measured
    from moonpad.run.truth import truth_of

    about = folder.about()
    truth = truth_of(folder, keyless_endpoint_of(folder))
    since = folder.last_event(*_CHANGES)
    return {
        "name": folder.name,
        "state": str(truth.state),
        "because": truth.because,
        "stable": truth.stable,
        "restarts": truth.restarts,
        "base_url": about.get("base_url", ""),
        "model": about.get("served_name", ""),
        "engine": about.get("engine", ""),
        "pid": truth.engine_pid,
        "keeper_pid": truth.keeper_pid,
        "controller_pid": truth.controller_pid,
        "since": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(since["at"])) if since else "",
        "run": folder.run_id,
        "spec": about.get("spec", ""),
        "hosts": about.get("hosts") or {},
        "kv_tokens": {"planned": folder.memory().get("kv_tokens"), "measured": kv_tokens_measured(folder)},
    }


def _steadiness(row: dict[str, Any]) -> str:
    """`, stable, 2 restarts`, as far as there is something to say."""
    said = (", stable" if row["stable"] else ", not stable yet") if row["state"] == "ready" else ""
    restarts = row["restarts"]
    return said + (f", {restarts} restart{'s' * (restarts != 1)}" if restarts else "")


def _kv_words(kv_tokens: dict[str, Any]) -> str:
    """Plan against measured, as far as each is known."""
    planned, measured = kv_tokens["planned"], kv_tokens["measured"]
    if not measured:
        return f", KV cache planned for {planned['value']:,.0f} tokens" if planned else ""
    said = f", KV cache of {measured:,} tokens"
    if not planned:
        return said
    difference = measured / planned["value"] - 1 if planned["value"] else 0.0
    return f"{said}, as planned" if measured == planned["value"] else f"{said}, {difference:+.1%} of the plan"


UNKNOWN = "unknown"
"""The state of a run that a newer moonpad keeps: nobody here can say what it is."""

_CHANGES = ("spawned", "ready", "stalled", "recovered", "ended", "stopped", "failed")
_NOTHING: dict[str, Any] = {
    "stable": False,
    "restarts": 0,
    "base_url": "",
    "model": "",
    "engine": "",
    "pid": None,
    "keeper_pid": None,
    "controller_pid": None,
    "since": "",
    "spec": "",
    "hosts": {},
    "kv_tokens": {"planned": None, "measured": None},
}
