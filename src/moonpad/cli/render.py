"""`moonpad render`: what would run, written down as files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from moonpad.cli.output import Json, emit, next_command, note_findings
from moonpad.store.atomic_files import replace_text
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code

Target = Literal["shell", "docker", "compose", "kubernetes", "aisbench", "slurm", "mpirun", "systemd"]


def render(
    spec: Path,
    *,
    to: Target = "shell",
    out: Path,
    despite: list[Code] | None = None,
    json: Json = False,
) -> None:
    """Write the files that run a spec elsewhere. What `plan` refuses is not written.

    Parameters
    ----------
    spec
        The moonpad.toml.
    to
        What the files are for. aisbench: the configuration of AISBench, an evaluation client.
    out
        The folder for them; files of the same name are replaced.
    despite
        The code of an error to override, like does-not-fit; the files say so.
    """
    from moonpad.render.targets import render_for, render_pools
    from moonpad.run.planning import plan_spec
    from moonpad.run.pool_planning import plan_pools
    from moonpad.spec.loader import load_spec

    loaded = load_spec(spec)
    overridden = frozenset(despite or ())
    if loaded.spec.prefill is not None:
        pools = plan_pools(loaded, despite=overridden)
        rendered = render_pools(to, loaded.spec, {role: planned.plan for role, planned in pools.pools.items()})
        findings = pools.findings
    else:
        planned = plan_spec(loaded, despite=overridden)
        rendered = render_for(to, loaded.spec, planned.plan)
        findings = planned.findings
    note_findings(findings)
    files = []
    for name, file in rendered.files.items():
        path = out / name
        try:
            replace_text(path, file.text, file.mode)
        except OSError as error:
            raise PreflightRefused(f"cannot write {path}: {error.strerror}", remedy="name another --out") from None
        files.append({"path": str(path), "mode": f"{file.mode:04o}"})
    document = {"files": files, "findings": [finding.as_json() for finding in findings]}
    emit("\n".join(f"{file['path']}  {file['mode']}" for file in files), document, json=json)
    if not json:
        next_command(rendered.start.format(files[0]["path"]))
