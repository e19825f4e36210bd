"""`moonpad checkpoint show`: what a folder holds, from its headers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.checkpoints.expectations import calculated_groups, compare
from moonpad.checkpoints.read import read_checkpoint
from moonpad.checkpoints.revision import revision_of
from moonpad.cli.output import Json, emit_json, next_command, out
from moonpad.plan.linear_state import state_bytes
from moonpad.values.checkpoint import Architecture, Checkpoint
from moonpad.values.errors import CheckpointError
from moonpad.values.finding import Finding, errors_of
from moonpad.values.records import as_dict
from moonpad.values.units import gib
from moonpad.values.visible_text import shell_word

BF16_BYTES = 2


def show(folder: str, *, json: Json = False) -> None:
    """Say what a checkpoint folder holds: architecture, format, parameters, bytes by component. Reads headers only.

    Parameters
    ----------
    folder
        A folder with config.json and safetensors files, or kimi-k2-tiny, which comes with moonpad.
    """
    place = embedded_checkpoint(folder) or Path(folder)
    checkpoint = read_checkpoint(place)
    findings = compare(checkpoint, calculated_groups(checkpoint)) if checkpoint.groups else ()
    if json:
        emit_json(_document(checkpoint, revision_of(place), findings))
    else:
        _print(checkpoint, findings)
    if errors := errors_of(findings):
        raise CheckpointError(f"the files of {checkpoint.name} are not what its config.json says", findings=errors)
    if not json:
        next_command(f"moonpad plan --model {shell_word(folder)} --on 8xH200")


def kv_bytes_per_token(architecture: Architecture) -> int:
    """Of the latent and the rotated key of each layer with MLA in BF16; the same on every tensor-parallel rank."""
    return (
        architecture.mla_between(0, architecture.layers)
        * (architecture.kv_lora_rank + architecture.qk_rope_head_dim)
        * BF16_BYTES
    )


def state_bytes_per_sequence(architecture: Architecture) -> int:
    """What all layers with linear attention keep of a sequence; divided over the tensor-parallel ranks."""
    linear, layers = architecture.linear, architecture.layers
    return 0 if linear is None else (layers - architecture.mla_between(0, layers)) * state_bytes(linear, 1)


def architecture_line(architecture: Architecture) -> str:
    parts = [
        architecture.model_type,
        f"{architecture.layers} layers ({architecture.dense_layers} dense)",
        f"hidden {architecture.hidden}",
        f"{architecture.heads} heads",
        f"{architecture.routed_experts} experts of {architecture.moe_intermediate} "
        f"({architecture.experts_per_token} a token, {architecture.shared_experts} shared)",
        f"vocabulary {architecture.vocabulary}",
        f"context {architecture.max_context}",
    ]
    if architecture.vision_parameters:
        parts.append(f"vision {architecture.vision_parameters} parameters")
    return ", ".join(parts)


def _document(checkpoint: Checkpoint, revision: str | None, findings: tuple[Finding, ...]) -> dict[str, Any]:
    quantization = checkpoint.quantization
    counted = bool(checkpoint.groups)
    return {
        "name": checkpoint.name,
        "source": checkpoint.source,
        "revision": revision,
        "architecture": as_dict(checkpoint.architecture),
        "scheme": quantization.scheme,
        "quantization": {
            "method": quantization.method,
            "kv_cache": quantization.kv_cache,
            "formats": {
                str(component): {
                    "name": each.name,
                    "bits": each.bits,
                    "block": list(each.block) if each.block else None,
                }
                for component, each in quantization.formats.items()
            },
        },
        "parameters": checkpoint.parameters if counted else None,
        "tensors": checkpoint.tensors if counted else None,
        "bytes": checkpoint.total_bytes,
        "components": _components(checkpoint),
        "kv_bytes_per_token": kv_bytes_per_token(checkpoint.architecture),
        "state_bytes_per_sequence": state_bytes_per_sequence(checkpoint.architecture),
        "findings": [finding.as_json() for finding in findings],
    }


def _components(checkpoint: Checkpoint) -> dict[str, dict[str, int]]:
    """Largest first."""
    rows: dict[str, dict[str, int]] = {}
    for group in checkpoint.groups:
        row = rows.setdefault(str(group.component), {"parameters": 0, "bytes": 0, "tensors": 0})
        row["parameters"] += group.parameters
        row["bytes"] += group.size_bytes
        row["tensors"] += group.tensors
    return dict(sorted(rows.items(), key=lambda item: -item[1]["bytes"]))


def _print(checkpoint: Checkpoint, findings: tuple[Finding, ...]) -> None:
    show = out().print
    kv_bytes = kv_bytes_per_token(checkpoint.architecture)
    show(f"{checkpoint.name}: {checkpoint.quantization.scheme}, {gib(checkpoint.total_bytes)}", style="bold")
    show(f"  {architecture_line(checkpoint.architecture)}")
    if checkpoint.groups:
        show(f"  {checkpoint.parameters:,} parameters in {checkpoint.tensors:,} tensors")
    show(f"  {kv_bytes:,} bytes of KV cache a token in BF16, {kv_bytes // 2:,} in FP8")
    if states := state_bytes_per_sequence(checkpoint.architecture):
        show(f"  {states:,} bytes of state a sequence, over all tensor-parallel ranks")
    show(f"  {checkpoint.source}")
    if checkpoint.groups:
        _print_table(checkpoint)
    for finding in findings:
        show(f"  {finding.severity}: {finding.message}")


def _print_table(checkpoint: Checkpoint) -> None:
    formats = {"rotary": "", "other": ""}
    formats |= {str(component): each.name for component, each in checkpoint.quantization.formats.items()}
    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    for title in ("component", "format"):
        table.add_column(title, no_wrap=True)
    for title in ("tensors", "parameters", "bytes", "share"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, row in _components(checkpoint).items():
        share = 100 * row["bytes"] / checkpoint.total_bytes if checkpoint.total_bytes else 0
        table.add_row(
            name,
            formats.get(name, "mixed" if checkpoint.file else "bf16"),
            f"{row['tensors']:,}",
            f"{row['parameters']:,}",
            f"{row['bytes']:,}",
            f"{share:.1f} %",
        )
    out().print(table)
