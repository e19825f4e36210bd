"""How well the memory model predicts starts that others published, each from the setups that it is not of.

    python benchmarks/memory/fit.py           # prints the tables
    python benchmarks/memory/fit.py --write   # and writes benchmarks/memory/results.md

Nothing is run: the figures are those of starts.csv. What a start has beside weights and KV cache is its budget less the
two, as its log names them. Refitted without a setup is what the engine holds before any token (for each kind of device
and weights: the median of what is left); the bytes of sampler and graphs are those of the shipped rows. A setup is what
one source measured with one release on one kind of device in one layout. Rows with `held_out` were looked at by no fit.
"""

from __future__ import annotations

import argparse
import csv
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.device_overhead import Spread, context_of
from moonpad.catalog.hardware import find_hardware
from moonpad.catalog.models import find_model
from moonpad.engines import ENGINES
from moonpad.plan.effective_settings import Limits, limits_of
from moonpad.plan.memory import memory_of
from moonpad.plan.overhead import modelled_overhead
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster, Device
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.units import GIB
from moonpad.values.versions import series

HERE = Path(__file__).parent
NOT_SAID = ("", "default", "unknown")
DEEPSEEK = ("deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-V3")
"""Of the same shape but for heads, experts and vocabulary; weights as their logs say."""


@dataclass(frozen=True)
class Start:
    """A start that said what was left for its KV cache; bytes are those of one device."""

    row: dict[str, str]
    configuration: Configuration
    limits: Limits
    weights_bytes: float
    kv_bytes: float

    @property
    def setup(self) -> tuple[str, ...]:
        row = self.row
        return row["source"], row["device"], series(row["version"]), row["tp"], row["dp"], row["dcp"]

    @property
    def rest_bytes(self) -> float:
        budget = self.configuration.device.usable_bytes * self.limits.memory_fraction
        return budget - self.weights_bytes - self.kv_bytes

    @property
    def words(self) -> int:
        return (self.limits.max_num_seqs or 0) * self.configuration.architecture.vocabulary


def read_starts() -> Iterator[Start]:
    with (HERE / "starts.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (start := _start(row)) is not None:
                yield start


def _start(row: dict[str, str]) -> Start | None:
    """None for what says too little, or is of another engine or shape."""
    hardware, checkpoint = find_hardware(row["device"]), _checkpoint(row["model"])
    if row["engine"] != "vllm" or hardware is None or checkpoint is None or row["outcome"] == "oom-later":
        return None
    if not (row["max_num_seqs"] and row["max_num_batched_tokens"]):
        return None  # "default" where the whole command is known
    layout = Layout(**{name: _integer(row[name]) or 1 for name in ("tp", "pp", "dp", "dcp")}, ep=_ep(row))
    cluster = _cluster(hardware.device, int(row["devices"] or layout.world_size))
    configuration = Configuration(checkpoint, cluster, ENGINES["vllm"].facts, row["version"], layout, _settings(row))
    limits = limits_of(configuration)
    if row["graphs_estimated"] in ("yes", "no"):
        limits = replace(limits, graphs_counted=row["graphs_estimated"] == "yes")
    memory = memory_of(configuration)
    if row["kv_gib"]:
        kv_bytes = float(row["kv_gib"]) * GIB
    elif row["kv_tokens"] and not checkpoint.name.startswith(DEEPSEEK):
        kv_bytes = float(row["kv_tokens"]) / layout.dcp * memory.kv_bytes_per_token
    else:
        return None
    if checkpoint.name.startswith(DEEPSEEK) and not row["weights_gib"]:
        return None
    weights = float(row["weights_gib"]) * GIB if row["weights_gib"] else float(memory.weights_bytes)
    return Start(row, configuration, limits, weights, kv_bytes)


def _settings(row: dict[str, str]) -> Settings:
    fraction, flags = row["gpu_memory_utilization"], row["other_flags"] + row["note"]
    draft = re.search(r"model: ([\w./-]+)", flags) if "speculative" in flags else None
    return Settings(
        max_num_seqs=_integer(row["max_num_seqs"]),
        max_num_batched_tokens=_integer(row["max_num_batched_tokens"]),
        max_model_len=_integer(row["max_model_len"]),
        gpu_memory_utilization=None if fraction in NOT_SAID else float(fraction),
        kv_cache_dtype=_text(row["kv_cache_dtype"]),
        attention_backend=_text(row["attention_backend"]),
        enforce_eager=row["enforce_eager"] == "yes",
        text_only="language" in row["other_flags"],
        mm_encoder_tp_mode="data" if "--mm-encoder-tp-mode data" in flags else None,
        draft_tokens=3 if "draft" in flags or "speculative" in flags else 0,
        draft=draft[1] if draft else None,
        # What adapters share among experts is not modelled.
        max_loras=1 if "--max-loras 1" in flags and "moe-shared" not in flags else 0,
        max_lora_rank=32 if "--max-lora-rank 32" in flags else None,
    )


def _checkpoint(model: str) -> Checkpoint | None:
    name = "moonshotai/Kimi-K2-Instruct" if model.startswith(DEEPSEEK) else model
    known = find_model(name)
    if known is None or "Kimi-K2" not in name:
        return None
    checkpoint = catalog_checkpoint(known)
    if name == model:
        return checkpoint
    architecture = replace(checkpoint.architecture, heads=128, routed_experts=256, vocabulary=129_280)
    return replace(checkpoint, name=model, architecture=architecture)


def _cluster(device: Device, count: int) -> Cluster:
    nodes = -(-count // device.per_node)
    return parse_cluster(f"{nodes}x{device.per_node}x{device.id}" if nodes > 1 else f"{count}x{device.id}")


def _integer(text: str) -> int | None:
    return None if text in NOT_SAID or not text.isdigit() else int(text)


def _text(text: str) -> str | None:
    return None if text in NOT_SAID else text


def _ep(row: dict[str, str]) -> int:
    ranks = (_integer(row["tp"]) or 1) * (_integer(row["dp"]) or 1)
    return ranks if row["ep"] == "yes" else _integer(row["ep"]) or 1


# --- the fit ----------------------------------------------------------------------------------------------------------


Contexts = Mapping[str, float]
"""By the kind of a row of contexts: the bytes of its value."""


def rest_of(start: Start, contexts: Contexts) -> Spread:
    """What `start` has beside weights and KV cache, with the range of the shipped rows around it."""
    key, shipped = _context(start)
    shift = contexts.get(key, contexts.get("", shipped)) - shipped
    return Spread(*(end + shift for end in modelled_overhead(start.configuration, start.limits).total))


def _context(start: Start) -> tuple[str, float]:
    of = start.configuration
    row = context_of("vllm", of.version, of.platform, of.scheme)
    return f"{row.platform} {row.scheme} {row.since}", row.context.value


def fit(starts: Sequence[Start]) -> Contexts:
    """The median of what is left for the context; under "" that of all, for a kind that no other start is of. A setup
    counts once, with the median of its starts."""
    left: dict[str, dict[tuple[str, ...], list[float]]] = {}
    for start in starts:
        key, shipped = _context(start)
        value = start.rest_bytes - rest_of(start, {}).value + shipped
        for name in (key, ""):
            left.setdefault(name, {}).setdefault(start.setup, []).append(value)
    return {
        key: statistics.median(statistics.median(values) for values in setups.values()) for key, setups in left.items()
    }


@dataclass(frozen=True)
class Predicted:
    start: Start
    kv: Spread
    """As planned, in bytes: with moonpad's own weights where it knows the model."""

    @property
    def inside(self) -> bool:
        return self.kv.low <= self.start.kv_bytes <= self.kv.high

    @property
    def error(self) -> float:
        return (self.kv.value - self.start.kv_bytes) / max(abs(self.start.kv_bytes), GIB)

    @property
    def half_range(self) -> float:
        return (self.kv.high - self.kv.low) / 2 / max(abs(self.start.kv_bytes), GIB)


def predict(start: Start, contexts: Contexts) -> Predicted:
    rest = rest_of(start, contexts)
    weights = start.weights_bytes
    if not start.row["model"].startswith(DEEPSEEK):
        weights = float(memory_of(start.configuration).weights_bytes)
    left = start.configuration.device.usable_bytes * start.limits.memory_fraction - weights
    return Predicted(start, Spread(left - rest.value, left - rest.high, left - rest.low))


def leave_one_setup_out(starts: Sequence[Start]) -> Iterator[Predicted]:
    for setup in dict.fromkeys(start.setup for start in starts):
        fitted = fit([start for start in starts if start.setup != setup])
        yield from (predict(start, fitted) for start in starts if start.setup == setup)


# --- the tables -------------------------------------------------------------------------------------------------------


def summary(title: str, predicted: Sequence[Predicted]) -> str:
    if not predicted:
        return f"| {title} | 0 | | | |"
    inside = sum(each.inside for each in predicted)
    error = statistics.median(abs(each.error) for each in predicted)
    width = statistics.median(each.half_range for each in predicted)
    return f"| {title} | {len(predicted)} | {inside} ({inside / len(predicted):.0%}) | {error:.1%} | ± {width:.1%} |"


def lines(predicted: Iterable[Predicted]) -> Iterator[str]:
    for each in predicted:
        start, row = each.start, each.start.row
        kv = each.kv.times(1 / GIB)
        settings = (
            f"{row['gpu_memory_utilization']}, {start.limits.max_num_seqs}, {start.limits.max_num_batched_tokens}"
        )
        yield (
            f"| {row['id']} | {row['model'].rpartition('/')[2]} | {row['devices']}x{row['device']} | {row['version']} "
            f"| {start.configuration.layout.words} | {settings} | {start.kv_bytes / GIB:.2f} | {kv.value:.2f} | "
            f"{kv.low:.2f} to {kv.high:.2f} | {'' if each.inside else 'outside'} |"
        )


def report() -> Iterator[str]:
    starts = list(read_starts())
    kept = [start for start in starts if start.row["held_out"] != "yes"]
    out = list(leave_one_setup_out(kept))
    apart = [predict(start, {}) for start in starts if start.row["held_out"] == "yes"]
    kimi = [each for each in out if not each.start.row["model"].startswith(DEEPSEEK)]
    yield "# Planned and published KV cache of vLLM's starts"
    yield ""
    yield "Made by `python benchmarks/memory/fit.py --write` from `starts.csv`; nothing here was run. Each start is"
    yield "planned with a model that was fitted without its setup; those apart with the shipped one. Error and half"
    yield "the range are relative to the published KV cache, or to 1 GiB where that is smaller."
    yield ""
    yield "| starts | number | inside the range | median error | half the range, median |"
    yield "|---|---:|---:|---:|---:|"
    yield summary("Kimi-K2 family, shared points", [each for each in kimi if each.start.row["id"].startswith("facts")])
    yield summary("Kimi-K2 family, all", kimi)
    yield summary("… tensor-parallel alone", [each for each in kimi if each.start.configuration.layout.dp == 1])
    yield summary("DeepSeek-R1 and V3.2", [each for each in out if each not in kimi])
    yield summary("all", out)
    yield summary("apart, looked at by no fit", apart)
    for title, predicted in (("Left out in turn", out), ("Apart", apart)):
        yield ""
        yield f"## {title}"
        yield ""
        yield "| start | model | devices | vLLM | layout | fraction, sequences, tokens | KV GiB | planned | range | |"
        yield "|---|---|---|---|---|---|---:|---:|---:|---|"
        yield from lines(predicted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write benchmarks/memory/results.md")
    args = parser.parse_args()
    text = "\n".join(report()) + "\n"
    print(text, end="")
    if args.write:
        (HERE / "results.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
