"""What a command line opens to others without need. All of these are warnings: every published guide has some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.base import Reading
from moonpad.engines.command_line import CommandLine
from moonpad.explain.argv_edits import occurrence
from moonpad.explain.commands import Command, Word, Wrapper, WrapperOption
from moonpad.explain.results import Edit, Remark
from moonpad.values.finding import Code, Finding, Severity

_WIDE: Final = frozenset({"0.0.0.0", "::", "[::]", "*"})  # noqa: S104 - looked for, not bound


def serving_remarks(number: int, command: Command, reading: Reading, engine: CommandLine) -> Iterator[Remark]:
    """The endpoint: who reaches it, with which key, and whose code runs in it."""
    serving, parsed = reading.serving, reading.parsed
    if parsed is None:
        return
    keyed = serving.keyed or engine.key_env in command.env
    if not keyed and not reading.node.headless:
        yield from _open_to_all(number, command, reading, engine)
    if serving.key_in_argv and (key := occurrence(parsed, "--api-key") or occurrence(parsed, "--api_key")) is not None:
        yield _insecure(
            key.written,
            "every user of the machine can read the key in the list of processes",
            f"set {engine.key_env} instead" if engine.key_env else "put it into a --config file of mode 0600",
            number,
            key.index,
        )
    trust = next((option for option in parsed.occurrences if "trust" in (option.flag or "") and option.value), None)
    pinned = occurrence(parsed, "--revision") or occurrence(parsed, "--code-revision")
    if serving.trust_remote_code and trust is not None and pinned is None:
        yield _insecure(
            trust.written,
            "runs Python code of the model's repository at whatever revision is current",
            "pin it with --revision and a commit, or serve a local folder that you have read",
            number,
            trust.index,
        )


def _open_to_all(number: int, command: Command, reading: Reading, engine: CommandLine) -> Iterator[Remark]:
    """A server without a key that other machines reach: by its own address, or by the container's port."""
    serving, parsed = reading.serving, reading.parsed
    host = occurrence(parsed, "--host") if parsed is not None else None
    wide = serving.host in _WIDE or (serving.host is None and host is None and engine.open_by_default)
    container = command.container
    if container is None or container.network == "host":
        if wide:
            binds = f"binds {serving.host}" if serving.host else "binds every interface, since no --host is given"
            yield _insecure(
                "--host",
                f"{binds}, and there is no key: everyone who reaches port {serving.port or engine.port} may use it",
                "add --host 127.0.0.1, or set a key",
                number,
                host.index if host else None,
                Edit(len(command.argv), 0, ("--host", "127.0.0.1")) if host is None else None,
            )
        return
    for option in container.options:
        if option.name == "--publish" and option.value and _published_to_all(option.value):
            yield _insecure(
                f"-p {option.value}",
                "publishes the port on every interface of the machine, and there is no key",
                f"publish it as 127.0.0.1:{option.value.rpartition('0.0.0.0:')[2]}, or set a key",
                number,
                None,
                word=_last(option),
            )


def _published_to_all(value: str) -> bool:
    """`8000:8000` and `0.0.0.0:8000:8000`, not `127.0.0.1:8000:8000`."""
    address = value.rpartition(":")[0].rpartition(":")[0]
    return not address or address in _WIDE


def wrapper_remarks(number: int, command: Command) -> Iterator[Remark]:
    """The container or launcher around it."""
    for wrapper in command.wrappers:
        if wrapper.kind == "docker run":
            for option in wrapper.options:
                if (finding := _container_option(wrapper, option)) is not None:
                    yield _insecure(*finding, number, None, word=_last(option))
        elif wrapper.kind == "mpirun":
            for option in wrapper.options:
                if option.name == "--allow-run-as-root":
                    remedy = "run as a user who may use the devices"
                    yield _insecure(option.name, "every rank runs as root", remedy, number, None, word=_last(option))
        elif wrapper.kind == "ssh":
            careless = next((word for word in wrapper.words if "StrictHostKeyChecking=no" in word.text), None)
            if careless is not None:
                yield _insecure(
                    "StrictHostKeyChecking=no",
                    "any machine that answers at that address is believed",
                    "add the host's key to known_hosts",
                    number,
                    None,
                    word=careless,
                )


def _container_option(wrapper: Wrapper, option: WrapperOption) -> tuple[str, str, str] | None:
    """Where, what and the remedy, for an option that opens the host to the container."""
    value = option.value or ""
    match option.name:
        case "--privileged" if wrapper.privileged:
            return (
                "--privileged",
                "the container may do everything that root may do on the host",
                "name the devices: --gpus all, or --device=/dev/kfd --device=/dev/dri --group-add video",
            )
        case "--cap-add" if value.upper().removeprefix("CAP_") in ("SYS_ADMIN", "ALL"):
            return f"--cap-add={value}", "the container may mount and change the host's kernel", "leave it out"
        case "--security-opt" if value.replace(" ", "").replace(":", "=") == "seccomp=unconfined":
            return (
                "--security-opt",
                "seccomp=unconfined lets the container call everything in the kernel",
                "leave it out; ROCm's debuggers need it, serving does not",
            )
        case "--device" if value.partition(":")[0] in ("/dev/mem", "/dev/kmem"):
            return f"--device={value}", "gives the container the host's whole memory", "leave it out"
        case "--volume" | "--mount" if _source(option.name, value) == "/":
            read_only = value.endswith(":ro") or ",readonly" in value
            return (
                f"{'-v' if option.name == '--volume' else '--mount'} {value}",
                f"gives the container the host's whole disk{'' if read_only else ', to write too'}",
                "mount the model's folder",
            )
    return None


def _source(name: str, value: str) -> str:
    """What of the host is mounted."""
    if name == "--volume":
        return value.partition(":")[0]
    pairs = dict(part.partition("=")[::2] for part in value.split(","))
    return pairs.get("source") or pairs.get("src") or ""


def _last(option: WrapperOption) -> Word | None:
    """The word with the value, else the option itself."""
    return option.words[-1] if option.words else None


def _insecure(
    where: str,
    message: str,
    remedy: str,
    number: int,
    at: int | None,
    edit: Edit | None = None,
    *,
    word: Word | None = None,
) -> Remark:
    finding = Finding(Severity.WARNING, Code.INSECURE, where, message, remedy)
    return Remark(finding, number, at, (edit,) if edit else (), word=word)
