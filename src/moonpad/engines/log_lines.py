"""Which lines of a text an engine has logged: no shell reads them, and what they say is not a command."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from moonpad.engines.foreign_names import SPEAKING

_PROCESS: Final = r"\([\w. -]{1,40}?(?:,?[ ]\w+=[\w.:-]+){0,3},?[ ]?pid=\d+(?:,[ ]ip=[\w.:]+)?\)"
"""`(APIServer pid=1)`, `(RayWorkerWrapper pid=9, ip=10.0.0.2)`, `(worker1, rank=1, pid=2331, ip=10.0.0.5)`."""
_OF_RAY: Final = r"\((?:raylet|autoscaler)(?:[ ]\+\w{2,12})?(?:,[ ]ip=[\w.:]+)?\)(?=[ ])"
"""`(autoscaler +13s)`."""
_STAMP: Final = r"(?:\d{4}-)?\d\d-\d\d[ T]\d\d:\d\d:\d\d"
_OF_PROCESS: Final = re.compile(rf"pid=|\d{{4}}-\d\d-\d\dT\d\d:|{_OF_RAY}")
_FRONT: Final = re.compile(
    r"(?:[ \t\0]*(?:"
    r"[\w.-]{1,60}[ ]{0,20}\|(?=[ ])"  # of docker compose
    rf"|{_STAMP}(?:[.,]\d+)?[ ]\|(?=[ ])"  # of Docker's desktop
    r"|\[pod/[\w./-]{1,150}\]"  # of kubectl --prefix
    r"|\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:?\d\d)?(?:[ ]std(?:out|err)[ ][PF])?"
    r"|[A-Z][a-z]{2}[ ]{1,2}\d{1,2}[ ][\d:]{8}[ ][\w.-]{1,60}[ ][\w.@()-]{1,60}\[\d+\]:"  # of journald
    r"|(?:[A-Z][a-z]{2}[ ][A-Z][a-z]{2}[ ]{1,2}\d{1,2}[ ][\d:]{8}[ ]\d{4})?\[\d+,\d+\]<std(?:out|err)>:"  # of mpirun
    r"|[A-Z][a-z]{2}[ ]{1,2}\d{1,2}[ ]{1,2}[\d:.]{8,15}[ ]\|(?=[ ])"  # of Modal
    r"|(?:systemd|\([\w.@-]{1,60}\))\[\d+\]:"  # of journald without its stamps
    rf"|{_PROCESS}|{_OF_RAY}"
    rf"|\[(?:rank|GPU|RANK)[ ]?\d+\]:?|\d{{1,6}}:(?=[ ]|{_STAMP}|\(\w+ pid=|[A-Z]{{4,8}} ))[ ]?){{0,5}}"
)
"""What stands before a line in the logs of containers and of several processes."""
_LINE: Final = re.compile(
    r"[ \t\0]*(?:"
    rf"(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)(?::[ ]{{4}}|[ ]+(?:\[\w+\][ ])?\[?{_STAMP}|[ ]+\[[\w./]+:\d+\])"
    rf"|\[?{_STAMP}[^\]\n]{{0,60}}\]"
    rf"|{_STAMP}[.,]\d+[ ]-?[ ]?(?:DEBUG|INFO|WARN|ERROR|\[)"
    r"|\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\]|\[TensorRT-LLM\]\[\w+\]|\[TRT-LLM\]"
    r"|[\w.-]{1,60}:\d+:\d+[ ]\[\d+\][ ](?:[\w./-]{1,80}:\d{1,6}[ ])?NCCL[ ]"
    r"|\[Gloo\][ ]|\[[WEIF]\d{3,4}[ ][\d:.]{8,20}[ ][\w.]{1,60}:\d+\]"
    r"|[WEIF]\d{4}(?:\d{4})?[ ]\d\d:\d\d:\d\d\.\d{1,9}[ ]{1,6}\d{1,9}[ ][\w./-]{1,80}:\d{1,6}\]"  # of glog
    r"|(?:Loading|Capturing|Multi-thread loading)[ ][\w ()]{1,60}:?[ ]+\d{1,3}%"
    r"|(?:[A-Z]:)?[\w./\\-]{0,200}[/\\][\w.-]{1,80}\.(?:cuh?|cpp|cc|hpp|c):(?:\w{1,60}:)?\d{1,6}: \w"
    r"|\d{1,4}\.\d\d\.\d{3}\.\d{3}[ ][DIWE][ ]|GGML_ASSERT[(:]|CUDA error: "  # of llama.cpp
    r"|Failed to connect to [\w.-]{0,80}:\d{2,5}$"
    r"|\[[\w./-]{1,80}\.(?:py|cc|cpp|rs):\d{1,6}\][ ]"
    r"|E[A-Z\d]\d{4}: (?:\[PID|\w)|\[(?:ERROR|WARNING|INFO|DEBUG|EVENT)\][ ][A-Z]{2,20}\(\d+,"  # of CANN
    r"|\[[\w.-]{1,60}:\d{2,8}\][ ](?:[A-Z]{4} ERROR|\*{3}|\[ ?\d+\]|(?:pml|mca|btl|orte|opal)_)"  # of Open MPI
    r"|:\d:\w{1,40}\.cpp[ ]*:\d+[ ]*:[ ]"  # of ROCm
    r"|(?:Value error|Assertion failed|Input should|Extra inputs)\b.{1,1500}\[type=\w"  # of Pydantic
    r"|Fatal Python error: |terminate called after throwing an instance of |what\(\): "
    r"|(?:[\w./-]{1,200}: )?error while loading shared libraries: |Assertion failed: /"
    r"|(?:standard_init_linux\.go:\d{1,4}: )?exec (?:/[\w./-]{1,200}|user process caused): "  # of runc
    r"|(?:docker: )?Error response from daemon: |/bin/(?:ba)?sh: (?:line )?\d+: |HCCL_BUFFSIZE\w{0,20} is too SMALL"
    r"|(?:Illegal instruction|Segmentation fault|Bus error|Aborted|非法指令|段错误|已放弃)[ ]?(?:\(|（|$)"
    r"|thread '[^'\n]{1,60}' (?:\(\d{1,10}\) )?panicked at "  # of Rust
    r"|\[\d{9,11}\.\d{3,6}\][ ]\[[\w.-]{1,80}:\d{1,8}[ ]*:\w{1,3}\][ ]"  # of UCX
    r"|(?:\d{1,4}:[ ])?\[[\w.-]{1,80}:\d{1,8}(?::\d{1,8}){1,2}\][ ]Caught signal \d"  # of UCX, behind srun's rank
    r"|\[[ ]{0,6}\d{1,8}\.\d{6}\][ ]|\[(?:[A-Z][a-z]{2}[ ]){2}[ ]?\d{1,2}[ ][\d:]{8}[ ]\d{4}\][ ]"
    r"|(?:kernel:[ ])?NVRM: "  # of kernels
    r"|(?:(?:llama|ggml|gguf|common)_\w+|load_(?:tensors|backend|model)|print_info|srv|slot|main|build|system_info)[ ]?"
    r":[ ]"
    r"|(?:non-default[ ]args|args):[ ](?:\{|Namespace\()"
    r"|server_args=(?:ServerArgs\(|\{)"
    r"|(?:[\w.-]{1,40}[ ]){0,2}[\w.-]{0,40}:[ ]error:[ ]|error:[ ]invalid argument|Error:[ ]No such option"
    r"|Try '[\w. -]{1,60} --help'"
    r"|(?:Warning|Normal)[ ]{1,20}[A-Z][A-Za-z]{3,40}[ ]{1,20}(?:\d{1,4}[smhd]|<(?:unknown|invalid)>)"  # of kubectl
    r"|(?:\d{1,4}[smhd]){1,3}[ ]{2,20}(?:Warning|Normal)[ ]{2,20}[A-Z][A-Za-z]{3,40}[ ]"
    r"|(?:Last[ ])?State:[ ]{2,20}(?:Waiting|Running|Terminated)[ ]*$|Reason:[ ]{2,20}[A-Z][A-Za-z]{3,40}[ ]*$"
    r"|(?:Exit Code|Restart Count):[ ]{2,20}\d{1,5}[ ]*$|(?:Started|Finished):[ ]{2,20}[A-Z][a-z]{2},[ ]"
    r"|[a-z0-9][a-z0-9.-]{1,100}[ ]{2,40}\d{1,2}/\d{1,2}[ ]{2,20}[A-Z][\w:]{3,40}[ ]{2,20}\d{1,5}[ ]"
    r"|0/\d{1,5} nodes are available: |Error from server \(\w{3,30}\): |Error: (?:INSTALLATION|UPGRADE) FAILED: "
    r"|error: (?:unable to recognize|resource mapping not found|error validating)\b"
    r"|Type[ ]{2,20}Reason[ ]{2,20}Age[ ]|Runner failed with exception: "
    r"|(?:time=\"[^\"\n]{4,40}\" )?level=(?:error|fatal) msg=|Back-off (?:pulling image|restarting failed)\b"
    r"|The [A-Z]\w{2,40} \"[\w.-]{1,100}\" is invalid: |error: error (?:parsing|validating) "
    r"|Error: (?:failed to create|container create failed)\b|dependency failed to start: |yaml: line \d{1,5}: "
    r"|validating \S{1,200}\.ya?ml: |services\.[\w.-]{1,80} [Aa]dditional propert"  # of Compose
    r"|docker: (?:invalid reference format|'docker run' requires)|unknown (?:shorthand )?flag: "
    r"|permission denied while trying to connect to the Docker daemon"
    r"|/\S{1,200}/python[\d.]{0,5}: (?:Error while finding|No module named|can't open)"
    r"|[\w@.\\-]{1,80}\.service: [A-Za-z]"  # of systemd
    r"|FATAL:[ ]{3}\S|WARNING: Could not find any \w{2,8} files on this host"  # of Apptainer
    r"|nvidia-container-cli: |(?:srun|sbatch|salloc): unrecognized option"
    r"|-?(?:ba)?sh: (?:line \d{1,5}: )?[\w./-]{1,200}: (?:command not found|[NP][\w ]{8,40})[ ]*$"
    r")"
)
_NEVER: Final = re.compile(r"[ \t\0]*(?:$|[\\#{}<>*&\"'$`]|--)")
"""How no line of a log begins: one look spares the others in a long text."""
_QUOTED: Final = re.compile(r"[ \t]{0,8}`(?=[^`\s][^`]{8,}`?[ \t.]*$)")
"""A line of a post that begins with a mark of code, and has no other one but at its end."""
_RECORD: Final = re.compile(
    rf"(?:{_PROCESS}[ ])?(?:DEBUG|INFO|WARNING|ERROR)[ ]+{_STAMP}|\[{_STAMP}[^\]\n]{{0,40}}\][ ]"
)
_GLUED: Final = re.compile(
    r"(?:ggml_(?:cuda|vulkan|metal|hip|sycl|backend)\w{0,40}|llama_model_load\w{0,10}|load_backend): (?=\w)"
    rf"|INFO (?:{_STAMP}|\[ {{0,30}}\w{{1,40}}\] )"
)
"""How a log begins that stands right behind a command."""
_TRACEBACK: Final = re.compile(r"[ \t\0]*(?:Exception in thread .{1,60}|Traceback \(most recent call last\)):?")
_FRAME: Final = re.compile(r"[ \t\0]*File \"[^\"\n]{1,300}\", line \d+, in ")
_ERROR: Final = re.compile(
    r"[ \t\0]*(?:[A-Za-z_]\w{0,40}\.){0,8}"
    r"(?:(?:nixl|nccl)?[A-Z]\w{0,60}(?:Error|Exception|Failure|Interrupt|Warning|Killed)|OutOfResources"
    r"|Exception(?=: ))\b(?::|[ ]*$)"
)
"""The last line of a traceback, which people often paste alone."""
_GOES_BELOW: Final = re.compile(
    r"[ \t\0]*(?:Last error:|thread '[^'\n]{1,60}' (?:\(\d{1,10}\) )?panicked at \S{1,200}:\d+:\d+:)[ ]*$"
)
"""Of NCCL, whose library's last warning is in the line below, and of Rust, which puts what happened there."""
_USAGE: Final = re.compile(r"[ \t\0]*[Uu]sage:[ ]\S+[^\n]*\[")
"""What a parser prints before it says what is wrong; its further lines are indented."""
_WARNS: Final = re.compile(r"[ \t\0]*/\S{1,300}\.py:\d+: \w*Warning: ")
"""A warning of Python: its further lines end with the code that warns."""
_WARNED: Final = re.compile(r"[ \t\0]+(?:\w+\.)?(?:warn|warnings\.warn|logger\.\w+)\(")
_OF_EVENTS: Final = re.compile(r"Events:[ \t]*|[ \t]+-{4}[ -]{4,200}")
"""What stands above the events that `kubectl describe` prints."""
_LONGEST_WARNING: Final = 8
_LONGEST_TRACEBACK: Final = 400
_LONGEST: Final = 2_000
"""Characters that a line is judged by."""


def behind_front(line: str) -> int:
    """Where the line's own text begins, behind what containers and processes put before it."""
    front = _FRONT.match(line[:_LONGEST])
    return front.end() if front else 0


def log_begins(line: str) -> int:
    """Where the first record of a log begins in a line that holds other things before it; 0 where none does."""
    match = _RECORD.search(line[:_LONGEST])
    return match.start() if match else 0


def glued_log(line: str, *, goes_on: bool) -> int:
    """Where a log begins behind a start in the same line, which a terminal showed without a break; 0 where none does.
    `goes_on`: the line belongs to the command that begins above it."""
    if "ggml_" not in line and "llama_model_load" not in line and "INFO" not in line:
        return 0
    match = _GLUED.search(line[:_LONGEST])
    if match is None or not match.start() or not (goes_on or SPEAKING.search(line[: match.start()])):
        return 0
    return match.start()


def logged_lines(lines: list[str]) -> set[int]:
    """Numbers from 0. Frames of a traceback are among them, with the code that they quote."""
    found: set[int] = set()
    fronts: set[str] = set()
    inside = 0
    for number, whole in enumerate(lines):
        if not inside and _NEVER.match(whole):
            if (mark := _QUOTED.match(whole[:_LONGEST])) and _LINE.match(whole[mark.end() : _LONGEST]):
                found.add(number)
            continue
        line = whole[:_LONGEST]
        if _WARNS.match(line):
            found |= {*range(number, _end_of_warning(lines, number))}
        at = behind_front(line)
        own = line[at:]
        named = line[:at].partition("|")[0].strip() if "|" in line[:at] else ""
        process = _OF_PROCESS.search(line[:at]) is not None
        if _TRACEBACK.match(own) or _FRAME.match(own) or _USAGE.match(own):
            inside = _LONGEST_TRACEBACK
            found.add(number)
        elif _GOES_BELOW.match(own):
            found |= {number, number + 1} if number + 1 < len(lines) else {number}
        elif _ERROR.match(own) or process or _LINE.match(own) or (named and named in fronts):
            found.add(number)
            inside = inside - 1 if inside and not _ERROR.match(own) else 0
        elif inside and own.strip() and own[:1] in " \t^~":
            found.add(number)
            inside -= 1
        else:
            inside = 0
            continue
        if named:
            fronts.add(named)
    return found


def end_without_log(lines: list[str]) -> int:
    """How many lines stand above the log, or what a cluster printed, that was pasted below something else."""
    logged = logged_lines(lines)
    if not logged:
        return len(lines)
    logged |= {number for number, line in enumerate(lines) if _OF_EVENTS.fullmatch(line)}
    own = [number for number, line in enumerate(lines) if line.strip() and number not in logged]
    return own[-1] + 1 if own and own[-1] < max(logged) else len(lines)


def _end_of_warning(lines: list[str], first: int) -> int:
    last = min(first + _LONGEST_WARNING, len(lines))
    return next((at + 1 for at in range(first + 1, last) if _WARNED.match(lines[at][:_LONGEST])), first + 1)


def without(lines: list[str], numbers: Collection[int], columns: Mapping[int, int]) -> str:
    """The text with those lines blank, from their column on where they have one, every other character at its place."""
    return "\n".join(
        line[: columns.get(number, 0)] + " " * (len(line) - columns.get(number, 0)) if number in numbers else line
        for number, line in enumerate(lines)
    )
