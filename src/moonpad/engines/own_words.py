"""Errors that no row of the catalogue knows: which of them say in their own words what is wrong, and which say only
where a program failed.

A sentence (`ValueError: the number of heads must be divisible by 16`) states its cause. `TypeError: f() got an
unexpected keyword argument 'x'` states that code of one release does not fit code or a model of another. A line that
points elsewhere ("See root cause above.") or tells what happened ("the worker died") states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from moonpad.engines.log_grammar import is_mild, is_passed_over, plain


class Says(IntEnum):
    WHAT = 0
    """What is wrong."""
    WHERE = 1
    """Where code failed that was not made for what it met."""
    LOGGED = 2
    """What is wrong, in a line of level ERROR of a program that may have gone on: asked for where no error ended it."""


@dataclass(frozen=True, slots=True)
class OwnWords:
    """`number` counts the lines from 0."""

    says: Says
    words: str
    number: int


_ERROR: Final = re.compile(
    r"(?:^|[\s\]|\"'(>`])(?P<name>(?:[A-Za-z_]\w*\.)*(?P<class>[A-Z]\w*(?:Error|Exception|Exit)|Exception))"
    r"(?:: ?(?P<words>\S.*))?$"
)
_LOOKS_LIKE_CODE: Final = re.compile(
    r"^\W*(?:raise|except|return|class|from|import|if|elif|assert|self|super|File|with|def|logger|warnings?|#|//|>>>)\b"
    r"|^\s*\d+ +[a-z(]|^-+> \d+"
)
_PYDANTIC: Final = re.compile(
    r"(?:^|\s)(?P<words>(?:Value error|Assertion failed), .+?|(?:Input should|Unexpected keyword|Extra inputs"
    r"|Field required).{0,300}?) ?\[type=\w+"
)
_PARSER: Final = re.compile(r"(?:^|\s)[\w./-]{2,60}(?: [\w-]{2,30}){0,2}: error: (?P<words>\S.*)$")
_ASSERTION: Final = re.compile(
    r"Assertion (?:failed|error)(?: \([^)]{1,120}\))?: (?P<words>.+?)(?: \(/?[\w./-]{3,200}:\d+\)|$)"
)
_LEVEL: Final = re.compile(
    r"(?:^|\s)(?:ERROR|CRITICAL|FATAL)(?: +\[\w+\])? +\[?\d\d[\d:. T/-]{6,28}(?:,\d+)?\]?"
    r" \[?[\w./]{1,80}:\d+\] (?P<words>\S.*)$"
    r"|^\d+\.\d\d\.\d{3}\.\d{3} E (?:\w+ +\w+: )?(?P<llama>\S.*)$"
    r"|(?:^|\| )[EF]\d{4} [\d:.]{8,15} +\d+ [\w.]{2,60}:\d+\] \"?(?P<glog>\S.*?)\"?$"
    r"|\[TRT-LLM\] (?:\[RANK \d+\] )?\[E\] (?P<trt>\S.*)$"
)
_COMPILER: Final = re.compile(
    r"\.(?:cu|cuh|c|cc|cpp|h|hpp|hip|cl)(?:\(\d+\)|:\d+(?::\d+)?): (?:fatal |catastrophic )?error:? (?P<words>\S.*)$"
)
_NCCL_FAILED: Final = re.compile(r"NCCL error|nccl(?:System|UnhandledCuda|Internal|Remote)Error|ncclInvalidUsage")
_NCCL: Final = re.compile(r"\bNCCL WARN (?:NET/\w+ ?: |Call to )?(?P<words>\S.*)$")
_WRAPS: Final = (
    re.compile(r"Worker failed with error ['\"](?P<inner>.+?)['\"](?:, please check\b.*|$)"),
    re.compile(r"[Cc]apture (?:the )?(?:cuda|npu|device) graph failed: (?P<inner>.+?)(?:\.? Possible solutions.*)?$"),
    re.compile(r"Failed to (?:initialize|create) (?:executor|engine|model|worker)\b[^:]{0,40}: (?P<inner>\S.+)$"),
    re.compile(r"Error (?:initializing|creating|loading) (?:\w+ )?(?:engine|model)\b[^:]{0,40}: (?P<inner>\S.+)$"),
    re.compile(r"(?:EngineCore|Scheduler|Worker|WorkerProc)\w* hit an exception: (?P<inner>\S.+)$"),
    re.compile(r"unexpected error when creating modelInstanceState: (?P<inner>\S.+)$"),
    re.compile(r"is at UNAVAILABLE state: (?:Internal|Invalid argument|Not found): (?P<inner>\S.+?);?$"),
    re.compile(r"failed to load '[\w.-]{1,80}' version \d+: \w[\w ]{2,30}: (?P<inner>\S.+?)\"?$"),
    re.compile(r"Failed to initialize Python stub: (?P<inner>\S.+?)(?:\\n.*)?$"),
    re.compile(r"\bwhat\(\): +(?P<inner>\S.+)$"),
    re.compile(r"\bE[A-Z\d]\d{4}: (?:\[PID: ?\d+\] ?)?[\d:. -]*(?P<inner>[A-Za-z\[].+?)(?:\.?\[FUNC.*)?$"),
    re.compile(
        r"(?:unable to start container process|error during container init): (?P<inner>\S.+?)(?:: unknown)?\.?$"
    ),
    re.compile(r"Error response from daemon: (?P<inner>\S.+)$"),
    re.compile(r"Error in model execution(?: \(input dumped to [^)]{1,200}\))?: (?P<inner>\S.*)$"),
    re.compile(r"error loading model(?: (?:hyperparameters|vocabulary|architecture))?: (?P<inner>\S.+)$"),
    re.compile(r"\berror: pyxis: {2,}(?P<inner>\S.+)$"),
    re.compile(r"failed to initialize the context: (?P<inner>\S.+)$"),
    re.compile(r"error while handling argument \"[^\"]{1,60}\": (?P<inner>\S.+)$"),
)
"""What one process says of the error of another, word for word."""

_POINTS_ELSEWHERE: Final = re.compile(
    r"(?i)\b(?:see|check|look at) (?:the |root |server |above |previous |full )*"
    r"(?:cause|stack|logs?|trace|error|above|exception)"
    r"|root cause|reported as above|returned error|hit an exception|validation errors? for"
    r"|(?:initiali[sz]ation|start-?up|start) failed|failed to start|(?:could|did)n.t finish loading"
    r"|\b(?:engine|worker|executor|scheduler|server|actor|proc(?:ess)?|core|task|rank|replica|subprocess|child)\w*"
    r"[ \w\[\](){}'=#:.-]{0,40}\b(?:died|dead|failed|exited|crashed|is gone|terminated|killed|was lost|not healthy"
    r"|shut(?:ting)? down|encountered|has errored|unexpectedly)"
    r"|^error (?:in|during|while|when) [\w ]{3,60}\.?$"
    r"|Python is likely shutting down|cannot schedule new futures|[Ee]vent loop (?:is|was|stopped)|on non-socket"
    r"|Exception in ASGI|Exception in thread|background loop|EngineDead|received sig|exit code|exited with"
    r"|non-zero exit|leaked|graceful"
    r"|error occurred when running|^\d+ validation|unknown error|internal (?:server )?error|error internal|unspecified"
    r"|Error in model execution|inner error|run with NCCL_DEBUG|unhandled|remote process exited|another exception"
    r"|health ?check"
    r"|failed to load all models|printing (?:contents|enroot)|[Cc]ontainer start failed|couldn't start container"
    r"|spank: |spank plugin|Plugin stack|if the image has an unusual|Context is not active|mark it inactive"
    r"|Dumping (?:input|scheduler)|\*\*\* (?:STEP|JOB)|task \d+: |[Jj]ob step aborted|Terminated"
    r"|[Nn]inja (?:build failed|output)|failed to be inspected|returned a result with an (?:error|exception)"
    r"|Traceback|traceback|[Ee]rror executing method"
    r"|[Ee]xception in worker|[Ee]rror in inspecting|raised in subprocess|output_handler"
    r"|(?:failed|unable) to load (?:the )?(?:model|plugin)"
    r"|\bignor(?:e|ed|ing)\b|unknown reason|TORCH_USE_CUDA_DSA|collective_rpc|raised:|inner_exception"
)
_POINTER: Final = re.compile(r"[.,;] (?:[Pp]lease )?(?:[Ss]ee|[Cc]heck|[Ll]ook at) .*$")
_NEEDS: Final = re.compile(
    r"(?i)\b(?:requires?|must|cannot|only|missing|needs?|unavailable|unsupported|not (?:available|supported|found"
    r"|installed))\b"
)
"""A sentence with one of these says what is wrong, whatever it points at behind that."""
_WHAT_HAPPENED: Final = re.compile(
    r"[Cc]uda failure|_Map_base|vector::_M|basic_string::|map::at|\b(?:CUDA|HIP|NPU|ACL|NCCL|HCCL|cuda|nccl|hccl"
    r"|cuBLAS|CUDNN|cuDNN)\b[ \w]{0,24}\b(?:error|failure|Error)"
    r"|CUDA_ERROR|cudaError|CUBLAS_STATUS|CUDNN_STATUS|_STATUS_|error code|illegal memory access|[Tt]imed? ?out"
    r"|[Cc]onnection (?:closed|reset|refused|aborted)|[Bb]roken pipe|cancel(?:l?ed)|[Ii]nterrupt|aborted"
    r"|[Ss]egmentation|[Ee]xpected result >= 0|Invalid status|invalid status|EOF\b|disconnected|Cannot allocate memory"
    r"|runtime result ?[=-]|DeviceLost|DEVICE_LOST|Vmm Failure|HipVMM"
)
"""It tells what happened to the program, and not why."""
_SHAPES: Final = re.compile(
    r"(?:size of tensor|shapes? (?:cannot|mismatch|of|'\[)|shape '\[|mat1 and mat2|size mismatch"
    r"|must match the (?:size|existing)|expected (?:size|scalar type|m1|self|mat|tensor)|same dtype|dtype mismatch"
    r"|start out of range|out of (?:range|bounds)"
    r"|invalid for input of size|must have the same|split_with_sizes|stride|k-axis|dimension (?:out|\d)|not contiguous"
    r"|narrow\(\)|[Ee]xpected all tensors|[Ii]nvalid argument|unsupported operand|Unsupported data type)"
)
_WHERE_CLASSES: Final = frozenset(
    {"TypeError", "KeyError", "IndexError", "NameError", "UnboundLocalError", "ZeroDivisionError", "RecursionError"}
)
_WRITTEN: Final = re.compile(
    r"^['\"]?(?:[A-Z]|--)[\w\x60-].{8,}\b(?:must be (?:set|enabled|disabled|one of)|requires?|not supported"
    r"|only supports?|not available|not found in|choose from|chose from|use|set)\b"
)
"""A sentence for people, in a class that Python itself raises where code is wrong."""
_AROUND_OTHERS: Final = frozenset({"InductorError", "BackendCompilerFailed", "RayTaskError", "ProcessRaisedException"})
_OF_WHAT_WAS_GIVEN: Final = frozenset(
    {"ValueError", "NotImplementedError", "ImportError", "OSError", "EnvironmentError"}
)
_NO_FAULT_OF_CODE: Final = frozenset(
    {
        *(
            "KeyboardInterrupt",
            "SystemExit",
            "CancelledError",
            "EngineDeadError",
            "AsyncEngineDeadError",
            "TimeoutError",
        ),
        *("ConnectionError", "ConnectionResetError", "ConnectionRefusedError", "BrokenPipeError", "EOFError"),
        *("CalledProcessError", "RayTaskError", "ActorDiedError", "RayActorError", "RequestError"),
        *("BackendCompilerFailed", "InductorError", "ChildFailedError", "ProcessExitedException", "Exit"),
        *(
            "RayChannelError",
            "RayChannelTimeoutError",
            "ProcessRaisedException",
            "ReadTimeout",
            "ConnectTimeout",
            "HTTPException",
            "StopIteration",
        ),
    }
)
_HAS_NOT: Final = re.compile(r"has no attribute|object has no|not callable|not subscriptable|not iterable")
_PASSED_OVER: Final = re.compile(r"Exception ignored in:")
"""So Python begins what fails while it tears objects down; the error's own line comes a few lines below."""
_CHAINED: Final = re.compile(r"During handling of the above exception|direct cause of the following exception")
_WEIGHT: Final = re.compile(r"'(?:\w+\.){2,12}\w+'$")
"""A KeyError in its own text: the name of a weight."""
_SOURCE_ABOVE: Final = 4
_REPEATED: Final = re.compile(r" \[repeated \d+x across cluster\].*$")
_OF_CODE: Final = re.compile(r"(?P<words>GGML_ASSERT\(.{1,300}\) failed|GGML_ASSERT: \S{1,200}:\d+: \S.{1,300})")
_CHAINED_WITHIN: Final = 4
_CLASS: Final = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*: ")
_STEP: Final = re.compile(
    r"[Ff]ailed to (?:apply|process|run|call|execute|build|parse|convert) \S|[Ee]rror (?:while|when|during) "
)
_SHORTEST_WRAPPED: Final = 16
_ASSERT: Final = re.compile(r"(?:^|\s)assert (?P<what>\S.*)$")
_HAS_NOT_HERE: Final = re.compile(
    r"(?:^|[\s:])(?P<words>(?:(?:type object |module |partially initialized module )?"
    r"'[\w.]{1,80}'(?: object)? has no attribute '\w+|unsupported operand type\(s\) for "
    r"|'NoneType' object (?:is not|has no) |cannot unpack non-iterable "
    r"|[\w.]{1,60}\(\) (?:got an unexpected keyword|missing \d+ required)).*)$"
)
_PLAIN: Final = re.compile(
    r"^(?:[\w./-]{1,60}: )?(?:[Ee]rror|ERROR|FATAL|[Ff]atal(?: error)?)[:!] {1,4}(?P<words>[A-Z'\"].+)$"
)
_OPTIONAL: Final = re.compile(
    r"[Ff]ailed to import|Cannot use (?:FA|[Ff]lash)|not installed or not compatible|not be available|will be disabled"
)
"""Parts that an engine can do without are tried at its start, and their absence is logged as an error."""


def own_words(lines: Sequence[str]) -> OwnWords | None:
    """The first error that says what is wrong, or the first that says where, if that came before and did not lead to
    the other one. Lines that their writer calls a warning count for nothing."""
    first: dict[Says, OwnWords] = {}
    passed_over, silent = False, None
    for number, line in enumerate(lines):
        if not (text := plain(line)) or (is_mild(text) and not any(wrap.search(text) for wrap in _WRAPS)):
            continue
        said = None if is_passed_over(text) else said_by(text) or _assertion(lines, number, text)
        passed_over = passed_over or _PASSED_OVER.search(text) is not None
        if said is None or passed_over:
            passed_over = passed_over and said is None
            silent = number if said is None and _is_error(text) else silent
            continue
        says, words = said
        if silent is not None and _STEP.match(_CLASS.sub("", words)) and led_to(lines, silent, number):
            continue
        if says not in first:
            first[says] = OwnWords(says, words, number)
        if Says.WHAT in first and Says.WHERE in first:
            break
    if Says.WHAT not in first and Says.WHERE not in first:
        logged = first.get(Says.LOGGED)
        return None if logged is not None and not _counts(lines, logged) else logged
    what, where = first.get(Says.WHAT), first.get(Says.WHERE)
    if what is None and where is not None and _is_cut_off(lines, where.number):
        return None
    if what is None or where is None or what.number < where.number:
        return what or where
    if not led_to(lines, where.number, what.number) or _only_wraps(what.words, where.words):
        return where
    return what


def _is_error(text: str) -> bool:
    return _ERROR.search(text) is not None and _LOOKS_LIKE_CODE.match(text) is None


def _only_wraps(outer: str, inner: str) -> bool:
    """Whether the outer error says of the inner one its words, or the step in which it came, and nothing else."""
    words = _CLASS.sub("", inner)
    return (len(words) > _SHORTEST_WRAPPED and words in outer) or _STEP.match(_CLASS.sub("", outer)) is not None


def _counts(lines: Sequence[str], logged: OwnWords) -> bool:
    """NCCL warns of much that ends nothing: its words count where one of its calls failed."""
    return _NCCL.search(lines[logged.number]) is None or any(_NCCL_FAILED.search(line) for line in lines)


def _is_cut_off(lines: Sequence[str], number: int) -> bool:
    """Whether the error led to another one, which the log does not have any more."""
    behind = lines[number + 1 :]
    if not any(_CHAINED.search(line) for line in behind[:_CHAINED_WITHIN]):
        return False
    return not any(map(_is_error, map(plain, behind)))


def begins_behind_its_cause(lines: Sequence[str]) -> bool:
    """Whether the log, a piece of one, begins behind an error that the next ones followed from."""
    for line in lines:
        if _CHAINED.search(line):
            return True
        if _is_error(plain(line)):
            return False
    return False


def led_to(lines: Sequence[str], first: int, second: int) -> bool:
    """Whether Python says between the two that one was raised while the other was handled."""
    return any(_CHAINED.search(line) for line in lines[first:second])


def is_optional(text: str) -> bool:
    """Whether it says that a part is absent that an engine can do without."""
    return _OPTIONAL.search(text) is not None


def said_by(text: str) -> tuple[Says, str] | None:
    """What one line says, without colours."""
    if _LOOKS_LIKE_CODE.match(text):
        return None
    text = _REPEATED.sub("", text)
    for wrap in _WRAPS:
        if match := wrap.search(text):
            inner = match["inner"].strip()
            return said_by(inner) or _sentence("", inner)
    if match := _PYDANTIC.search(text) or _PARSER.search(text):
        return _sentence("", match["words"])
    if match := _ERROR.search(text):
        if _LOOKS_LIKE_CODE.match(text[match.start("name") :]):
            return None
        return _of_class(match["class"], (match["words"] or "").rstrip("`"), match["name"])
    if match := _ASSERTION.search(text):
        return _sentence("", match["words"])
    if match := _OF_CODE.search(text):
        return Says.WHERE, match["words"]
    if match := _COMPILER.search(text):
        return Says.WHERE, f"a kernel cannot be compiled: {match['words']}"
    if match := _NCCL.search(text):
        return (Says.LOGGED, f"NCCL: {match['words']}") if _sentence("RuntimeError", match["words"]) else None
    if match := _LEVEL.search(text):
        said = _of_level(match["words"] or match["llama"] or match["glog"] or match["trt"])
        return (Says.LOGGED, said[1]) if said and not match["trt"] and said[0] is Says.WHAT else said
    if (match := _HAS_NOT_HERE.search(text)) and not _POINTS_ELSEWHERE.search(text):
        return Says.WHERE, match["words"]
    if match := _PLAIN.search(text):
        return _of_level(match["words"])
    return None


def _assertion(lines: Sequence[str], number: int, text: str) -> tuple[Says, str] | None:
    """Of an AssertionError without words, with the source that Python shows above it."""
    if not text.endswith("AssertionError"):
        return None
    for above in reversed(lines[max(0, number - _SOURCE_ABOVE) : number]):
        if match := _ASSERT.search(plain(above)):
            return Says.WHERE, f"AssertionError: assert {match['what']}"
    return None


def _of_class(name: str, words: str, full: str) -> tuple[Says, str] | None:
    shown = f"{full}: {words}" if words else full
    if name in _AROUND_OTHERS and (nested := _ERROR.match(words)):
        return _of_class(nested["class"], nested["words"] or "", nested["name"])
    if name in _NO_FAULT_OF_CODE or _POINTS_ELSEWHERE.search(words):
        return None
    if words.startswith("'/"):  # of the tracker of shared memory, at an end
        return None
    if name in _WHERE_CLASSES or (name == "AttributeError" and _HAS_NOT.search(words)):
        if not words:
            return None
        return Says.WHAT if _WRITTEN.search(words) and _sentence(name, words) else Says.WHERE, shown
    if _WHAT_HAPPENED.search(words):
        return None
    if name not in _OF_WHAT_WAS_GIVEN and _SHAPES.search(words):
        return Says.WHERE, shown
    said = _sentence(name, words)
    if said is None and name == "AssertionError" and words:
        return Says.WHERE, shown
    return (said[0], shown) if said else None


def _sentence(name: str, words: str) -> tuple[Says, str] | None:
    if (before := _POINTER.sub("", words)) != words and _NEEDS.search(before):
        words = before
    if _POINTS_ELSEWHERE.search(words) or _WHAT_HAPPENED.search(words):
        return None
    if name not in _OF_WHAT_WAS_GIVEN and _SHAPES.search(words):
        return Says.WHERE, words
    plain_words = re.findall(r"[A-Za-z]{2,}|[\u4e00-\u9fff]{2,}", words)
    fewest = 3 if name != "RuntimeError" or _NEEDS.search(words) else 4
    return (Says.WHAT, words) if len(plain_words) >= fewest else None


def _of_level(words: str) -> tuple[Says, str] | None:
    """Of a line of level ERROR that is no exception and no piece of a traceback."""
    if _WEIGHT.match(words):
        return Says.WHERE, words
    if _OPTIONAL.search(words):
        return None
    if not re.match(r"[A-Z][\w-]* |The |A ", words) or re.search(
        r"\w\(|self\.|[\w\]] ?= ?\w|File \"|with config|[:{,]$", words
    ):
        return None
    return _sentence("RuntimeError", words)
