"""`moonpad render`: what would run, written down as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code

Target = Literal["shell", "docker", "compose", "kubernetes", "slurm", "mpirun", "systemd"]


def render(
    spec: Path,
    *,
    to: Target = "shell",
    out: Path,
    despite: Annotated[list[Code] | None, Parameter(negative=())] = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Write the files that run a spec elsewhere. What `plan` refuses is not written.

    Parameters
    ----------
    spec
        The moonpad.toml.
    to
        What the files are for: slurm, mpirun and systemd are not there yet.
    out
        The folder for them; files of the same name are replaced.
    despite
        The code of an error to override, like does-not-fit; the files say so.
    json
        One JSON document on stdout instead of text.
    """
    from moonpad.cli.output import emit_json, next_command, note_findings
    from moonpad.cli.output import out as console
    from moonpad.render.targets import render_for
    from moonpad.run.planning import plan_spec
    from moonpad.spec.loader import load_spec
    from moonpad.store.atomic_files import replace_text

    loaded = load_spec(spec)
    planned = plan_spec(loaded, despite=frozenset(despite or ()))
    rendered = render_for(to, loaded.spec, planned.plan)
    note_findings(planned.findings)
    for path, file in rendered.files.items():
        try:
            replace_text(out / path, file.text, file.mode)
        except OSError as error:
            raise PreflightRefused(
                f"cannot write {out / path}: {error.strerror}", remedy="name another --out"
            ) from None
    if json:
        files = [{"path": str(out / path), "mode": f"{file.mode:04o}"} for path, file in rendered.files.items()]
        emit_json({"files": files, "findings": [finding.as_json() for finding in planned.findings]})
        return
    for path, file in rendered.files.items():
        console().print(f"{out / path}  {file.mode:04o}")
    next_command(rendered.start.format(out / next(iter(rendered.files))))
