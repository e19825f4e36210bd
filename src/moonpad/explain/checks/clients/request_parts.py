"""Tools, images and sounds of a request, against what the server of the text was started to take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import calls_to, is_named, is_shown_to_fail
from moonpad.explain.documents.answers import is_answer
from moonpad.explain.documents.client_calls import ClientCall
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_TOOLS: Final = re.compile(r"[\"']tools\\?[\"']\s*:\s*(?:\[\s*\{|\$|\[\s*$)|\btools\s*=\s*(?!None|\[\])")
_CHOICE: Final = re.compile(r"[\"']?tool_choice\\?[\"']?\s*[:=]\s*\\?[\"']?(?P<choice>\w+|\{)")
_AUTO: Final = "--enable-auto-tool-choice"
_PARSER: Final = "--tool-call-parser"
_IMAGE: Final = re.compile(r"[\"']type\\?[\"']\s*:\s*\\?[\"']image_url\\?[\"']")
_SOUND: Final = re.compile(r"[\"']type\\?[\"']\s*:\s*\\?[\"'](?:input_audio|audio_url)\\?[\"']")
_FILE: Final = re.compile(r"[\"']url\\?[\"']\s*:\s*\\?[\"']file://")
_TEXT_ALONE: Final = ("--language-model-only",)
_LIMIT: Final = "--limit-mm-per-prompt"
_FOLDER: Final = "--allowed-local-media-path"
_DEAF: Final = re.compile(
    r"kimi-k2|kimi-k3|kimi-linear|deepseek-(?:v3|v4|r1)|glm-[45]|moonlight|kimi-vl", re.IGNORECASE
)
"""Models without ears."""
_BELOW: Final = 12
_LONGEST: Final = 2000


def tools_of_request(case: Case) -> Iterator[Remark]:
    """A request with tools whose calls nothing reads: a refusal of one engine, plain text of the other."""
    if case.option("--config") is not None or case.open_ended:
        return
    refuses = case.base == names.EXPERTS_BY_VARIABLE
    missing = _AUTO if refuses else _PARSER
    if not refuses and case.base != names.EXPERTS_BY_OPTION:
        return
    if case.option(missing) is not None or is_named(case, missing):
        return
    for call in calls_to(case):
        if not _asks_for_chat(call) or not _TOOLS.search(call.text) or is_shown_to_fail(case, call.line, _end(call)):
            continue
        choice = _CHOICE.search(call.text)
        if choice is not None and choice["choice"] != "auto":
            continue
        where = case.script.where(call.line)
        if refuses:
            message = f"{where}: the request brings tools, and the server is started without {_AUTO}: it answers 400"
            remedy = f"start it with {_AUTO} and {_PARSER}"
        else:
            message = (
                f"{where}: the request brings tools, and the server is started without {_PARSER}: calls come back "
            )
            message += "as text, and tool_calls stays empty"
            remedy = f"start it with {_PARSER}"
        yield _said(Code.MISSING_FLAG, missing, message, remedy)
        return


def media_of_request(case: Case) -> Iterator[Remark]:
    """An image to a model of text, more of them than are granted, a file of the server, a sound."""
    if case.base != names.EXPERTS_BY_VARIABLE or case.open_ended:
        return
    for call in calls_to(case):
        if not _asks_for_chat(call):
            continue
        text = f"{_above(case, call)}\n{call.text}" if call.kind == "create" else call.text
        told = _of_media(case, text)
        if told is not None and not is_shown_to_fail(case, call.line, _end(call)):
            place, what, remedy = told
            message = f"{case.script.where(call.line)}: {what}"
            yield _said(Code.CONFLICT, place, message, remedy)
            return


def _of_media(case: Case, text: str) -> tuple[str, str, str] | None:
    """The place, what happens, and the remedy."""
    images = len(_IMAGE.findall(text))
    if images and case.option(*_TEXT_ALONE) is not None:
        what = f"the request brings an image, and {_TEXT_ALONE[0]} takes none: it answers 400"
        return _TEXT_ALONE[0], what, f"leave {_TEXT_ALONE[0]} out"
    if images and case.checkpoint is not None and case.checkpoint.architecture.vision_parameters == 0:
        name = shortened(case.checkpoint.name.rpartition("/")[2], 40)
        return "image_url", f"the request brings an image, and {name} reads text alone: it is refused", "send text"
    granted = _granted(case, "image")
    if granted is not None and images > granted:
        what = f"the request brings {images} images, and {_LIMIT} grants {granted}: it answers 400"
        return _LIMIT, what, f"raise the number of images in {_LIMIT}"
    if images and _FILE.search(text) and case.option(_FOLDER) is None and not _is_told(case, _FOLDER):
        what = f"file:// is read by the server, which refuses it without {_FOLDER}"
        return _FOLDER, what, f"start it with {_FOLDER} FOLDER, or send the image in base64"
    if _SOUND.search(text) and case.first.model and _DEAF.search(case.first.model):
        name = shortened(case.first.model.strip("'\"").rpartition("/")[2], 40)
        return "input_audio", f"the request brings a sound, and {name} takes none: it is refused", "send text"
    return None


def _is_told(case: Case, option: str) -> bool:
    """Whether the text names the option beside answers of a server, which name what is missing."""
    return any(option in line and not is_answer(line) for line in case.script.lines if len(line) <= _LONGEST)


def _granted(case: Case, kind: str) -> int | None:
    """How many of them a prompt may have, None where the command does not say it."""
    text = case.text(_LIMIT).strip("'\"")
    if match := re.search(rf"\b{kind}=(\d+)", text):
        return int(match[1])
    try:
        value = json.loads(text) if text.startswith("{") else None
    except ValueError:
        return None
    number = value.get(kind) if isinstance(value, dict) else None
    return number if isinstance(number, int) else None


def _above(case: Case, call: ClientCall) -> str:
    """The lines above a request of the library in which its messages may be made, of the same block."""
    lines: list[str] = []
    for text in reversed(case.script.lines[max(0, call.line - 1 - _BELOW) : call.line - 1]):
        if text.lstrip().startswith(("```", "~~~")) or ".create(" in text:
            break
        lines.insert(0, text[:_LONGEST])
    made = "\n".join(lines)
    return made if re.search(r"\bmessages\s*=\s*\[", made) and "messages=messages" in call.text else ""


def _asks_for_chat(call: ClientCall) -> bool:
    return call.kind != "client" and call.is_chat


def _end(call: ClientCall) -> int:
    return call.line + call.text.count("\n")


def _said(code: Code, place: str, message: str, remedy: str) -> Remark:
    return replace(make_remark(Severity.WARNING, code, place, message, remedy), command=None)
