"""What one word of a command line names: a model, a folder, an engine."""

from __future__ import annotations

import difflib
from pathlib import Path

from msgspec import Struct

from moonpad.catalog import models as catalog
from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.engines import ENGINES
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.spec.near_match import did_you_mean
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.errors import UsageError


class Model(Struct, frozen=True):
    """A checkpoint. `written` names it for moonpad, `argument` for an engine: an id, or a folder.

    `brings_code`: its tokenizer is Python in the checkpoint, so the engine must be allowed to run it. `here`: it is a
    folder of this machine.
    """

    checkpoint: Checkpoint
    written: str
    argument: str
    brings_code: bool
    here: bool


def typed_path(written: str) -> Path:
    """What was typed, with `~` and `~user` for a home folder.

    Raises:
        UsageError: there is no user of that name.
    """
    try:
        return Path(written).expanduser()
    except RuntimeError:
        raise UsageError(f'there is no home folder for "{written}"', remedy="write the whole path") from None


def find_model(written: str, folder: Path) -> Model:
    """A name that moonpad ships or knows, else a local folder; `folder` is what the text is as a path.

    Raises:
        UsageError: it is neither.
        PreflightRefused: the folder's checkpoint is incomplete, or moonpad cannot plan that model.
    """
    place = embedded_checkpoint(written) or (folder if _is_folder(folder) else None)
    if place is not None:
        from moonpad.checkpoints.read import read_checkpoint  # which a name of the catalogue does not need

        checkpoint = read_checkpoint(place)
        shown = written if place != folder else str(folder)  # a spec's path is relative to the spec
        brings_code = not (place / "tokenizer.json").exists() and any(place.glob("*.py"))
        return Model(checkpoint, shown, str(place), brings_code, here=True)
    known = catalog.find_model(written)
    if known is None:
        raise _unknown(written)
    # Its repository holds tokenization_kimi.py, and engines load the tokenizer from there.
    return Model(catalog_checkpoint(known), known.id, known.id, brings_code=True, here=False)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _unknown(written: str) -> UsageError:
    ids = [model.id for model in catalog.models().values()]
    names = {name.casefold(): id_ for id_ in ids for name in (id_, id_.split("/")[-1])}
    near = difflib.get_close_matches(written[:80].casefold(), list(names), n=3, cutoff=0.5)
    meant = " or ".join(dict.fromkeys(names[name] for name in near))
    return UsageError(
        f"{written[:80]!a} is neither a folder nor a model of the catalogue",
        remedy=f"did you mean {meant}?" if meant else "`moonpad catalog models` lists what it knows",
    )


def known_engine(name: str, *more: str) -> str:
    """The name itself. Raises UsageError where it is neither an engine's nor one of `more`."""
    if name not in ENGINES and name not in more:
        names = (*ENGINES, *more)
        raise UsageError(
            f"there is no engine {name[:60]!a}{did_you_mean(name, ENGINES)}",
            remedy=f"one of {', '.join(names[:-1])} or {names[-1]}",
        )
    return name
