"""A download into one folder, and a server that is given a place beside it, where nothing puts the weights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Word
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.mounted_models import on_the_host
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity

_LOCAL: Final = re.compile(r"--local[-_]dir[ =]")
_DOWNLOAD: Final = re.compile(
    r"\b(?:huggingface-cli|hf|modelscope)[ \t]+download[ \t]+(?:--model[ \t=]+)?[\"']?"
    r"(?P<repository>[A-Za-z][\w.-]*/[\w.-]+)[\"']?(?=[ \t])(?P<between>[^#|;&]*?)"
    r"[ \t]--local[-_]dir[ =][\"']?(?P<folder>[^\s\"';|&]{1,200})[\"']?(?P<behind>[^#|;&]*)"
)
_MAKES: Final = re.compile(
    r"(?:^|[\s;&|(\"'])(?:sudo[ ]+)?(?:mv|cp|ln|rsync|rename|unzip|tar|find|git|wget|curl|aria2c)[ ]"
    r"|convert|merg|quanti[sz]e|symlink|move|snapshot_download|output|合并|移动|转换|软链",
    re.IGNORECASE,
)
"""What puts files into another folder than the download does."""
_FILES: Final = re.compile(r"(?<![\w*./-])(?P<subfolder>[\w.-]+)/[\w.*?\[\]-]*(?![\w/])")
"""`UD-Q2_K_XL/*` of a pattern, or a file of the repository with its folder."""
_SPLIT: Final = re.compile(
    r"[^/]*?(?P<type>(?:UD-)?I?T?Q\d[A-Z0-9_]*)-(?:\d{5}|\*)-of-(?:\d{5}|\*)\.gguf", re.IGNORECASE
)
_IN_FOLDERS: Final = "unsloth/kimi-k"
"""Sets of several files lie in folders that are called by the type: UD-Q4_K_XL/Kimi-K2-Instruct-UD-Q4_K_XL-00001-of-…
(https://huggingface.co/unsloth/Kimi-K2-Instruct-GGUF, https://unsloth.ai/docs/models/tutorials/kimi-k2.6)."""
_LONGEST: Final = 4000


class _Download(NamedTuple):
    line: int
    repository: str
    folder: str
    rest: str
    """Its other words."""


def folder_beside(case: Case) -> Iterator[Remark]:
    """`--local-dir /models/kimi`, and a server that is given `/models/kimi-k2.5`, which nothing makes."""
    model = case.first.model.rstrip("/")
    if not model.startswith(("/", "./", "~/")) or not (downloads := _downloads(case, model)):
        return
    parent = model.rpartition("/")[0]
    (download, *others) = downloads
    folder = download.folder
    if others or folder == model or folder.rpartition("/")[0] != parent or _is_elsewhere(case, model):
        return
    if any(_names(model, text) for number, text in _other_lines(case)):
        return
    given = (text for word in _words(case) for text in (word.text, word.text.partition("=")[2]))
    if any(f"{text}/".startswith(f"{folder}/") for text in given):
        return  # another option reads it
    message = f"{shortened(model)} is served, and the weights are downloaded into {shortened(folder)} "
    message += f"({case.script.where(download.line)}): the engine takes a folder that is not there for the name of a "
    message += "repository, and ends"
    yield _remark(case, message, model, folder)


def _words(case: Case) -> Iterator[Word]:
    return (word for command in case.commands for word in command.argv)


def file_of_subfolder(case: Case) -> Iterator[Remark]:
    """`hf download R "Q2_K/*" --local-dir F` puts F/Q2_K/…, and the server is given F/….gguf."""
    path = case.first.model
    if not case.engine.facts.gguf_only or not path.endswith(".gguf") or not (downloads := _downloads(case, path)):
        return
    folder, _, name = path.rpartition("/")
    (download, *others) = downloads
    if others or download.folder != folder or _is_elsewhere(case, path):
        return
    if any(_MAKES.search(text) and (".gguf" in text or folder in text) for _, text in _other_lines(case)):
        return
    subfolder = _subfolder(download, name)
    if not subfolder:
        return
    meant = f"{folder}/{subfolder}/{name}"
    message = f"{case.script.where(download.line)} puts the files of {shortened(subfolder, 40)}/ into "
    message += (
        f"{shortened(folder)}/{shortened(subfolder, 40)}/, as the repository has them, and {shortened(name, 80)} "
    )
    message += f"is looked for in {shortened(folder)} itself: no such file"
    yield _remark(case, message, path, meant)


def _subfolder(download: _Download, name: str) -> str:
    """The folder of the repository in which the file lies; "" where it is not known, or there is none."""
    named = {match["subfolder"] for match in _FILES.finditer(download.rest)}
    if len(named) == 1:
        return named.pop()
    split = _SPLIT.fullmatch(name)
    if named or split is None or not download.repository.casefold().startswith(_IN_FOLDERS):
        return ""
    return split["type"]


def _downloads(case: Case, path: str) -> list[_Download]:
    """Those of the text into folders whose names are whole; none for a path that is not."""
    script = case.script
    if unresolved(path) or not is_in_lines(_LOCAL, script.lines, _LONGEST):
        return []
    matches = [(number, match) for number, text in whole_lines(script) if (match := _DOWNLOAD.search(text))]
    downloads = [
        _Download(number, match["repository"], match["folder"].rstrip("/"), f"{match['between']} {match['behind']}")
        for number, match in matches
    ]
    return [] if any(unresolved(each.folder) for each in downloads) else downloads


def _is_elsewhere(case: Case, path: str) -> bool:
    """Whether a container of its own has the path from another place, or from none that the text shows."""
    command = case.commands[0]
    return command.container is not None and (not command.wrappers or on_the_host(path, (command,)) != "")


def _other_lines(case: Case) -> Iterator[tuple[int, str]]:
    """Those that are neither the command's nor a download's."""
    own = {word.line for command in case.commands for word in command.words}
    for number, text in enumerate(case.script.lines, 1):
        if number not in own and "download" not in text:
            yield number, text[:_LONGEST]


def _names(model: str, text: str) -> bool:
    """Whether the line speaks of the very folder, or makes one of that name."""
    last = model.rpartition("/")[2]
    if last not in text:
        return False
    whole = re.search(rf"(?<![\w.-]){re.escape(last)}(?![\w.-])", text)
    return whole is not None and (model in text or _MAKES.search(text) is not None)


def _remark(case: Case, message: str, written: str, meant: str) -> Remark:
    argv = case.commands[0].argv
    at = next((at for at, word in enumerate(argv) if word.text.rstrip("/").endswith(written)), None)
    edits = [Edit(at, 1, (argv[at].text.rstrip("/").replace(written, meant),))] if at is not None else []
    return make_remark(
        Severity.WARNING, Code.CONFLICT, "model", message, f"serve {shortened(meant, 160)}", at=at, edits=edits
    )
