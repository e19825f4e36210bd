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
    from moonpad.cli.output import emit_json, next_command, out
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
        out().print(f"{row['name']}: {row['state']} ({row['because']})")
        out().print(f"  {row['base_url']}  model {row['model']}  engine {row['engine']}  pid {row['pid'] or '-'}")
        out().print(f"  since {row['since']}{_kv_words(row['kv_tokens'])}")
    up = [row for row in rows if row["state"] == "ready"]
    next_command(f"moonpad verify {up[0]['spec']}" if up else f"moonpad up {rows[0]['spec']}")


def _row(folder: RunFolder) -> dict[str, Any]:
    from moonpad.run.endpoints import endpoint_of
    from moonpad.run.truth import truth_of
    from moonpad.values.errors import PreflightRefused

    about = folder.about()
    try:
        endpoint = endpoint_of(folder)
    except PreflightRefused:
        endpoint = None  # its key is not at hand: the state can be told, the endpoint cannot be asked
    truth = truth_of(folder, endpoint)
    events = list(folder.events())
    since = next((event["at"] for event in reversed(events) if event.get("event") in _CHANGES), None)
    kv_tokens = next((int(event["kv_tokens"]) for event in events if "kv_tokens" in event), None)
    return {
        "name": folder.name,
        "state": str(truth.state),
        "because": truth.because,
        "base_url": about.get("base_url", ""),
        "model": about.get("served_name", ""),
        "engine": about.get("engine", ""),
        "pid": truth.engine_pid,
        "since": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(since)) if since else "",
        "run": folder.run_id,
        "spec": about.get("spec", ""),
        "kv_tokens": {"planned": folder.memory().get("kv_tokens"), "measured": kv_tokens},
    }


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


_CHANGES = frozenset({"spawned", "ready", "stopped", "failed"})
