"""`moonpad render`: what would run, written down as files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from moonpad.values.errors import PreflightRefused

Target = Literal["shell", "docker", "compose", "kubernetes", "slurm", "mpirun", "systemd"]


def render(spec: Path, *, to: Target = "shell", out: Path, json: bool = False) -> None:
    """Write the files that run a spec elsewhere.

    Parameters
    ----------
    spec
        The moonpad.toml.
    to
        What the files are for: slurm, mpirun and systemd are not there yet.
    out
        The folder for them; files of the same name are replaced.
    json
        One JSON document on stdout instead of text.
    """
    from moonpad.checkpoints.described import described
    from moonpad.cli.output import emit_json, next_command
    from moonpad.cli.output import out as console
    from moonpad.facts.probe import Unknown
    from moonpad.plan.from_spec import make_plan
    from moonpad.render.targets import render_for
    from moonpad.spec.load import load_spec
    from moonpad.store.files import replace_text

    loaded = load_spec(spec)
    # The checkpoint may be on another machine only. Its size bears on what a host is asked for and on how long a start
    # may take; its format on what engines must be told.
    found = described(loaded)
    size, scheme = (0, "bf16") if isinstance(found, Unknown) else (found.total_bytes, found.quantization.scheme)
    rendered = render_for(to, loaded.spec, make_plan(loaded.spec, size, scheme))
    for path, file in rendered.files.items():
        try:
            replace_text(out / path, file.text, file.mode)
        except OSError as error:
            raise PreflightRefused(
                f"cannot write {out / path}: {error.strerror}", remedy="name another --out"
            ) from None
    if json:
        files = [{"path": str(out / path), "mode": f"{file.mode:04o}"} for path, file in rendered.files.items()]
        emit_json({"files": files})
        return
    for path, file in rendered.files.items():
        console().print(f"{out / path}  {file.mode:04o}")
    next_command(rendered.start.format(out / next(iter(rendered.files))))
