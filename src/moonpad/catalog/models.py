"""The checkpoints that moonpad knows by name, with what their weights take."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from moonpad.catalog.cached_names import REVISION
from moonpad.catalog.gguf import ambiguous_repository, by_type, gguf_models, typed_of
from moonpad.catalog.hardware import hardware
from moonpad.catalog.model_row import Model, architectures, quantizations
from moonpad.catalog.other_models import COMMIT
from moonpad.catalog.toml_rows import Row, rows, unique
from moonpad.values.cluster import Device

__all__ = ["Model", "find_model", "models", "native_siblings", "same_in_formats"]

FILE: Final = "models.toml"


_GGUF_FILE: Final = re.compile(r"(?:-(?:\d{1,8}|\*)-of-(?:\d{1,8}|\*))?\.gguf$")
"""`-00001-of-*.gguf` too: the shell writes the number."""
_TYPE_LEFT_OPEN: Final = re.compile(
    r"[-_.]+(?:\.{2,}|…|x{2,}|\*|<[^<>]{1,40}>|\{[^{}]{1,40}\}|\$\{?\w{1,40}\}?|quant|type)"
)
"""How people write the type of a file that they leave open: `Kimi-K2.5-...-00001-of-00012.gguf`."""


@cache
def models() -> Mapping[str, Model]:
    """Every checkpoint by its id. Reads the data once."""
    every_model = (*(_model(key, row) for key, row in rows(FILE, "models")), *_ggufs())
    unique(FILE, (name.casefold() for model in every_model for name in (model.id, *model.aliases)))
    return MappingProxyType({model.id: model for model in every_model})


def native_siblings(name: str, device: Device) -> tuple[Model, ...]:
    """The same model in the formats that the device computes in itself, made by others of the checkpoint `name`."""
    known, row = find_model(name), hardware().get(device.id)
    if known is None or row is None:
        return ()
    formats = row.native_formats
    made_of_it = (model for model in models().values() if model.base == known.id and model.quantization)
    return tuple(model for model in made_of_it if model.quantization and model.quantization.scheme in formats)


def same_in_formats(name: str, schemes: frozenset[str]) -> Model | None:
    """The checkpoint in one of these formats of the model that `name` is a checkpoint of: that model's own, or one made
    of it. None where the catalogue has none."""
    known = find_model(name)
    if known is None:
        return None
    first = known.base or known.id
    of_it = sorted((each for each in models().values() if first in (each.id, each.base)), key=lambda each: each.base)
    return next((each for each in of_it if each.quantization and each.quantization.scheme in schemes), None)


def find_model(name: str) -> Model | None:
    """The checkpoint that a name or a path means, by its id, an alias, or the last parts of a path, in any case.

    A cache folder of Hugging Face (`…/models--moonshotai--Kimi-K2-Thinking/snapshots/…`) means what it caches, a GGUF
    file in it what its own name says. A GGUF repository with several quantisations gives a refused model whose sentence
    names them; of a GGUF file that is not recorded the size is estimated by its type. None where nothing is meant.
    """
    plain = name.strip().casefold().replace("\\", "/").replace("___", ".")  # as ModelScope's cache writes a dot
    parts = [part for part in plain.split("/") if part]
    is_file = bool(parts) and _GGUF_FILE.search(parts[-1]) is not None
    parts[-1:] = [_GGUF_FILE.sub("", part) for part in parts[-1:]]
    for part in parts:
        if part.startswith("models--"):
            of_file = _names().get(parts[-1]) or by_type(parts[-1], _names().get, is_file=True) if is_file else None
            if of_file is not None:
                return of_file  # of several in the repository the one that is named
            parts = part.removeprefix("models--").split("--")
            break
    if len(parts) > 1 and (
        COMMIT.fullmatch(parts[-1]) or REVISION.fullmatch(parts[-1])
    ):  # `…/DeepSeek-V3/1d044fd82b15…`, of one commit, `…/Kimi-K2.5/main`
        del parts[-1]
    for last in (2, 1):
        if len(parts) >= last and (model := _names().get("/".join(parts[-last:]))) is not None:
            return model
    return by_type(parts[-1], _names().get, is_file=is_file) if parts else None


def uncounted_file(name: str) -> str:
    """`moonshotai/Kimi-Linear-48B-A3B-Instruct in Q4_K_M` of a GGUF file whose checkpoint is known, and of which it is
    not known how much memory an engine takes for it; "" for others."""
    last = name.strip().casefold().replace("\\", "/").rstrip("/").rpartition("/")[2]
    stem, found = _GGUF_FILE.subn("", last)
    typed = typed_of(stem, _names().get, is_file=found > 0)
    return f"{typed[0].id} in {typed[1]}" if typed is not None and find_model(name) is None else ""


def untyped_file(name: str) -> str:
    """`moonshotai/Kimi-K2.5` of a GGUF file `Kimi-K2.5.gguf` or `Kimi-K2.5-...-00001-of-00012.gguf`, of which it is
    not said in what type it holds those weights; "" for others."""
    last = name.strip().casefold().replace("\\", "/").rpartition("/")[2]
    stem, found = _GGUF_FILE.subn("", last)
    left_open = _TYPE_LEFT_OPEN.search(stem)
    model = _names().get(stem[: left_open.start()] if left_open else stem) if found else None
    quantization = model.quantization if model is not None else None
    is_gguf = quantization is not None and quantization.scheme == "gguf"
    return model.id if model is not None and not is_gguf else ""


@cache
def _names() -> Mapping[str, Model]:
    """By id, alias and last part, casefolded; a last part that two checkpoints share means neither of them."""
    by_name: dict[str, Model] = {}
    by_last_part: dict[str, dict[str, Model]] = {}
    for model in (*models().values(), *_ambiguous()):
        for name in (model.id, *model.aliases):
            by_name[name.casefold()] = model
            by_last_part.setdefault(name.rpartition("/")[2].casefold(), {})[model.id] = model
    return {part: next(iter(of.values())) for part, of in by_last_part.items() if len(of) == 1} | by_name


def _ambiguous() -> Iterator[Model]:
    repositories: dict[str, list[Model]] = {}
    for model in _ggufs():
        repositories.setdefault(model.id.partition(":")[0], []).append(model)
    for repository, files in repositories.items():
        if len(files) > 1:
            yield ambiguous_repository(repository, tuple(files))


@cache
def _ggufs() -> tuple[Model, ...]:
    return tuple(model for repository, row in rows(FILE, "gguf") for model in gguf_models(repository, row))


def _model(key: str, row: Row) -> Model:
    parts: dict[str, Any] = {}
    if name := row.pop("architecture", ""):
        known = architectures()[name]
        parts = {"architecture": known.value, "architecture_name": name, "rotary_in_files": known.rotary_in_files}
    if name := row.pop("quantization", ""):
        scheme = quantizations()[name]
        parts |= {"quantization": scheme.value, "quantization_name": name, "formats_known": scheme.formats_known}
    total = row.get("total_bytes")
    low, high = row.pop("range", (total, total))
    if total is not None and not low <= total <= high:
        raise row.error(f"the range {low} to {high} does not hold {total}")
    model = row.build(Model, id=key, total_low_bytes=low, total_high_bytes=high, **parts)
    if not model.refused and None in (model.architecture, model.quantization, total):
        raise row.error("a model that is not refused needs architecture, quantization and total_bytes")
    return model
