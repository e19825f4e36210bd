"""`moonpad checkpoint verify`: whether a checkpoint is whole, how much of it is there, and whether it is right."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.checkpoints.completeness import CheckpointFiles, inspect
from moonpad.checkpoints.digest_check import DigestCheck, check_digests
from moonpad.checkpoints.digests import Digest, known_digests
from moonpad.checkpoints.files import is_folder
from moonpad.checkpoints.presence import Presence, presence
from moonpad.checkpoints.revision import revision_of
from moonpad.cli.byte_progress import byte_progress
from moonpad.cli.output import Json, emit_json, next_command, note_findings, out
from moonpad.store.kept_digests import KeptDigests
from moonpad.values.errors import CheckpointError, UsageError
from moonpad.values.finding import Finding, Severity, errors_of
from moonpad.values.units import duration, gib
from moonpad.values.visible_text import one_line, shell_word

WRITE_SUMS = "sha256sum * > SHA256SUMS, on a machine whose copy is right"


def verify(
    folder: str, *, deep: bool = False, fresh: bool = False, digests: Path | None = None, json: Json = False
) -> None:
    """Check that a checkpoint is whole: index, files, sizes, headers; how much of an unfinished download is there.

    Exit code 3 where anything is missing, damaged or wrong, with the files' names.

    Parameters
    ----------
    folder
        A folder with config.json and weights, or kimi-k2-tiny, which comes with moonpad.
    deep
        Read every file and compare its digest with what is known of it: what huggingface_hub noted, SHA256SUMS in the
        folder, or --digests. Digests are kept: a check that was stopped goes on where it was.
    fresh
        With --deep: compute the digests of unchanged files again, too. A disk may lose a bit without a trace.
    digests
        A list of digests as sha256sum writes it. Implies --deep.
    """
    place = embedded_checkpoint(folder) or Path(folder)
    if fresh and not deep and digests is None:
        raise UsageError("--fresh is about digests", remedy="moonpad checkpoint verify FOLDER --deep --fresh")
    files = inspect(place)
    present = presence(place)
    check = _deep(place, digests, fresh) if (deep or digests) and is_folder(place) else None
    findings = (*files.findings, *(check.findings if check else ()))
    if json:
        emit_json(_document(place, files, present, check, findings))
    else:
        _print(files, present, check)
        note_findings(finding for finding in findings if finding.severity is not Severity.ERROR)
    if errors := errors_of(findings):
        raise CheckpointError(_failure(place, present, check), findings=errors)
    if not json:
        next_command(f"moonpad checkpoint show {shell_word(folder)}")


def _deep(folder: Path, listed: Path | None, fresh: bool) -> DigestCheck:
    known = known_digests(folder, listed)
    if not known:
        raise CheckpointError(
            f"no digest is known of any file in {folder}",
            remedy=f"moonpad checkpoint verify FOLDER --digests FILE; to write one: {WRITE_SUMS}",
        )
    with byte_progress("reading", _bytes_of(folder, known)) as progress:
        return check_digests(folder, known, KeptDigests(), progress.add, fresh=fresh)


def _bytes_of(folder: Path, known: dict[str, Digest]) -> int:
    total = 0
    for name in known:
        with suppress(OSError):
            total += (folder / name).stat().st_size
    return total


def _failure(folder: Path, present: Presence, check: DigestCheck | None) -> str:
    if check is not None and (wrong := [file.name for file in check.files if not file.is_right]):
        names = ", ".join(wrong[:3]) + (", …" if len(wrong) > 3 else "")
        return f"{len(wrong)} of {len(check.files)} files in {folder} have a wrong digest: {names}"
    share = present.share
    if share is not None and share < 1:
        return f"the checkpoint {folder} is incomplete or damaged: {_present(present)} present"
    return f"the checkpoint {folder} is incomplete or damaged"


def _present(present: Presence) -> str:
    """`12.30 GiB of 553.40 GiB (2.2 %)`."""
    if present.expected_bytes is None or present.share is None:
        return gib(present.present_bytes)
    share = min(99.9, 100 * present.share) if present.share < 1 else 100.0
    return f"{gib(present.present_bytes)} of {gib(present.expected_bytes)} ({share:.1f} %)"


def _print(files: CheckpointFiles, present: Presence, check: DigestCheck | None) -> None:
    show = out().print
    source = f", by {present.expected_from}" if present.expected_from else "; nothing here says how much is expected"
    show(f"{one_line(str(files.folder))}: weights {_present(present)} present{source}")
    of = f" of {present.expected_files}" if present.expected_files else ""
    intact = len(files.shards) if files.shards else present.present_files
    show(f"  {intact}{of} files of weights whole, {len(present.partial)} begun")
    for partial in present.partial[:20]:
        show(f"  {one_line(partial.name)}: {gib(partial.present_bytes)} so far")
    if check is not None:
        right = sum(file.is_right for file in check.files)
        kept = sum(file.kept for file in check.files)
        show(f"  {right} of {len(check.files)} files have the digest that is known of them ({kept} computed earlier)")
        if check.read_bytes:
            speed = f"{check.bytes_per_s / 1e6:,.0f} MB/s"
            show(f"  read {gib(check.read_bytes)} in {duration(check.elapsed_s)}, {speed}")


def _document(
    folder: Path,
    files: CheckpointFiles,
    present: Presence,
    check: DigestCheck | None,
    findings: tuple[Finding, ...],
) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "whole": not errors_of(findings),
        "revision": revision_of(folder),
        "present_bytes": present.present_bytes,
        "expected_bytes": present.expected_bytes,
        "expected_from": present.expected_from or None,
        "present_files": present.present_files,
        "intact_files": len(files.shards),
        "expected_files": present.expected_files,
        "partial": [{"name": file.name, "present_bytes": file.present_bytes} for file in present.partial],
        "digests": None if check is None else _digest_rows(check),
        "findings": [finding.as_json() for finding in findings],
    }


def _digest_rows(check: DigestCheck) -> dict[str, Any]:
    return {
        "read_bytes": check.read_bytes,
        "elapsed_s": check.elapsed_s,
        "bytes_per_s": check.bytes_per_s,
        "files": [
            {
                "name": file.name,
                "bytes": file.size_bytes,
                "method": file.expected.method,
                "expected": file.expected.hexadecimal,
                "expected_from": file.expected.source,
                "found": file.found,
                "kept": file.kept,
                "right": file.is_right,
            }
            for file in check.files
        ],
    }
