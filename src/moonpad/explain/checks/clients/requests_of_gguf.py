"""Requests to an engine of GGUF files: pictures without their projector, and embeddings of a server that writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import calls_to, is_named, is_shown_to_fail
from moonpad.explain.checks.whole_texts import is_whole
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_IMAGE: Final = re.compile(r"[\"']type\\?[\"']\s*:\s*\\?[\"']image_url\\?[\"']")
_EMBEDDINGS: Final = re.compile(r"/embeddings?(?![\w-])|(?<![\w.])embeddings\.create\(")
_PROJECTOR: Final = "--mmproj"
_EMBEDS: Final = "--embeddings"
_BRINGS: Final = ("--mmproj", "--mmproj-url", "--hf-repo", "--models-preset", "--models-dir", "--docker-repo")
"""What names a projector, or finds one beside the model that it takes."""
_SWITCHES: Final = ("--embedding", "--embeddings", "--rerank", "--reranking", "--pooling", "--models-preset")


def picture_without_projector(case: Case) -> Iterator[Remark]:
    """A request with a picture, to a server that was given the model's file alone."""
    given = case.text("--model")
    if not case.engine.facts.gguf_only or not given or unresolved(given) or not is_whole(case):
        return
    if case.option(*_BRINGS) is not None or is_named(case, _PROJECTOR) or is_named(case, "-mm"):
        return
    for call in calls_to(case):
        if _IMAGE.search(call.text) and not is_shown_to_fail(case, call.line, call.line + call.text.count("\n")):
            message = (
                f"{case.script.where(call.line)}: the request brings an image, and without {_PROJECTOR} the server"
            )
            message += " reads text alone: it answers with an error (image input is not supported)"
            remedy = f"start it with {_PROJECTOR} and the mmproj file that is published beside the model's"
            remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, _PROJECTOR, message, remedy)
            yield replace(remark, command=None)
            return


def embeddings_of_writer(case: Case) -> Iterator[Remark]:
    """A request for embeddings, to a server that was not started for them."""
    if not case.engine.facts.gguf_only or not is_whole(case) or case.option(*_SWITCHES) is not None:
        return
    if is_named(case, _EMBEDS) or is_named(case, "--embedding"):
        return
    for call in calls_to(case):
        if _EMBEDDINGS.search(call.text) and not is_shown_to_fail(case, call.line, call.line + call.text.count("\n")):
            message = (
                f"{case.script.where(call.line)}: the request asks for embeddings, which the server refuses where it"
            )
            message += f" is started without {_EMBEDS}"
            remedy = f"start a server with {_EMBEDS} for them"
            remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, _EMBEDS, message, remedy)
            yield replace(remark, command=None)
            return
