"""A checkpoint with a changed config.json, in a folder of its own; the original is read and never written.

Weights are hard links: they take no room, a container that mounts the new folder alone has them, and deleting the
folder leaves the original as it was. Everything else is copied, so that editing it changes nothing in the original.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moonpad.checkpoints.config import CONFIG, config_document
from moonpad.checkpoints.files import is_folder, open_inside
from moonpad.engines.adaptations import ADAPTATIONS, Adaptation
from moonpad.values.errors import CheckpointError, UsageError
from moonpad.values.records import as_dict

RECORD: Final = "moonpad-adapted.json"
WEIGHTS: Final = (".safetensors", ".gguf", ".bin", ".pt", ".pth")
FROM_KIMI: Final = "kimi_k2"
"""The only model type that another one stands in for; its layers are DeepSeek-V3's."""
STANDS_IN: Final = "deepseek_v3"


@dataclass(frozen=True, slots=True)
class Change:
    """One value of config.json; `key` is its path, dotted."""

    key: str
    old: object
    new: object


@dataclass(frozen=True, slots=True)
class Adapted:
    """What was made. Names are relative to the folder."""

    folder: Path
    source: Path
    changes: tuple[Change, ...]
    linked: tuple[str, ...]
    copied: tuple[str, ...]


def experts_as_moe(config: dict[str, Any]) -> Iterator[Change]:
    """vLLM-Ascend finds INT4 experts only where a group of the quantisation targets `MoE`.

    Raises:
        CheckpointError: there is no such group, so nothing of it is for vLLM-Ascend to find.
    """
    groups = list(_groups(config))
    if not groups:
        raise CheckpointError("config.json describes no quantisation of compressed-tensors with config_groups")
    for key, group in groups:
        if group.get("targets") == ["Linear"]:
            group["targets"] = ["MoE"]
            yield Change(f"{key}.targets", ["Linear"], ["MoE"])


def model_type_of_deepseek(config: dict[str, Any]) -> Iterator[Change]:
    """For a framework that knows DeepSeek-V3 and not Kimi-K2.

    Raises:
        CheckpointError: it is not of the model type kimi_k2.
    """
    model_type = config.get("model_type")
    if model_type == STANDS_IN:
        return
    if model_type != FROM_KIMI:
        raise CheckpointError(f"model_type is {model_type!r}; only {FROM_KIMI} is {STANDS_IN} under another name")
    config["model_type"] = STANDS_IN
    yield Change("model_type", FROM_KIMI, STANDS_IN)


CHANGED_BY: Final = {
    Adaptation.EXPERTS_AS_MOE: experts_as_moe,
    Adaptation.DEEPSEEK_V3: model_type_of_deepseek,
}


def adapt(source: Path, out: Path, purposes: tuple[str, ...], gguf: Path | None = None) -> Adapted:
    """Writes the folder `out`. With `gguf`, its weights are those of that folder, beside the other files of `source`.

    Raises:
        CheckpointError: a folder lacks what is asked for, or its weights cannot be linked from where `out` is.
        UsageError: `out` exists, or lies in the original.
    """
    for folder in (source, *((gguf,) if gguf else ())):
        if not is_folder(folder):
            raise CheckpointError(f"there is no folder {folder}", remedy="check the path")
    _refuse_place(out, source, gguf)
    try:
        config = config_document(source)
    except FileNotFoundError:
        raise CheckpointError(f"{source} has no {CONFIG}", remedy="name the folder that was downloaded") from None
    except CheckpointError as error:
        raise CheckpointError(f"{CONFIG} {error.message}", remedy="download it again") from None
    changes = tuple(change for purpose in purposes for change in CHANGED_BY[ADAPTATIONS[purpose]](config))
    if not changes and gguf is None:
        raise CheckpointError(f"{source} needs no change for {' and '.join(purposes)}", remedy="use it as it is")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise CheckpointError(f"{out.parent}: {error.strerror or error}", remedy="name another --out") from error
    try:
        adapted = _fill(part, source, gguf, config, changes)
        part.chmod(0o755)
        part.rename(out)
    except BaseException as error:
        shutil.rmtree(part, ignore_errors=True)
        if isinstance(error, OSError):
            raise CheckpointError(f"{error.filename or out}: {error.strerror or error}") from error
        raise
    return Adapted(out, source, adapted.changes, adapted.linked, adapted.copied)


def _fill(
    part: Path, source: Path, gguf: Path | None, config: Mapping[str, Any], changes: tuple[Change, ...]
) -> Adapted:
    weights_of = gguf or source
    linked = [name for name in _names(weights_of) if name.endswith(WEIGHTS)]
    copied = [name for name in _names(source) if not name.endswith(WEIGHTS) and not (changes and name == CONFIG)]
    for folder, names, put in ((weights_of, linked, _link), (source, copied, _copy)):
        for name in names:
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            put(folder, name, part / name)
    if not linked:
        raise CheckpointError(f"{weights_of} has no weights", remedy="name the folder with the files of the weights")
    if changes:
        (part / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    adapted = Adapted(part, source, changes, tuple(linked), tuple(copied))
    record = {
        "schema": 1,
        "source": str(source.resolve()),
        "gguf": str(gguf.resolve()) if gguf else None,
        "changes": [as_dict(change) for change in changes],
        "linked": linked,
        "copied": copied,
    }
    (part / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return adapted


def _refuse_place(out: Path, source: Path, gguf: Path | None) -> None:
    if out.exists() or out.is_symlink():
        raise UsageError(f"{out} exists", remedy="name a new folder with --out, or delete that one")
    for folder in (source, *((gguf,) if gguf else ())):
        if out.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"{out} lies in the original, {folder}", remedy="name a folder beside it with --out")


def _names(folder: Path) -> Iterator[str]:
    """Every file, by its path below the folder; what tools left in hidden folders is not the checkpoint's."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if not any(part.startswith(".") for part in name.parts) and name.name != RECORD and path.is_file():
            yield str(name)


def _link(folder: Path, name: str, target: Path) -> None:
    file, _ = open_inside(folder, name)  # a link out of the folder is refused, as everywhere
    file.close()
    try:
        os.link((folder / name).resolve(), target)
    except OSError as error:
        where = (
            "the file system of the weights" if error.errno == errno.EXDEV else "one with hard links, as their owner"
        )
        raise CheckpointError(
            f"{name} cannot be linked: {error.strerror or error}", remedy=f"name an --out on {where}"
        ) from error


def _copy(folder: Path, name: str, target: Path) -> None:
    file, _ = open_inside(folder, name)
    with file, target.open("xb") as copy:
        shutil.copyfileobj(file, copy)


def _groups(config: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(path, group) of the quantisation of the model, and of its language model where it has a vision tower."""
    for prefix, holder in (("", config), ("text_config.", config.get("text_config"))):
        quantization = holder.get("quantization_config") if isinstance(holder, Mapping) else None
        groups = quantization.get("config_groups") if isinstance(quantization, Mapping) else None
        for name, group in groups.items() if isinstance(groups, Mapping) else ():
            if isinstance(group, dict):
                yield f"{prefix}quantization_config.config_groups.{name}", group
