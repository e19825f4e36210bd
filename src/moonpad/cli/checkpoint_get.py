"""`moonpad checkpoint get`: a repository of the Hugging Face hub or of ModelScope on this machine, whole and right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from moonpad.catalog.models import find_model
from moonpad.checkpoints.completeness import inspect
from moonpad.checkpoints.digest_check import check_digests
from moonpad.checkpoints.digests import known_digests
from moonpad.checkpoints.download import Download, selected
from moonpad.checkpoints.hub import Hub, HubUnreachable, RemoteFile, require_id, require_revision
from moonpad.checkpoints.modelscope import ModelScopeHub
from moonpad.checkpoints.places import CachePlaces, FolderPlaces, Places, cache_folder, cached_snapshot
from moonpad.checkpoints.presence import presence
from moonpad.checkpoints.revision import revision_findings, revision_of
from moonpad.cli import output
from moonpad.cli.byte_progress import byte_progress
from moonpad.cli.output import Json, busy, emit_json, next_command, note, note_findings
from moonpad.store.kept_digests import KeptDigests
from moonpad.values.errors import CheckpointError, UsageError
from moonpad.values.finding import Finding, Severity, errors_of
from moonpad.values.units import gib
from moonpad.values.visible_text import one_line, shell_word


def get(
    name: str,
    *,
    revision: str | None = None,
    out: Path | None = None,
    include: Annotated[list[str] | None, Parameter(negative=())] = None,
    hub: Literal["huggingface", "modelscope"] | None = None,
    json: Json = False,
) -> None:
    """Download a checkpoint from the Hugging Face hub or ModelScope, and verify it. The same command resumes it.

    HF_ENDPOINT or MODELSCOPE_DOMAIN names a mirror. The token is that of HF_TOKEN or of `hf auth login`, or that of
    MODELSCOPE_API_TOKEN; never an argument. HF_HUB_OFFLINE=1 takes what is here. The disk is asked first.

    Parameters
    ----------
    name
        moonshotai/Kimi-K2-Thinking, or what `moonpad catalog models` calls it.
    revision
        A whole commit, a branch or a tag; the hub's own branch without it. What is downloaded is one commit, whatever
        the branch does meanwhile.
    out
        A folder of its own; without it, the hub's shared cache (HF_HOME, MODELSCOPE_CACHE), where engines find it.
    include
        Only files that match, as `*Q4_K_M*`; may be repeated.
    hub
        Where it is published; without it, where the catalogue says, or else the Hugging Face hub.
    """
    repository, published = _repository(name)
    source = ModelScopeHub() if (hub or published) == "modelscope" else Hub()
    revision, patterns, kept = require_revision(revision or source.branch), tuple(include or ()), KeptDigests()
    if isinstance(source, ModelScopeHub):
        out = out or source.folder_of(repository)
    if source.is_offline:
        result = _offline(source, repository, revision, out, kept, "HF_HUB_OFFLINE is set")
    else:
        try:
            result = _online(source, repository, revision, out, patterns, kept)
        except HubUnreachable as error:
            result = _offline(source, repository, revision, out, kept, error.message, error)
    folder = Path(result["folder"])
    findings = () if patterns else inspect(folder).findings
    result["findings"] = [finding.as_json() for finding in findings]
    if json:
        emit_json(result)
    else:
        _print(result, findings)
    if errors := errors_of(findings):
        raise CheckpointError(f"{repository} is here, and is not a whole checkpoint", findings=errors)
    if not json:
        next_command(f"moonpad checkpoint show {shell_word(str(folder))}")


def _repository(name: str) -> tuple[str, str]:
    """A name of the catalogue stands for its repository; the quantisation of a GGUF one is not part of that. And where
    the catalogue says that it is published."""
    model = find_model(name)
    published = model.hub.lower().replace(" ", "") if model is not None else "huggingface"
    if "/" in name:
        return require_id(name.partition(":")[0]), published
    if model is None:
        remedy = "write it as OWNER/NAME, or see `moonpad catalog models`"
        raise UsageError(f"{name!r} is not the name of a known model", remedy=remedy)
    return require_id(model.id.partition(":")[0]), published


def _online(
    hub: Hub, name: str, revision: str, out: Path | None, patterns: tuple[str, ...], kept: KeptDigests
) -> dict[str, Any]:
    with busy(f"asking {hub.endpoint}"):
        repository = selected(hub.look_up(name, revision), patterns)
    places = _places(hub, name, revision, repository.commit, out)
    download = Download(hub, repository, places, kept)
    total = sum(file.size_bytes for file in repository.files)
    with download.alone():
        there = sum(file.size_bytes for file in repository.files if _has_size(places, file))
        with byte_progress("checking what is there", there) as progress:
            missing = download.missing(progress.add)
        fetched = sum(file.size_bytes for file in missing)
        if missing:
            download.require_room(missing)
            begun = download.present_bytes(missing)
            note(f"{name}: {len(missing)} of {len(repository.files)} files, {gib(fetched - begun)} to download")
            with byte_progress(name, fetched) as progress:
                progress.begin_at(begun)
                download.fetch(missing, progress.show)
    return {
        "repository": name,
        "revision": repository.commit,
        "folder": str(places.folder),
        "endpoint": hub.endpoint,
        "files": len(repository.files),
        "bytes": total,
        "downloaded_files": len(missing),
        "offline": False,
    }


def _has_size(places: Places, file: RemoteFile) -> bool:
    try:
        return places.final(file).stat().st_size == file.size_bytes
    except OSError:
        return False


def _places(hub: Hub, name: str, revision: str, commit: str, out: Path | None) -> Places:
    if out is not None:
        return FolderPlaces(out, commit)
    return CachePlaces(cache_folder(hub.cache, name), commit, revision)


def _offline(
    hub: Hub,
    name: str,
    revision: str,
    out: Path | None,
    kept: KeptDigests,
    why: str,
    error: CheckpointError | None = None,
) -> dict[str, Any]:
    """What is here already, with every digest that is known of it checked."""
    folder = out if out is not None and out.is_dir() else cached_snapshot(cache_folder(hub.cache, name), revision)
    if folder is None or not presence(folder).present_files:
        raise error or CheckpointError(f"{why}, and {name} is not here", remedy="unset it, or copy the cache here")
    if errors := errors_of(revision_findings(folder, revision)):
        raise CheckpointError(f"{why}, and another revision is here", findings=errors)
    known = known_digests(folder)
    note(f"{why}; taking what is in {one_line(str(folder))}")
    with byte_progress("checking what is there", presence(folder).present_bytes) as progress:
        check = check_digests(folder, known, kept, progress.add)
    if check.findings:
        raise CheckpointError(f"what is in {folder} is damaged", findings=check.findings)
    return {
        "repository": name,
        "revision": revision_of(folder),
        "folder": str(folder),
        "endpoint": hub.endpoint,
        "files": len(check.files),
        "bytes": sum(file.size_bytes for file in check.files),
        "downloaded_files": 0,
        "offline": True,
    }


def _print(result: dict[str, Any], findings: tuple[Finding, ...]) -> None:
    show = output.out().print
    show(f"{result['repository']} at {result['revision'] or 'a commit that nothing here names'}")
    known = "known " if result["offline"] else ""
    verb = "downloaded" if result["downloaded_files"] else "nothing to download"
    count = f" {result['downloaded_files']} of" if result["downloaded_files"] else ","
    show(f"  {verb}{count} {result['files']} files, {gib(result['bytes'])}; every {known}digest is right")
    show(f"  {one_line(result['folder'])}")
    note_findings(finding for finding in findings if finding.severity is not Severity.ERROR)
