"""What engines do not tell, as a Prometheus text: state, generation, planned and measured cache, devices. Pure.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.values.supervision import State
from moonpad.watch.look import Look

Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, Labels, float]

HELP: Final = {
    "moonpad_endpoint_answers": "Whether /health answered 200 (1) or not (0).",
    "moonpad_run_state": "1 for the state that moonpad status shows, 0 for the others.",
    "moonpad_run_generation": "Which start of its engine a run is at, from 1.",
    "moonpad_run_restarts": "Restarts of a run's engine.",
    "moonpad_kv_tokens": "Tokens that the KV cache holds, as planned and as the engine said.",
    "moonpad_device_used_bytes": "Memory of a device in use.",
    "moonpad_device_power_watts": "Power that a device draws.",
    "moonpad_device_busy_ratio": "Share of time in which a device works.",
    "moonpad_device_temperature_celsius": "Temperature of a device.",
    "moonpad_device_throttled": "Whether heat or a limit of power holds the clocks of a device back (1) or not (0).",
}
"""All are gauges. Devices are this host's, whichever endpoint uses them."""


def exposition(looks: Sequence[Look]) -> str:
    """Of the last look at each endpoint."""
    samples: dict[str, dict[Labels, float]] = {name: {} for name in HELP}
    for look in looks:
        for name, labels, value in _samples(look):
            samples[name][labels] = value
    lines = []
    for name, rows in samples.items():
        if rows:
            lines += [f"# HELP {name} {HELP[name]}", f"# TYPE {name} gauge"]
            lines += [f"{name}{_labels(labels)} {value!r}" for labels, value in rows.items()]
    return "\n".join(lines) + "\n"


def _samples(look: Look) -> Iterator[Sample]:
    endpoint = (("endpoint", look.name),)
    yield "moonpad_endpoint_answers", endpoint, float(look.health.status == 200)
    if (run := look.run) is not None:
        for state in State:
            yield "moonpad_run_state", (*endpoint, ("state", str(state))), float(state is run.state)
        yield "moonpad_run_generation", endpoint, float(run.generation)
        yield "moonpad_run_restarts", endpoint, float(run.restarts)
        for kind, tokens in (("planned", run.kv_tokens_planned), ("measured", run.kv_tokens_measured)):
            if tokens is not None:
                yield "moonpad_kv_tokens", (*endpoint, ("kind", kind)), float(tokens)
    for use in look.devices if isinstance(look.devices, tuple) else ():
        for name, value in (
            ("moonpad_device_used_bytes", use.used_bytes),
            ("moonpad_device_power_watts", use.power_w),
            ("moonpad_device_busy_ratio", use.busy),
            ("moonpad_device_temperature_celsius", use.temperature_c),
            ("moonpad_device_throttled", None if use.throttled_by is None else bool(use.throttled_by)),
        ):
            if value is not None:
                yield name, (("device", str(use.index)),), float(value)


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
