"""`moonpad render`: what would run, written down as files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from moonpad.values.errors import PreflightRefused, UsageError

Target = Literal["shell", "docker", "compose", "kubernetes", "slurm", "mpirun", "systemd"]


def render(spec: Path, *, to: Target = "shell", out: Path, json: bool = False) -> None:
    """Write the files that run a spec elsewhere.

    Parameters
    ----------
    spec
        The moonpad.toml.
    to
        What the files are for. Only shell is there yet.
    out
        The folder for them; files of the same name are replaced.
    json
        One JSON document on stdout instead of text.
    """
    if to != "shell":
        raise UsageError(f"rendering for {to} is not there yet", remedy="use --to shell")
    from moonpad.checkpoints.described import described
    from moonpad.cli.output import emit_json, next_command
    from moonpad.cli.output import out as console
    from moonpad.facts.probe import Unknown
    from moonpad.plan.from_spec import engine_of, make_plan, runtime_of
    from moonpad.render.shell import render_shell
    from moonpad.spec.load import load_spec
    from moonpad.store.files import replace_text

    loaded = load_spec(spec)
    # The checkpoint may be on another machine only. Its size bears on what a host is asked for, on no line of a script;
    # its format does, for the engines that must be told.
    found = described(loaded)
    size, scheme = (0, "bf16") if isinstance(found, Unknown) else (found.total_bytes, found.quantization.scheme)
    plan = make_plan(loaded.spec, size, scheme)
    files = render_shell(engine_of(loaded.spec).processes(plan, runtime_of(loaded.spec)))
    for path, rendered in files.items():
        try:
            replace_text(out / path, rendered.text, rendered.mode)
        except OSError as error:
            raise PreflightRefused(
                f"cannot write {out / path}: {error.strerror}", remedy="name another --out"
            ) from None
    if json:
        emit_json({"files": [{"path": str(out / path), "mode": f"{file.mode:04o}"} for path, file in files.items()]})
        return
    for path, rendered in files.items():
        console().print(f"{out / path}  {rendered.mode:04o}")
    next_command(f"bash {out / next(iter(files))}")
