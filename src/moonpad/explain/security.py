"""What a command line opens that nobody asked for. All of these are warnings: every published guide has some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.base import Reading
from moonpad.explain.commands import Command, Wrapper
from moonpad.explain.judged import Edit, Remark
from moonpad.explain.spelling import occurrence
from moonpad.values.finding import Code, Finding, Severity

# What the engines bind when nothing is said: vLLM every interface (vllm/entrypoints/openai/cli_args.py, host = None),
# SGLang and trtllm-serve the loopback (sglang server_args.py, tensorrt_llm/commands/serve.py).
_WIDE_BY_DEFAULT: Final = frozenset({"vllm", "vllm-ascend", "vllm-cpu"})
_WIDE: Final = frozenset({"0.0.0.0", "::", "[::]", "*"})  # noqa: S104 - looked for, not bound

_KEY_ENV: Final = {"vllm": "VLLM_API_KEY", "vllm-ascend": "VLLM_API_KEY", "vllm-cpu": "VLLM_API_KEY"}


def serving_remarks(number: int, command: Command, reading: Reading, engine: str) -> Iterator[Remark]:
    """The endpoint: who reaches it, with which key, and whose code runs in it."""
    serving = reading.serving
    if reading.parsed is None:
        return
    host = occurrence(reading.parsed, "--host")
    wide = serving.host in _WIDE or (serving.host is None and host is None and engine in _WIDE_BY_DEFAULT)
    inside = command.container is not None and command.container.network not in ("host",)
    if wide and not serving.keyed and not reading.node.headless and not inside and "VLLM_API_KEY" not in command.env:
        said = f"binds {serving.host}" if serving.host else "binds every interface, since no --host is given"
        yield _insecure(
            "--host",
            f"{said}, and there is no key: everyone who reaches port {serving.port or 8000} may use it",
            "add --host 127.0.0.1, or set a key",
            number,
            host.index if host else None,
            Edit(len(command.argv), 0, ("--host", "127.0.0.1")) if host is None else None,
        )
    if serving.key_in_argv and (key := occurrence(reading.parsed, "--api-key")) is not None:
        instead = _KEY_ENV.get(engine)
        yield _insecure(
            "--api-key",
            "the key stands in the command line, which every user of the machine sees in the list of processes",
            f"set {instead} in the environment instead" if instead else "put it into a --config file of mode 0600",
            number,
            key.index,
        )
    trust = next((one for one in reading.parsed.occurrences if one.flag and "trust" in one.flag and one.value), None)
    pinned = occurrence(reading.parsed, "--revision") or occurrence(reading.parsed, "--code-revision")
    if serving.trust_remote_code and trust is not None and pinned is None:
        yield _insecure(
            trust.written,
            "runs Python code of the model's repository at whatever revision is current",
            "pin it with --revision and a commit, or serve a local folder that you have read",
            number,
            trust.index,
        )


def wrapper_remarks(number: int | None, command: Command) -> Iterator[Remark]:
    """The container or launcher around it."""
    for wrapper in command.wrappers:
        if wrapper.kind == "docker run":
            for where, message, remedy in _container(wrapper):
                yield _insecure(where, message, remedy, number, None)
        elif wrapper.kind == "mpirun" and wrapper.has("--allow-run-as-root"):
            yield _insecure(
                "--allow-run-as-root", "every rank runs as root", "run as a user who may use the devices", number, None
            )
        elif wrapper.kind == "ssh" and any("StrictHostKeyChecking=no" in word.text for word in wrapper.words):
            yield _insecure(
                "StrictHostKeyChecking=no",
                "any machine that answers at that address is believed",
                "add the host's key to known_hosts",
                number,
                None,
            )


def _container(wrapper: Wrapper) -> Iterator[tuple[str, str, str]]:
    if wrapper.privileged:
        yield (
            "--privileged",
            "the container may do everything that root may do on the host",
            "name the devices: --gpus all, or --device=/dev/kfd --device=/dev/dri --group-add video",
        )
    for capability in wrapper.values("--cap-add"):
        if capability.upper().removeprefix("CAP_") in ("SYS_ADMIN", "ALL"):
            yield (f"--cap-add={capability}", "the container may mount and change the host's kernel", "leave it out")
    if any(value.replace(" ", "") == "seccomp=unconfined" for value in wrapper.values("--security-opt")):
        yield (
            "--security-opt",
            "seccomp=unconfined lets the container call everything in the kernel",
            "leave it out; ROCm's debuggers need it, serving does not",
        )
    for device in wrapper.devices:
        if device.partition(":")[0] in ("/dev/mem", "/dev/kmem"):
            yield (f"--device={device}", "gives the container the host's whole memory", "leave it out")
    for volume in (*wrapper.values("--volume"), *wrapper.values("--mount")):
        if volume.partition(":")[0] == "/":
            yield (
                f"-v {volume}",
                "gives the container the host's whole disk, to write too",
                "mount the model's folder",
            )


def _insecure(
    where: str, message: str, remedy: str, number: int | None, at: int | None, edit: Edit | None = None
) -> Remark:
    return Remark(Finding(Severity.WARNING, Code.INSECURE, where, message, remedy), number, at, (edit,) if edit else ())
