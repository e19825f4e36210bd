"""The Hugging Face hub, or a mirror of it: which files a repository has, with sizes and digests, and their bytes.

By huggingface_hub, with one exception: it downloads a file into a temporary one of its own process and never takes up
another's (2.4.0, `file_download.py`, `_download_to_tmp_and_move`), so that a kill loses what was there of each file,
and a shard has 10 GB. The temporary file is therefore ours, and its `http_get` continues it.
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import httpx2
from huggingface_hub import HfApi, constants, get_token, hf_hub_url
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.file_download import http_get
from huggingface_hub.utils.tqdm import disable_progress_bars

from moonpad import __version__
from moonpad.checkpoints.digests import NOTES, Digest, is_plain_name
from moonpad.checkpoints.weights import MAX_FILES
from moonpad.spec.safe_text import shorten
from moonpad.values.errors import CheckpointError, UsageError
from moonpad.values.secret import Secret
from moonpad.values.units import gib

CHUNK_BYTES: Final = constants.DOWNLOAD_CHUNK_SIZE
"""What http_get holds in memory before it writes: a kill loses at most so much of each file."""
MAX_FILE_BYTES: Final = constants.MAX_HTTP_DOWNLOAD_SIZE
"""http_get refuses to begin a larger file. The largest shard of a Kimi model has about 10 GB."""

_ID: Final = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)
_REVISION: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)*", re.ASCII)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}|[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    name: str
    size_bytes: int
    digest: Digest


@dataclass(frozen=True, slots=True)
class Repository:
    """The files of one commit."""

    id: str
    commit: str
    files: tuple[RemoteFile, ...]


class HubUnreachable(CheckpointError):
    """No answer came, or an error of the server: what is here may do."""


class Hub:
    """`endpoint` is HF_ENDPOINT or the hub itself; the token is HF_TOKEN's, or that of `hf auth login`."""

    branch: str = "main"
    """What is meant where no revision is named."""
    token_advice: str = "set HF_TOKEN, or run `hf auth login`"  # noqa: S105 - the advice, not a token
    mirror_advice: str = "HF_ENDPOINT"

    def __init__(self) -> None:
        disable_progress_bars()
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        self.endpoint = (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")
        token = get_token()
        self._token = Secret(token) if token else None

    @property
    def is_offline(self) -> bool:
        return constants.is_offline_mode()

    @property
    def cache(self) -> Path:
        return Path(constants.HF_HUB_CACHE)

    def look_up(self, repository: str, revision: str) -> Repository:
        """What the revision holds, a commit, a branch or a tag.

        Raises:
            HubUnreachable: the hub does not answer.
            CheckpointError: there is no such repository or revision, or its description is not to be trusted.
        """
        api = HfApi(endpoint=self.endpoint, token=self._revealed(), library_name="moonpad", library_version=__version__)
        try:
            model = api.model_info(
                repository, revision=revision, files_metadata=True, timeout=constants.HF_HUB_ETAG_TIMEOUT
            )
            commit, siblings = model.sha or "", tuple(model.siblings or ())
        except (httpx2.HTTPError, OSError) as error:
            raise self.explain(error, repository, revision) from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            message = f"{self.endpoint} does not speak the hub's API: {shorten(str(error))}"
            raise CheckpointError(message, remedy="check HF_ENDPOINT") from None
        if not _COMMIT.fullmatch(commit) or not 0 < len(siblings) <= MAX_FILES:
            raise CheckpointError(
                f"{self.endpoint} describes {repository} with {len(siblings)} files, commit {commit!r}"
            )
        files = []
        for each in siblings:
            digest = (each.lfs.sha256 if each.lfs else each.blob_id) or ""
            size = each.lfs.size if each.lfs else each.size
            if not is_plain_name(each.rfilename) or each.rfilename.startswith(NOTES.split("/")[0]):
                message = f"{repository} has a file that would be outside its folder: {shorten(each.rfilename)!r}"
                raise CheckpointError(message, remedy="do not use this repository")
            if not isinstance(size, int) or size < 0 or not _DIGEST.fullmatch(digest):
                message = f"{self.endpoint} says neither size nor digest of {each.rfilename} in {repository}"
                raise CheckpointError(message, remedy="use another mirror, or none: unset HF_ENDPOINT")
            files.append(RemoteFile(each.rfilename, size, Digest(digest, "the hub")))
        return Repository(repository, commit, tuple(files))

    def fetch(self, repository: Repository, file: RemoteFile, part: BinaryIO, have_bytes: int) -> None:
        """Appends what is missing to `part`, which holds the first `have_bytes`. Cuts are mended a few times by
        http_get, which also waits where the server asks for it (429).

        Raises:
            CheckpointError: the file is too large for it.
            OSError: and httpx2.HTTPError, as `explain` takes them.
        """
        if file.size_bytes > MAX_FILE_BYTES:
            message = f"{file.name} has {gib(file.size_bytes)}; the hub serves at most {gib(MAX_FILE_BYTES)} by HTTP"
            raise CheckpointError(message, remedy=f"fetch it with `hf download {repository.id} {file.name}`")
        # A range of a compressed file is not a range of the file.
        headers = {"User-Agent": f"moonpad/{__version__}", "Accept-Encoding": "identity", **self._authorization()}
        url = self.url_of(repository, file)
        http_get(url, part, resume_size=have_bytes, headers=headers, expected_size=file.size_bytes)

    def url_of(self, repository: Repository, file: RemoteFile) -> str:
        return hf_hub_url(repository.id, file.name, revision=repository.commit, endpoint=self.endpoint)

    def _authorization(self) -> dict[str, str]:
        return {} if self._token is None else {"Authorization": f"Bearer {self._token.reveal()}"}

    def explain(self, error: Exception, repository: str, revision: str) -> CheckpointError:
        """What an exception of huggingface_hub means for the user."""
        if isinstance(error, GatedRepoError):
            return CheckpointError(
                f"{repository} is gated", remedy=f"accept its terms on its page; then {self.token_advice}"
            )
        if isinstance(error, RepositoryNotFoundError):
            message = f"{self.endpoint} has no {repository}, or shows it to others only"
            return CheckpointError(message, remedy=f"check the name; for a private one {self.token_advice}")
        if isinstance(error, RevisionNotFoundError):
            return CheckpointError(f"{repository} has no revision {revision}", remedy="check --revision")
        if isinstance(error, HfHubHTTPError):
            status = error.response.status_code
            remedy = self.token_advice if status in (401, 403) else "run the same command again; it resumes"
            kind = HubUnreachable if status >= 500 or status == 429 else CheckpointError
            return kind(f"{self.endpoint} answers with status {status} for {repository}", remedy=remedy)
        reason = shorten(str(error)) or type(error).__name__
        remedy = f"check the network, or name a mirror in {self.mirror_advice}; the same command resumes"
        return HubUnreachable(f"{self.endpoint} failed: {reason}", remedy=remedy)

    def _revealed(self) -> str | bool:
        """False: none, and none is to be looked for."""
        return self._token.reveal() if self._token else False


def require_id(name: str) -> str:
    """Raises UsageError where it cannot be the name of a repository."""
    if not _ID.fullmatch(name) or ".." in name or "--" in name:
        raise UsageError(f"{name!r} is not the name of a repository", remedy="write it as moonshotai/Kimi-K2-Thinking")
    return name


def require_revision(name: str) -> str:
    """Raises UsageError where it cannot be a commit, a branch or a tag."""
    if not _REVISION.fullmatch(name) or ".." in name or len(name) > 200:
        raise UsageError(f"--revision {name!r} is not a commit, a branch or a tag")
    return name
