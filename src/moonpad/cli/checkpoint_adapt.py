"""`moonpad checkpoint adapt`: a checkpoint with a changed config.json in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from moonpad.checkpoints.adapt import RECORD, Adapted, adapt
from moonpad.cli import output
from moonpad.cli.output import Json, emit_json, next_command
from moonpad.engines.adaptations import ADAPTATIONS
from moonpad.values.errors import UsageError
from moonpad.values.records import as_dict
from moonpad.values.visible_text import shell_word


def adapt_(
    folder: Path,
    *,
    out: Path,
    purpose: Annotated[str, Parameter(name="--for")] = "",
    gguf: Path | None = None,
    json: Json = False,
) -> None:
    """Write a folder with the same weights, as hard links, and what an engine needs otherwise. FOLDER is not changed.

    Parameters
    ----------
    folder
        The checkpoint, as it was downloaded.
    out
        The new folder, on the same file system as the weights.
    purpose
        vllm-ascend: the INT4 experts as targets that it finds. deepseek: as the model type deepseek_v3, for a framework
        that does not know kimi_k2. Several with a comma.
    gguf
        Take the weights of this folder of GGUF files, with the other files of FOLDER beside them.
    """
    purposes = tuple(word for word in purpose.split(",") if word)
    for word in purposes:
        if word not in ADAPTATIONS:
            raise UsageError(f"--for {word!r} is not known", remedy=f"there are: {', '.join(ADAPTATIONS)}")
    if not purposes and gguf is None:
        raise UsageError("nothing to adapt", remedy=f"say what for: {', '.join(ADAPTATIONS)}; or name GGUF files")
    adapted = adapt(folder, out, purposes, gguf)
    if json:
        changes = [as_dict(change) for change in adapted.changes]
        emit_json({"folder": str(out), "changes": changes, "linked": adapted.linked, "copied": adapted.copied})
        return
    _print(adapted)
    next_command(f"moonpad checkpoint show {shell_word(str(adapted.folder))}")


def _print(adapted: Adapted) -> None:
    show = output.out().print
    show(f"{adapted.folder}: {len(adapted.linked)} files of weights linked, {len(adapted.copied)} others copied")
    for change in adapted.changes:
        show(f"  config.json: {change.key} is {change.new!r}, was {change.old!r}", markup=False)
    show(f"  {RECORD} there says what was changed; deleting the folder undoes it")
