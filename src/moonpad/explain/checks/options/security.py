"""What a command line opens to others without need. All of these are warnings: every published guide has some."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from moonpad.engines.base import Reading
from moonpad.engines.command_line import CommandLine
from moonpad.explain.checks.containers.count_for_index import count_for_index, removed_and_restarted
from moonpad.explain.commands import Command, Wrapper, WrapperOption, stands_for_more
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import model_of
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_WIDE: Final = frozenset({"0.0.0.0", "::", "[::]", "*"})  # noqa: S104 - looked for, not bound
_FOLDER: Final = re.compile(r"\.{0,2}/|~|\$")
"""Or a variable, which may hold one."""
_insecure = partial(make_remark, Severity.WARNING, Code.INSECURE)
_OF_NPUS: Final = re.compile(r"/dev/(?:davinci_manager|devmm_svm|hisi_hdc)")
"""What all NPUs of a machine are managed by."""
_NO_DEVICE: Final = re.compile(rf"{_OF_NPUS.pattern}|/dev/(?:infiniband|fuse|shm|mem|kmem|net|snd|video)\b|^$")
_ASCEND_IMAGE: Final = re.compile(r"(?:^|/)ascend/|[-_](?:npu|cann)(?![a-z])", re.IGNORECASE)
_NAME_NPUS: Final = "name the NPUs, --device=/dev/davinci0 for each, and leave it out"
_CONTAINER: Final = "docker"
"""The program of a container that no engine is started in, as far as the text shows."""
_RDMA: Final = "/dev/infiniband"
_RDMA_VARIABLE: Final = re.compile(r"IB_HCA|_HCA_|IBGDA|IB_GID|RDMA")
_NAME_RDMA: Final = (
    f"leave it out where RDMA is not needed, or once its devices come by --device={_RDMA} or the cluster's resource: "
    "without one of these, files that are only mounted cannot be opened"
)
_NAME_DEVICES: Final = "name the devices: --gpus all, or --device=/dev/kfd --device=/dev/dri --group-add video"


def serving_remarks(command: Command, reading: Reading, engine: CommandLine) -> Iterator[Remark]:
    """The endpoint: who reaches it, with which key, and whose code runs in it."""
    serving, parsed = reading.serving, reading.parsed
    keyed = serving.keyed or engine.key_env in command.env
    if not keyed and not reading.node.headless and not is_fragment(command):  # a list of options may leave some out
        yield from _open_to_all(command, reading, engine)
    if serving.key_in_argv and (key := parsed.occurrence("--api-key") or parsed.occurrence("--api_key")) is not None:
        message = "every user of the machine can read the key in the list of processes"
        remedy = f"set {engine.key_env} instead" if engine.key_env else "put it into a --config file of mode 0600"
        yield _insecure(key.written, message, remedy, at=key.index)
    trust = next((option for option in parsed.occurrences if "trust" in (option.flag or "") and option.value), None)
    pinned = parsed.occurrence("--revision") or parsed.occurrence("--code-revision")
    if serving.trust_remote_code and trust is not None and pinned is None and not _is_folder(command, reading.model):
        message = "runs Python code of the model's repository at whatever revision is current"
        remedy = "pin it with --revision and a commit, or serve a local folder that you have read"
        yield _insecure(trust.written, message, remedy, at=trust.index)


def _is_folder(command: Command, model: str) -> bool:
    """Of which no revision comes by itself, also where the text says which repository lies in it."""
    return any(_FOLDER.match(each.strip("\"'")) is not None for each in (model, model_of(command) or ""))


def _open_to_all(command: Command, reading: Reading, engine: CommandLine) -> Iterator[Remark]:
    """A server without a key that other machines reach: by its own address, or by the container's port."""
    serving, container = reading.serving, command.container
    host = reading.parsed.occurrence("--host")
    if container is None or container.value("--network") == "host":
        if serving.host in _WIDE or (serving.host is None and host is None and engine.open_by_default):
            binds = serving.host or "every interface (no --host is given)"
            given = serving.port is None and reading.parsed.occurrence("--port") is not None
            port = "its port" if given else f"port {serving.port or engine.port}"
            message = f"binds {binds} without a key: anyone who can reach {port} may use it"
            remedy = "add --host 127.0.0.1, or set a key"
            # Not part of the correction: whether others are to reach it is for its user to say.
            yield _insecure("--host", message, remedy, at=host.index if host else None)
        return
    if any(map(stands_for_more, command.argv)):
        return  # a key may be among what is not known
    for option in container.options:
        if option.name == "--publish" and option.value and _published_to_all(option.value):
            message = "publishes the port on every interface of the machine, and there is no key"
            remedy = f"publish it as 127.0.0.1:{option.value.rpartition('0.0.0.0:')[2]}, or set a key"
            yield _insecure(f"-p {option.value}", message, remedy, word=option.words[-1])


def _published_to_all(value: str) -> bool:
    """`8000:8000` and `0.0.0.0:8000:8000`, not `127.0.0.1:8000:8000`."""
    address = value.rpartition(":")[0].rpartition(":")[0]
    return not address or address in _WIDE


def wrapper_remarks(command: Command) -> Iterator[Remark]:
    """The container or launcher around it."""
    for wrapper in command.wrappers:
        for option in wrapper.options:
            finding = _open_option(wrapper, option, command)
            # Root is the user of nearly every image, whose mpirun starts nothing without that option.
            if finding is not None and not (wrapper.kind == "mpirun" and command.container is not None):
                yield _insecure(*finding, word=option.words[-1])
        yield from count_for_index(wrapper)
        yield from removed_and_restarted(wrapper)
        careless = next((word for word in wrapper.words if "StrictHostKeyChecking=no" in word.text), None)
        if wrapper.kind == "ssh" and careless is not None:
            message, remedy = (
                "ssh accepts any machine that answers at that address",
                "add the host's key to known_hosts",
            )
            yield _insecure("StrictHostKeyChecking=no", message, remedy, word=careless)


def _ends_by_itself(wrapper: Wrapper, command: Command) -> bool:
    """Whether the container starts no engine, is not entered and has no devices: `multiarch/qemu-user-static --reset`
    registers programs in the host's kernel, which it may do as it is privileged."""
    if command.program != _CONTAINER or wrapper.devices is not None or wrapper.value("--gpus"):
        return False
    stays = wrapper.has("--detach") or wrapper.has("--interactive") or wrapper.has("--tty")
    return not stays and not wrapper.values("--device") and wrapper.has("--rm")


def _open_option(wrapper: Wrapper, option: WrapperOption, command: Command) -> tuple[str, str, str] | None:
    """Where, what and the remedy, for an option that opens the host."""
    name, value = option.name, option.value or ""
    match wrapper.kind, name:
        case "mpirun", "--allow-run-as-root":
            return name, "every rank runs as root", "run as a user who may use the devices"
        case "docker run", "--privileged" if wrapper.has(name) and not _ends_by_itself(wrapper, command):
            files = [value for option in wrapper.values("--device") for value in [option.partition(":")[0]]]
            named = wrapper.devices is not None or wrapper.value("--gpus") or not all(map(_NO_DEVICE.search, files))
            of_ascend = any(map(_OF_NPUS.match, files)) or _ASCEND_IMAGE.search(
                wrapper.image.text if wrapper.image else ""
            )
            remedy = _NAME_NPUS if of_ascend else _NAME_DEVICES
            remedy = "leave it out: the devices are named" if named else remedy
            remedy = _NAME_RDMA if named and _needs_rdma(wrapper, command) else remedy
            return name, "the container may do everything that root may do on the host", remedy
        case "docker run", "--cap-add" if value.upper().removeprefix("CAP_") in ("SYS_ADMIN", "ALL"):
            return f"{name}={value}", "the container may mount and change the host's kernel", "leave it out"
        case "docker run", "--security-opt" if value.replace(" ", "").replace(":", "=") == "seccomp=unconfined":
            message = "seccomp=unconfined lets the container make every system call"
            return name, message, "leave it out; ROCm's debuggers need it, serving does not"
        case "docker run", "--device" if value.partition(":")[0] in ("/dev/mem", "/dev/kmem"):
            return f"{name}={value}", "gives the container the host's whole memory", "leave it out"
        case "docker run", "--volume" | "--mount" if _source(name, value) == "/":
            read_only = value.endswith(":ro") or ",readonly" in value
            message = f"gives the container the host's whole disk{'' if read_only else ', to write too'}"
            return f"{'-v' if name == '--volume' else name} {value}", message, "mount the model's folder"
    return None


def _needs_rdma(wrapper: Wrapper, command: Command) -> bool:
    """Whether it has the files of RDMA devices by its right to everything alone: they are mounted, memory may be pinned
    without bounds on the host's network, or an option or a variable names such a device."""
    if any(value.startswith(_RDMA) for value in wrapper.values("--device")):
        return False
    mounted = (_source(name, value) for name in ("--volume", "--mount") for value in wrapper.values(name))
    pinned = any(value.startswith("memlock") for value in wrapper.values("--ulimit"))
    named = any(_RDMA_VARIABLE.search(name) for name in command.env) or any(
        word.text.endswith("-ib-device") for word in command.argv
    )
    return named or any(path.startswith(_RDMA) for path in mounted) or (pinned and wrapper.value("--network") == "host")


def _source(name: str, value: str) -> str:
    """What of the host is mounted."""
    if name == "--volume":
        return value.partition(":")[0]
    pairs = dict(part.partition("=")[::2] for part in value.split(","))
    return pairs.get("source") or pairs.get("src") or ""
