"""Downloads by a call of Python into a folder of its own, and a server that looks elsewhere for the weights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.installs.two_caches import INTO_FOLDER, LOOKS_OR_MAKES
from moonpad.explain.checks.models.repository_names import REPOSITORY
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity

_CALL: Final = re.compile(r"\bsnapshot_download[ \t]*\(")
_OF: Final = re.compile(
    r"\(\s*(?:repo_id\s*=\s*)?[\"'](?P<repository>[A-Za-z][\w.-]*/[\w.-]+)[\"']|\brepo_id\s*=\s*[\"'](?P<named>[^\"'\n]+)[\"']"
)
_INTO: Final = re.compile(r"\blocal_dir\s*=\s*[\"'](?P<folder>[/~][^\"'\n]{1,200})[\"']")
_CACHE: Final = re.compile(r"/(?:\.cache/huggingface|huggingface/hub)(?:/|$)")
_IN_ITS_FORM: Final = re.compile(r"models--|/snapshots/")
_LINKS: Final = re.compile(
    r"\bln[ \t]+-\w*s|\b(?:cp|mv|rsync|scp)[ \t]|\bos\.symlink|HF_HUB_CACHE|HUGGINGFACE_HUB_CACHE"
)
_MOUNT: Final = re.compile(r"(?:(?<!\S)-v[ =]?|--volume[ =])[\"']?(?P<source>[/~][\w./@-]*):(?P<target>/[\w./@-]*)")
_NEAR: Final = 10
"""Lines of one call."""
_LONGEST: Final = 2000


class Download(NamedTuple):
    repository: str
    folder: str
    line: int


def folder_in_cache(case: Case) -> Iterator[Remark]:
    """`snapshot_download(R, local_dir="~/.cache/huggingface/R")` and `vllm serve R`: a folder in the cache is not the
    cache's own form, models--…/snapshots/…, in which alone the name is looked for."""
    model, script = case.first.model, case.script
    if not REPOSITORY.fullmatch(model) or not _has_downloads(case):
        return
    lines = [text[:_LONGEST] for text in script.lines]
    for download in _downloads(case):
        folder = download.folder
        if download.repository.casefold() != model.casefold() or not _CACHE.search(folder):
            continue
        parent = folder.removesuffix(model).rstrip("/")
        enters = re.compile(rf"(?:\bcd[ \t]+|\bWORKDIR[ \t]+|(?:-w|--workdir)[ =]){re.escape(parent)}/?(?=[\s\"'`;]|$)")
        if _IN_ITS_FORM.search(folder) or any(_LINKS.search(text) or enters.search(text) for text in lines):
            return
        if sum(folder in text for text in lines) > 1:
            return
        message = (
            f"{script.where(download.line)} downloads into {shortened(folder, 70)}, and the cache keeps what is found "
            f"by a name under hub/models--{model.replace('/', '--')[:60]}: the server downloads the weights again"
        )
        remedy = f"leave local_dir out, or serve {shortened(folder, 70)} as the server sees it"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "local_dir", message, remedy)
        return


def folder_of_mount(case: Case) -> Iterator[Remark]:
    """`-v /home/a/models:/models` and `vllm serve /models/K2`, where the text downloads K2 into another folder of the
    host, and nothing brings it there."""
    model, script = case.first.model.rstrip("/"), case.script
    if not model.startswith("/") or unresolved(model) or not _has_downloads(case):
        return
    lines = [text[:_LONGEST] for text in script.lines]
    source = _source_of(model, lines)
    downloads = [each for each in _downloads(case) if _last(each.repository) == _last(model)]
    if not source or not downloads:
        return
    place, there = source["place"], source["mounted"]
    if any(_LINKS.search(text) for text in lines) or any(_meets(each.folder, place, model) for each in downloads):
        return
    download = downloads[-1]
    speaks = [text for text in lines if there in text and not _MOUNT.search(text) and not LOOKS_OR_MAKES.match(text)]
    if speaks:
        return
    message = (
        f"{shortened(model, 60)} is {shortened(place, 60)} of the host by the volume, which nothing of the text fills: "
        f"{script.where(download.line)} downloads into {shortened(download.folder, 50)}"
    )
    remedy = f"download into {shortened(place, 60)}, or mount {shortened(download.folder, 50)} there"
    at = next((at for at, word in enumerate(case.commands[0].argv) if word.text.rstrip("/") == model), None)
    yield make_remark(Severity.WARNING, Code.CONFLICT, "model", message, remedy, at=at)


def _has_downloads(case: Case) -> bool:
    case.script.budget.once("downloads by Python", len(case.script.lines) // 2, "its engine commands")
    return is_in_lines(_CALL, case.script.lines, _LONGEST)


def _downloads(case: Case) -> list[Download]:
    """Of both kinds, in the order of the text; calls first."""
    lines = [(number, text[:_LONGEST]) for number, text in numbered(case.script, 1, len(case.script.lines))]
    downloads = list[Download]()
    for at, (number, text) in enumerate(lines):
        if _CALL.search(text) and not text.lstrip().startswith(("#", "from ", "import ")):
            call = _whole_call([line for _, line in lines[at : at + _NEAR]])
            of, into = _OF.search(call), _INTO.search(call)
            if of is not None and into is not None:
                name = of["repository"] or of["named"]
                downloads.append(Download(name, into["folder"].rstrip("/"), number))
            continue
        match = INTO_FOLDER.search(text) if "--local-dir" in text else None
        if match is not None and match["folder"].startswith(("/", "~")):
            downloads.append(Download(match["repository"], match["folder"].rstrip("/"), number))
    return downloads


def _whole_call(lines: Sequence[str]) -> str:
    """From its bracket to the one that closes it."""
    text = "\n".join(lines)
    begin = text.index("(", text.index("snapshot_download"))
    end = text.find(")", begin)
    return text[begin : end + 1 if end >= 0 else len(text)]


def _source_of(model: str, lines: Sequence[str]) -> Mapping[str, str]:
    """The folder of the host that the model's is, and the one that is mounted; empty where volumes do not agree."""
    mounts = {
        (match["source"].rstrip("/"), match["target"].rstrip("/"))
        for text in lines
        if ":" in text
        for match in _MOUNT.finditer(text)
        if f"{model}/".startswith(f"{match['target'].rstrip('/')}/")
    }
    if len(mounts) != 1:
        return {}
    ((source, target),) = mounts
    return {"place": source + model.removeprefix(target), "mounted": source}


def _last(path: str) -> str:
    return path.rpartition("/")[2].casefold()


def _meets(folder: str, place: str, model: str) -> bool:
    """Whether one holds the other, on the host or by the path that the container has for it."""
    return any(f"{one}/".startswith(f"{other}/") for one, other in ((folder, place), (place, folder), (folder, model)))
