"""GSM8K's two files: a folder that the user names, or a download of the published ones, known by their digests."""

from __future__ import annotations

import hashlib
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Final
from urllib.error import HTTPError

import msgspec

from moonpad.spec.input_file import read_regular
from moonpad.spec.json_input import lines_in, load_json
from moonpad.values.errors import PreflightRefused, UsageError

COMMIT: Final = "3101c7d5072418e28b9008a6636bde82a006892c"
SOURCE: Final = f"https://raw.githubusercontent.com/openai/grade-school-math/{COMMIT}/grade_school_math/data"
FILES: Final[Mapping[str, tuple[str, str, int]]] = {
    "train": ("train.jsonl", "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465", 4_166_206),
    "test": ("test.jsonl", "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14", 749_738),
}
"""Split → name, sha256 and size of the published file (MIT licence): 7473 and 1319 questions."""
QUESTIONS: Final = 1319
FEWEST_EXAMPLES: Final = 6
FILE_BYTES: Final = 64 << 20
STALL_S: Final = 30.0
"""Without a byte."""
DOWNLOAD_S: Final = 600.0
"""For one file, of 4 MB at most."""
REMEDY: Final = "fetch train.jsonl and test.jsonl of openai/grade-school-math by other means, and name --data FOLDER"


class _Row(msgspec.Struct):
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Gsm8k:
    """`sha256` by split; `published`: both files are the published ones, byte by byte. `count` questions to answer."""

    paths: Mapping[str, Path]
    sha256: Mapping[str, str]
    published: bool
    count: int


def find_gsm8k(folder: Path) -> Gsm8k:
    """
    Raises:
        UsageError: one of the two files is missing or does not hold questions; the message has its line.
    """
    contents = {split: _read(folder / name) for split, (name, _, _) in FILES.items()}
    counts = {split: _checked(folder / FILES[split][0], data) for split, data in contents.items()}
    if counts["train"] < FEWEST_EXAMPLES:
        message = f"{folder / FILES['train'][0]} has {counts['train']} questions; the examples need {FEWEST_EXAMPLES}"
        raise UsageError(message, remedy="name the folder of the published files with --data")
    sha256 = {split: _sha256(data) for split, data in contents.items()}
    return Gsm8k(
        paths={split: (folder / name).resolve() for split, (name, _, _) in FILES.items()},
        sha256=sha256,
        published=all(sha256[split] == wanted for split, (_, wanted, _) in FILES.items()),
        count=counts["test"],
    )


def is_published(folder: Path) -> bool:
    """Whether the folder has both published files, byte by byte."""
    try:
        return all(_sha256(read_regular(folder / name, size)) == wanted for name, wanted, size in FILES.values())
    except OSError:
        return False


def download(source: str = SOURCE) -> dict[str, str]:
    """The text of both files by their names, each with the published digest.

    Raises:
        PreflightRefused: one cannot be fetched, or is another file.
    """
    texts = {}
    for name, wanted, size in FILES.values():
        url = f"{source}/{name}"
        try:
            data = _fetch(url, size)
        except HTTPError as error:
            raise PreflightRefused(
                f"{url} cannot be fetched: HTTP {error.code} {error.reason}", remedy=REMEDY
            ) from error
        except (OSError, ValueError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise PreflightRefused(f"{url} cannot be fetched: {reason}", remedy=REMEDY) from error
        if len(data) != size:
            what = f"it ended after {len(data):,} of" if len(data) < size else "it has more than"
            raise PreflightRefused(f"{url} is not the published file: {what} {size:,} bytes", remedy=REMEDY)
        if (digest := _sha256(data)) != wanted:
            what = f"{url} is not the published file: its sha256 is {digest}, expected {wanted}"
            raise PreflightRefused(what, remedy=REMEDY)
        texts[name] = data.decode("utf-8")
    return texts


def _fetch(url: str, size: int) -> bytes:
    """At most one byte more than `size`. Raises OSError also where it takes too long, however slowly it goes on."""
    data, begun_s = b"", time.monotonic()
    with urllib.request.urlopen(url, timeout=STALL_S) as answer:  # noqa: S310 - https, and the digest decides
        while len(data) <= size and (piece := answer.read1(size + 1 - len(data))):
            data += piece
            if time.monotonic() - begun_s > DOWNLOAD_S:
                raise TimeoutError(f"only {len(data):,} of {size:,} bytes came in {DOWNLOAD_S:g} s")
    return data


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, FILE_BYTES)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise UsageError(message, remedy="--data FOLDER with GSM8K's train.jsonl and test.jsonl") from error


def _checked(path: Path, data: bytes) -> int:
    """The number of questions."""
    count = 0
    for number, line in enumerate(lines_in(data), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.convert(load_json(line), _Row)
        except (ValueError, msgspec.ValidationError) as error:
            message = f"{path}, line {number}: not a question with its answer: {error}"
            raise UsageError(message, remedy='each line is {"question": …, "answer": …}') from error
        if "####" not in row.answer:
            raise UsageError(f"{path}, line {number}: the answer has no ####", remedy="name GSM8K's own files")
        count += 1
    if not count:
        raise UsageError(f"{path} holds no question", remedy="name the folder of GSM8K with --data")
    return count
