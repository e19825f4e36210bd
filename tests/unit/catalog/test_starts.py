"""The collection of published engine starts: it parses, and its rows say what the columns promise."""

import csv
import re
import zlib
from collections.abc import Collection
from pathlib import Path

from moonpad.catalog.hardware import hardware

STARTS = Path(__file__).parents[3] / "benchmarks" / "memory" / "starts.csv"
COUNTS = ("devices", "kv_tokens", "hidden", "layers", "vocabulary", "experts_per_token")
SETTINGS = ("tp", "pp", "dp", "dcp", "max_num_seqs", "max_num_batched_tokens", "max_model_len")
CHOICES = {
    "engine": ("vllm", "sglang", "vllm-ascend"),
    "outcome": ("works", "fails", "oom-later"),
    "held_out": ("yes", "no"),
    "graphs_estimated": ("", "yes", "no", "unknown"),
    "enforce_eager": ("", "yes", "no", "default"),
}
SHAPE = ("hidden", "layers", "vocabulary", "experts_per_token")


def rows() -> list[dict[str, str]]:
    with STARTS.open(newline="") as file:
        return list(csv.DictReader(file))


def whole(text: str) -> bool:
    return text.isascii() and text.isdigit()


def test_rows_are_well_formed() -> None:
    devices = hardware().keys()
    for row in rows():
        complaint = fault_of(row, devices)
        assert complaint == "", f"{row['id']}: {complaint}"


def fault_of(row: dict[str, str], devices: Collection[str]) -> str:
    """What is wrong with a row, empty if nothing is."""
    if None in row or None in row.values():
        return "not as many fields as columns"
    if row["device"] not in devices:
        return f"device {row['device']}"
    for name, choice in CHOICES.items():
        if row[name] not in choice:
            return f"{name} {row[name]}"
    for name in COUNTS:
        if row[name] and not whole(row[name]):
            return f"{name} {row[name]}"
    for name in SETTINGS:
        if row[name] not in {"", "default"} and not whole(row[name]):
            return f"{name} {row[name]}"
    for name in (name for name in row if name.endswith("_gib")):
        if row[name] and not re.fullmatch(r"-?\d+(\.\d+)?", row[name]):
            return f"{name} {row[name]}"
    fraction = row["gpu_memory_utilization"]
    if fraction not in {"", "default"} and not 0 < float(fraction) <= 1:
        return f"gpu_memory_utilization {fraction}"
    if len({row[name] == "" for name in SHAPE}) != 1:
        return "half a shape"
    return ""


def test_a_broken_row_is_seen() -> None:
    devices = hardware().keys()
    good = rows()[0]
    for name, text in (("device", "h201"), ("kv_gib", "12 GiB"), ("tp", "eight"), ("hidden", ""), ("outcome", "ok")):
        assert fault_of(good | {name: text}, devices) != ""


def test_ids_are_unique() -> None:
    names = [row["id"] for row in rows()]
    assert len(names) == len(set(names))


def test_parts_fit_into_the_device() -> None:
    """What a start printed of its parts never exceeds the device that it printed."""
    parts = ("weights_gib", "non_torch_gib", "activation_gib", "kv_gib")
    for row in rows():
        if row["device_total_gib"]:
            used = sum(float(row[name] or 0) for name in parts)
            assert used <= float(row["device_total_gib"]) + 0.05, row["id"]


def test_held_out_follows_the_rule() -> None:
    """A row that is marked for the judging only is one that the rule chose, or repeats one of the same source."""
    chosen, marked = set(), set()
    for row in rows():
        layout = "".join(f"{name}{row[name]}" for name in ("tp", "pp", "dp", "ep", "dcp"))
        if zlib.crc32((row["url"] + row["device"] + layout).encode()) % 3 == 0:
            chosen.add(row["source"])
        if row["held_out"] == "yes":
            marked.add(row["source"])
    assert marked
    assert marked <= chosen
