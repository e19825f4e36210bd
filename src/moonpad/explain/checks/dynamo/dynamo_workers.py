"""Workers of Dynamo: they take the engine's own options, and not those of its server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from moonpad.engines.base import Reading
from moonpad.engines.command_line import CommandLine
from moonpad.explain.commands import Command, Script
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity

_MODULE: Final = re.compile(r"dynamo\.(?!frontend|router)\w+(?:\.(?:\w*worker|main))?")
_OWN: Final = re.compile(
    r"--(?:no-)?(?:discovery-backend|response-plane|fpm-trace|kv-state-endpoint|exclude-tools-when-tool-choice-none"
    r"|dump-config-to|output-modalities|media-output-|health-check-payload|engine-request-limit|tcp-tls-|nats-tls-"
    r"|enable-local-indexer|sleep-mode-level|route-to-encoder|enable-multimodal$|mm-prompt-template|frontend-decoding"
    r"|omni$|stage-configs-path|video-output-dir|default-video-fps|enable-layerwise-offload|layerwise-num-gpu-layers"
    r"|vae-use-|boundary-ratio|flow-shift|diffusion-cache-|enable-cache-dit-summary|enable-cpu-offload|ulysses-degree"
    r"|ring-degree|cfg-parallel-size|model-express-url|use-\w+-tokenizer|embedding-worker|image-diffusion-worker"
    r"|disagg-config|video-generation-worker|afd-)",
    re.ASCII,
)
"""Options of the workers, which the engine's own server has not, or not in every release:
https://github.com/ai-dynamo/dynamo, components/src/dynamo, runtime_args.py of all and backend_args.py of each."""
_TRT_WORKER: Final = re.compile(r"dynamo\.trtllm")
_SERVERS_OWN: Final = re.compile(
    r"--[a-z0-9]+_\w+|--(?:engine-dir|config(?:-path)?|tp-size|pp-size|ep-size|backend|host|port|extra-llm-api-options)"
)
_OPTION_FILE: Final = "--extra-engine-args"
_WORKERS: Final = {
    "engine-dir": "--model-path",
    "config": _OPTION_FILE,
    "config-path": _OPTION_FILE,
    "extra-llm-api-options": _OPTION_FILE,
    "tp-size": "--tensor-parallel-size",
    "pp-size": "--pipeline-parallel-size",
    "ep-size": "--expert-parallel-size",
    "kv-cache-free-gpu-memory-fraction": "--free-gpu-memory-fraction",
    **{name: f"--{name}" for name in ("max-batch-size", "max-num-tokens", "max-seq-len", "max-beam-width")},
}
"""What it calls them (components/src/dynamo/trtllm/backend_args.py; before, utils/trtllm_utils.py)."""
_MODE: Final = "--disaggregation-mode"
_TRANSFER: Final = "--kv-transfer-config"
_NIXL: Final = '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'
_FRONTEND: Final = re.compile(r"frontend:\s*$")
_TYPE: Final = re.compile(r"\s+type:\s*[\"']?dynamo\b")


def by_module(command: Command) -> bool:
    return any(_MODULE.fullmatch(word.text) for word in command.prefix)


def is_worker(command: Command, script: Script) -> bool:
    """By its module, or by the recipe that it is made of."""
    if by_module(command):
        return True
    span = next(((low, high) for low, high in script.objects if low <= command.line <= high), None)
    if span is None:
        return False
    lines = [text[:200] for text in script.lines[span[0] - 1 : span[1]]]
    script.budget.work(len(lines) // 4, "its engine commands")
    return any(_FRONTEND.match(above) and _TYPE.match(below) for above, below in pairwise(lines))


def but_own(remarks: Iterable[Remark], command: Command) -> Iterator[Remark]:
    """Without what is said of options that the worker takes for itself."""
    worker = by_module(command)
    for remark in remarks:
        if not (worker and remark.finding.code is Code.UNKNOWN_FLAG and _OWN.match(remark.finding.where)):
            yield remark


def worker_remarks(command: Command, reading: Reading, line: CommandLine) -> Iterator[Remark]:
    """Options of the server alone: of the engine whose parser of tools needs a switch, and those of `trtllm-serve`."""
    yield from _servers_names(command)
    if not line.auto_tools:
        return
    yield from _no_transfer(command)
    own = f"--dyn-{line.tool_parser.lstrip('-')}"
    for flag in (line.auto_tools, line.tool_parser):
        place = reading.parsed.occurrence(flag)
        if place is None:
            continue
        value = place.value if isinstance(place.value, str) else ""
        remedy, words = "leave it out", tuple[str, ...]()
        if flag == line.tool_parser and value:
            remedy, words = f"write {own} {value}", (own, value)
        message = "belongs to the engine's own server: Dynamo's worker refuses it"
        edits = [Edit(place.index, place.length, words)] if by_module(command) else []
        code, severity = Code.UNKNOWN_FLAG, Severity.WARNING
        yield make_remark(severity, code, flag, message, remedy, at=place.index, edits=edits)


def _servers_names(command: Command) -> Iterator[Remark]:
    """One kind of worker has a parser of its own, all of whose options are words with dashes."""
    if not any(_TRT_WORKER.fullmatch(word.text) for word in command.prefix):
        return
    for at, word in enumerate(command.argv):
        name = word.text.partition("=")[0]
        if not _SERVERS_OWN.fullmatch(name):
            continue
        right = _WORKERS.get(name.lstrip("-").replace("_", "-"), "")
        remedy = f"write {right}" if right else f"give it in the file of {_OPTION_FILE}, or leave it out"
        message = "it is of the engine's own server, and Dynamo's worker has no such option: the start ends"
        yield make_remark(Severity.WARNING, Code.UNKNOWN_FLAG, name, message, remedy, at=at)


def _no_transfer(command: Command) -> Iterator[Remark]:
    """Since it knows this option, Dynamo takes no way of moving the KV cache by itself, and the worker refuses to start
    (https://github.com/ai-dynamo/dynamo/pull/6554, .../pull/6897, .../pull/12568)."""
    words = [word.text for word in command.argv]
    at = next((at for at, pair in enumerate(pairwise(words)) if pair == (_MODE, "prefill")), None)
    if at is None and f"{_MODE}=prefill" in words:
        at = words.index(f"{_MODE}=prefill")
    given = any(word.replace("_", "-").startswith((_TRANSFER, "--connector", "--config")) for word in words)
    if at is None or given or not by_module(command):
        return
    sure = not command.unresolved and not command.more
    message = f"Dynamo's worker for prefill refuses to start without {_TRANSFER}: there is no default any more"
    remedy = f"add {_TRANSFER} '{_NIXL}', to the worker for decode too"
    severity = Severity.ERROR if sure else Severity.WARNING
    yield make_remark(
        severity, Code.CONFLICT, _MODE, message, remedy, at=at, edits=(Edit(len(words), 0, (_TRANSFER, _NIXL)),)
    )
