"""What `moonpad catalog` shows: one small table for each part of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.table import Table
from rich.text import Text

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.hardware import Hardware
from moonpad.catalog.models import Model
from moonpad.values.plan_answer import Published
from moonpad.values.units import GB, GIB

STYLES: Final = {"verified": "green", "reported": "", "estimated": "yellow"}
FIGURES: Final = (
    ("output_throughput", "{:.0f} tok/s out"),
    ("mean_ttft_ms", "TTFT {:.0f} ms"),
    ("mean_tpot_ms", "TPOT {:.1f} ms"),
    ("prefill_throughput_2k", "prefill {:.0f} tok/s at 2k"),
    ("prefill_throughput_8k", "{:.0f} at 8k"),
    ("prefill_throughput_32k", "{:.0f} at 32k"),
)


def models_table(models: Iterable[Model]) -> Table:
    table = _table("model", "format", "size", "context", "standing", numbers=("size", "context"))
    for model in models:
        context = f"{model.architecture.max_context:,}" if model.architecture else "-"
        scheme = model.quantization.scheme if model.quantization else "not planned"
        table.add_row(model.id, scheme, size_text(model), context, _standing(model.standing))
    return table


def size_text(model: Model) -> str:
    """In GB of 10**9 bytes; a range where the ends are more than a hundredth apart."""
    total, low, high = model.total_bytes, model.total_low_bytes, model.total_high_bytes
    if total is None or low is None or high is None:
        return "unknown"
    if low == high:
        return f"{total / GB:.3f} GB"
    if (high - low) * 100 <= total:
        return f"about {total / GB:.0f} GB"
    return f"{low / GB:.0f} to {high / GB:.0f} GB"


def hardware_table(rows: Iterable[Hardware]) -> Table:
    titles = ("write", "device", "usable GiB", "memory TB/s", "BF16 TFLOPS", "a node", "FP8", "FP4", "standing")
    table = _table(*titles, numbers=("usable GiB", "memory TB/s", "BF16 TFLOPS", "a node"))
    for row in rows:
        device = row.device
        table.add_row(
            row.label,
            row.product,
            f"{row.usable_bytes[1] / GIB:.1f}" if row.usable_bytes[1] else "-",
            _span(row.memory_bytes_per_s, 1e12, ".2f"),
            _span(row.bf16_flops, 1e12, ".0f"),
            str(device.per_node) if device else "-",
            "yes" if device and device.native_fp8 else "no" if device else "-",
            "yes" if device and device.native_fp4 else "no" if device else "-",
            _standing(row.provenance.standing) if device else Text("not planned", style="dim"),
        )
    return table


def engines_table(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Rows have `name`, `platforms` and `installs`, the version that moonpad installs or ""."""
    table = _table("engine", "runs on", "installed by moonpad")
    for row in rows:
        table.add_row(row["name"], ", ".join(row["platforms"]), row["installs"] or "no: bring your own, or an image")
    return table


def calibrations_table(rows: Iterable[Calibration]) -> Table:
    table = _table("run", "engine", "device", "layout", "KV cache", "standing", numbers=("KV cache",))
    for run in rows:
        kv = f"{run.kv_bytes / GIB:.2f} GiB"
        engine = f"{run.engine} {run.engine_version}"
        table.add_row(run.id, engine, run.device, run.layout.words, kv, _standing(run.standing))
    return table


def published_text(rows: Iterable[Published]) -> Text:
    """Two lines a result: a table of so much text would be narrow and long."""
    text = Text()
    text.append("Means measured by others, not by moonpad:\n")
    for result in rows:
        figures_by_name = dict(result.figures)
        figures = ", ".join(form.format(figures_by_name[name]) for name, form in FIGURES if name in figures_by_name)
        text.append(f"  {result.cluster}  {result.engine}  {result.layout.words}", style="bold")
        text.append(f"  {result.model.rpartition('/')[2]}, {result.title}\n      {figures}\n")
    return text


def _table(*titles: str, numbers: Sequence[str] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold", justify="right" if title in numbers else "left")
    return table


def _span(span: tuple[float, float] | None, unit: float, form: str) -> str:
    """The low end, which is what the planner takes."""
    return "-" if span is None else f"{span[0] / unit:{form}}"


def _standing(standing: str) -> Text:
    return Text(standing, style=STYLES.get(standing, ""))
