"""ModelScope, where checkpoints for Ascend are published: which files a repository has, and their bytes.

By its own program (modelscope 1.31, `hub/api.py`, `hub/file_download.py`): `/api/v1/models/ID/repo/files` lists the
files with sizes and SHA-256, `/models/ID/resolve/REVISION/NAME` is a file, and takes ranges. All else is as with the
hub of Hugging Face, so that a download resumes and is checked in the same way.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx2
import orjson

from moonpad import __version__
from moonpad.checkpoints.digests import NOTES, Digest, is_plain_name
from moonpad.checkpoints.hub import Hub, HubUnreachable, RemoteFile, Repository
from moonpad.checkpoints.weights import MAX_FILES
from moonpad.spec.safe_text import shorten
from moonpad.values.errors import CheckpointError
from moonpad.values.secret import Secret

DOMAIN: Final = "www.modelscope.cn"
MAX_LIST_BYTES: Final = 16 << 20
TIMEOUT_S: Final = 20.0
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class ModelScopeHub(Hub):
    """`endpoint` is https:// with MODELSCOPE_DOMAIN, or that where it names a scheme; the token is that of
    MODELSCOPE_API_TOKEN."""

    branch = "master"
    token_advice = "set MODELSCOPE_API_TOKEN"  # noqa: S105 - the advice, not a token
    mirror_advice = "MODELSCOPE_DOMAIN"

    def __init__(self) -> None:
        super().__init__()
        domain = (os.environ.get("MODELSCOPE_DOMAIN") or DOMAIN).rstrip("/")
        self.endpoint = domain if "://" in domain else f"https://{domain}"
        token = os.environ.get("MODELSCOPE_API_TOKEN", "")
        self._token = Secret(token) if token else None

    @property
    def is_offline(self) -> bool:
        return False

    def folder_of(self, repository: str) -> Path:
        """Where its own program, and engines that use it, look for the repository."""
        cache = os.environ.get("MODELSCOPE_CACHE") or Path.home() / ".cache" / "modelscope" / "hub"
        return Path(cache, "models", *(part.replace(".", "___") for part in repository.split("/")))

    def look_up(self, repository: str, revision: str) -> Repository:
        """As `Hub.look_up`. The commit is the one that the listing names, or else the revision itself."""
        query = f"Revision={quote(revision, safe='')}&Recursive=true"
        data = self._ask(f"/api/v1/models/{repository}/repo/files?{query}", repository)
        rows, latest = data.get("Files"), data.get("LatestCommitter")
        if not isinstance(rows, list) or not 0 < len(rows) <= MAX_FILES:
            raise CheckpointError(f"{self.endpoint} lists no files of {repository} at {revision}", remedy="check both")
        total = data.get("TotalCount")
        if isinstance(total, int) and total > len(rows):
            raise CheckpointError(f"{self.endpoint} lists {len(rows)} of the {total} files of {repository}")
        named = str(latest.get("Id") or "") if isinstance(latest, dict) else ""
        commit = next((text for text in (named, revision) if _COMMIT.fullmatch(text)), revision)
        files = tuple(self._file(row, repository) for row in rows if not _is_folder(row))
        return Repository(repository, commit, files)

    def _file(self, row: Any, repository: str) -> RemoteFile:
        row = row if isinstance(row, dict) else {}
        name, size, digest = row.get("Path"), row.get("Size"), str(row.get("Sha256") or "").lower()
        if not isinstance(name, str) or not is_plain_name(name) or name.startswith(NOTES.split("/")[0]):
            message = f"{repository} has a file that would be outside its folder: {shorten(str(name))!r}"
            raise CheckpointError(message, remedy="do not use this repository")
        if not isinstance(size, int) or size < 0 or not _SHA256.fullmatch(digest):
            raise CheckpointError(f"{self.endpoint} says neither size nor digest of {shorten(name)} in {repository}")
        return RemoteFile(name, size, Digest(digest, "ModelScope"))

    def _ask(self, path: str, repository: str) -> dict[str, Any]:
        """Raises HubUnreachable, CheckpointError."""
        headers = {"User-Agent": f"moonpad/{__version__}", **self._authorization()}
        try:
            with (
                httpx2.Client(timeout=TIMEOUT_S, follow_redirects=True) as client,
                client.stream("GET", f"{self.endpoint}{path}", headers=headers) as response,
            ):
                status, body = response.status_code, b""
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > MAX_LIST_BYTES:
                        raise CheckpointError(f"{self.endpoint} describes {repository} with more than 16 MiB")
        except (httpx2.HTTPError, OSError) as error:
            raise self.explain(error, repository, self.branch) from None
        if status in (401, 403, 404):
            message = f"{self.endpoint} has no {repository}, or shows it to others only"
            raise CheckpointError(message, remedy=f"check the name; for a private one {self.token_advice}")
        if status != 200:
            kind = HubUnreachable if status >= 500 or status == 429 else CheckpointError
            raise kind(f"{self.endpoint} answers with status {status} for {repository}", remedy="try again later")
        try:
            document = orjson.loads(body)
            code, data = document["Code"], document.get("Data")
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            message = f"{self.endpoint} does not speak ModelScope's API"
            raise CheckpointError(message, remedy=f"check {self.mirror_advice}") from None
        if code != 200 or not isinstance(data, dict):
            said = shorten(str(document.get("Message") or code))
            raise CheckpointError(f"{self.endpoint} refuses {repository}: {said}", remedy="check name and --revision")
        return data

    def url_of(self, repository: Repository, file: RemoteFile) -> str:
        return f"{self.endpoint}/models/{repository.id}/resolve/{quote(repository.commit, safe='')}/{quote(file.name)}"


def _is_folder(row: Any) -> bool:
    return isinstance(row, dict) and row.get("Type") == "tree"
