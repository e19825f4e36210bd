"""The far end of a run on another host: starts that host's keeper, shows its log, stops it.

Standard library only and one file, sent over ssh with `keeper.py` and run by any Python ≥ 3.9. Everything that it has
to know lies in one folder there, so each command can be repeated: whoever was cut off asks again, and nothing is
started twice (the keeper's lock says so).

    far_end.py place           a job as JSON on standard input → a folder with the files to run it; prints its path
    far_end.py facts           what there is here of what a JSON on standard input asks for; see `facts`
    far_end.py attach FOLDER   starts the keeper where it has not run yet; prints the engine's log until it has ended.
                               As long as something comes on standard input, the keeper's lease is renewed
    far_end.py window FOLDER   the same, but starts nothing, and shows what is new only
    far_end.py ask FOLDER      prints the keeper's state while it runs, nothing once it has ended
    far_end.py stop FOLDER S   stops whatever runs, within S seconds; attach starts it again
    far_end.py remove FOLDER S the same, and the folder goes
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

LOOK_S = 0.1
SMALL_BYTES = 32 << 20
CONNECT_LIMIT_S = 5.0
SIOCGIFADDR = 0x8915
START_LIMIT_S = 20.0
STILL_THERE = 3
"""Exit status of `stop` where something is left: it is asked again."""


def main(words: list[str]) -> int:
    command, *rest = words
    if command == "facts":
        print(json.dumps(facts(json.load(sys.stdin))))
        return 0
    if command == "place":
        print(json.dumps({"folder": place(json.load(sys.stdin))}))
        return 0
    folder = Path(rest[0])
    if command == "ask":
        return ask(folder)
    if command == "stop":
        return stop(folder, float(rest[1]))
    if command == "remove":
        return stop(folder, float(rest[1])) or remove(folder)
    if command in ("attach", "window"):
        return attach(folder, again=command == "window")
    print(f"{command} is none of facts, place, attach, window, ask, stop, remove", file=sys.stderr)
    return 2


# --- what there is ---------------------------------------------------------------------------------------------------


def facts(asked: dict[str, Any]) -> dict[str, Any]:
    """Of `{"engine": folder, "checkpoint": folder, "address": own, "meet": [address, port], "packages": [names]}`: what
    has to be equal on all hosts of one run, and whether this one reaches the first. Nothing is started, and nothing
    found is None. And its room: available memory, free bytes where logs go, devices of the drivers that are loaded."""
    return {
        "host": socket.gethostname(),
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "clock_s": time.time(),
        "engine": versions_of(Path(asked["engine"]), asked["packages"]),
        "driver": driver(),
        "checkpoint": digest_of(Path(asked["checkpoint"])),
        "has_address": has_address(asked["address"]),
        "interface": interface_of(asked["address"]),
        "trouble": trouble_reaching(*asked["meet"]) if asked.get("meet") else "",
        "memory_bytes": available_memory(),
        "disk_bytes": free_disk(state_home()),
        "devices": device_count(),
    }


def versions_of(engine: Path, names: list[str]) -> dict[str, str] | None:
    """Of the packages that make the engine, by the folders that pip has written: importing them takes half a minute."""
    if not (engine / "bin").is_dir():
        return None
    found = {}
    for info in sorted(engine.glob("lib/python*/site-packages/*.dist-info")):
        name, _, version = info.name[: -len(".dist-info")].partition("-")
        if name.lower().replace("_", "-") in names:
            found[name.lower().replace("_", "-")] = version
    return found


def driver() -> str | None:
    """Of NVIDIA or AMD, as the kernel's module says it."""
    for path in ("/sys/module/nvidia/version", "/sys/module/amdgpu/version"):
        with contextlib.suppress(OSError):
            return f"{path.split('/')[3]} {Path(path).read_text().strip()}"
    return None


def available_memory() -> int | None:
    """proc_meminfo(5), MemAvailable."""
    with contextlib.suppress(OSError, ValueError), Path("/proc/meminfo").open() as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def free_disk(folder: Path) -> int | None:
    """For an ordinary user, where the folder is or will be made."""
    for path in (folder, *folder.parents):
        with contextlib.suppress(OSError):
            seen = os.statvfs(path)
            return seen.f_bavail * seen.f_frsize
    return None


def device_count(root: Path = Path("/")) -> int:
    """What the drivers show of themselves: NVIDIA a folder each, AMD a node of the KFD that has a GPU, Ascend a file
    each (`davinci0`, `davinci1`, …)."""
    nvidia = sum(1 for _ in root.glob("proc/driver/nvidia/gpus/*"))
    ascend = sum(path.name[len("davinci") :].isdigit() for path in root.glob("dev/davinci*"))
    amd = 0
    for path in root.glob("sys/class/kfd/kfd/topology/nodes/*/gpu_id"):
        with contextlib.suppress(OSError):
            amd += path.read_text().strip() not in ("", "0")
    return max(nvidia, amd, ascend)


def digest_of(checkpoint: Path) -> str | None:
    """Of everything small in it, and of the names and sizes of the weights: reading a terabyte takes too long."""
    if not checkpoint.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted(checkpoint.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            size = path.stat().st_size
            digest.update(f"{path.relative_to(checkpoint)} {size}\n".encode("utf-8", "surrogateescape"))
            if size <= SMALL_BYTES:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def has_address(address: str) -> bool:
    """Whether it is one of this host's own."""
    for family, kind, _, _, place in addresses_of(address):
        with contextlib.suppress(OSError), socket.socket(family, kind) as own:
            own.bind(place)
            return True
    return False


def interface_of(address: str) -> str | None:
    """The network interface that has it (netdevice(7), SIOCGIFADDR; /proc/net/if_inet6)."""
    wanted = {place[0] for *_, place in addresses_of(address)}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):
                request = struct.pack("256s", name.encode())
                if socket.inet_ntoa(fcntl.ioctl(any_socket, SIOCGIFADDR, request)[20:24]) in wanted:
                    return name
    with contextlib.suppress(OSError), Path("/proc/net/if_inet6").open() as file:
        for line in file:
            digits, *_, name = line.split()
            if socket.inet_ntop(socket.AF_INET6, bytes.fromhex(digits)) in wanted:
                return name
    return None


def addresses_of(name: str) -> list[tuple[Any, ...]]:
    with contextlib.suppress(OSError):
        return list(socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM))
    return []


def trouble_reaching(address: str, port: int) -> str:
    """ "" where a connection can be made."""
    try:
        with socket.create_connection((address, port), timeout=CONNECT_LIMIT_S):
            return ""
    except OSError as error:
        return str(error)


# --- the folder ------------------------------------------------------------------------------------------------------


def place(job: dict[str, Any]) -> str:
    """Writes the files of one process of one run. The job holds secrets, so nobody else may read it."""
    folder = state_home() / "far" / job["id"]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in job.pop("programs").items():
        write(folder / name, text, 0o700)
    for path, text, mode in job.pop("files"):
        (folder / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write(folder / path, text, mode)
    job |= {"run_dir": str(folder), "lock": str(folder / "run.lock")}
    for process in job["processes"]:
        process["log"] = str(folder / "engine.log")
    write(folder / "job.json", json.dumps(job), 0o600)
    return str(folder)


def state_home() -> Path:
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "moonpad"


def write(path: Path, text: str, mode: int) -> None:
    draft = path.with_name(f"{path.name}.part")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "w") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)
    draft.replace(path)


def read(folder: Path, name: str) -> dict[str, Any]:
    try:
        document = json.loads((folder / name).read_text())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


@functools.cache
def keeper_of(folder: Path) -> ModuleType:
    """The keeper beside this file, for what it knows of processes."""
    spec = importlib.util.spec_from_file_location("keeper", folder / "keeper.py")
    assert spec is not None  # noqa: S101
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_kept(folder: Path) -> bool:
    """Whether the folder's keeper lives: it has written itself down before it says that it works."""
    document = read(folder, "keeper.json")
    if not document:
        return False
    keeper, written = keeper_of(folder), document["keeper"]
    return bool(document["boot_id"] == keeper.boot_id() and keeper.is_alive(written["pid"], written["start"]))


# --- start and watch -------------------------------------------------------------------------------------------------


def attach(folder: Path, *, again: bool) -> int:
    """Prints the log as it grows, until the keeper ends or the other end has gone. 0 where a stop was asked for."""
    log = folder / "engine.log"
    place_in_log = size_of(log) if again else 0
    if not again and not is_kept(folder):
        log.unlink(missing_ok=True)
        if trouble := start(folder):
            print(trouble, file=sys.stderr)
            return 1
    other_end = select.poll()
    other_end.register(1, select.POLLERR | select.POLLHUP)
    other_end.register(0, select.POLLIN | select.POLLHUP)
    while True:
        kept = is_kept(folder)  # asked before the log is read, so that its end is seen
        place_in_log = show(log, place_in_log)
        if not kept:
            break
        heard = other_end.poll(LOOK_S * 1000)
        if any(stream == 1 for stream, _ in heard) or (heard and not os.read(0, 4096)):
            return 1  # the connection is gone, and the engine lives on
        if heard:
            with contextlib.suppress(OSError, ValueError):
                tell(folder, {"do": "attend"})
    state = read(folder, "keeper.json")
    if not folder.is_dir():
        return 0  # it was stopped, and its folder went
    print(f"moonpad: on {socket.gethostname()}: {state.get('because', 'its keeper was killed')}", flush=True)
    return 0 if state.get("state") == "stopped" else 1


def start(folder: Path) -> str:
    """ "" where the keeper runs, else why not."""
    job = read(folder, "job.json")
    if not job:
        return f"{folder} holds no job"
    for process in job["processes"]:
        process["env"] = {**os.environ, **process["env"]}
    command = (sys.executable, "-I", "-S", str(folder / "keeper.py"), str(folder))
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    answer, _ = child.communicate(json.dumps(job).encode(), START_LIMIT_S)
    said = json.loads(answer or b"{}")
    if said.get("ok") or said.get("why") == "locked":  # another attach was faster: one engine all the same
        return ""
    return f"the keeper cannot work: {said.get('error') or said.get('why') or 'no word from it'}"


def show(log: Path, begin: int) -> int:
    """Prints what stands behind `begin`; where the log ends now. A log that was cut is shown from its new begin."""
    try:
        with log.open("rb") as file:
            file.seek(begin if begin <= os.fstat(file.fileno()).st_size else 0)
            while piece := file.read(1 << 16):
                os.write(1, piece)
            return file.tell()
    except FileNotFoundError:
        return begin


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def ask(folder: Path) -> int:
    if is_kept(folder):
        print(read(folder, "keeper.json").get("state", "starting"))
    return 0


# --- the end ---------------------------------------------------------------------------------------------------------


def stop(folder: Path, limit_s: float) -> int:
    """Asks the keeper; where it was killed, finishes its work from what it wrote down."""
    until = time.monotonic() + limit_s
    while is_kept(folder):
        with contextlib.suppress(OSError, ValueError):
            tell(folder, {"do": "stop"})
        time.sleep(LOOK_S)
        if time.monotonic() > until:
            return STILL_THERE
    left = orphans(folder)
    keeper = keeper_of(folder)
    for pid, begun in left:
        keeper.send(pid, begun, 9)
    while any(keeper.is_alive(*one) for one in left):
        time.sleep(LOOK_S)
        if time.monotonic() > until:
            return STILL_THERE
    keeper.remove_leftovers(read(folder, "keeper.json"), keeper.kept_in_reserve(str(folder / keeper.RESERVE)))
    return 0


def remove(folder: Path) -> int:
    gone = folder.with_name(f".{folder.name}.gone")
    folder.rename(gone)  # at once, for whoever reads it just now
    shutil.rmtree(gone)
    return 0


def orphans(folder: Path) -> list[tuple[int, int]]:
    """What a killed keeper has owned and still runs."""
    document = read(folder, "keeper.json")
    keeper = keeper_of(folder)
    if document.get("boot_id") != keeper.boot_id():
        return []
    owned = {(one["pid"], one["start"]) for one in document.get("owned", ())}
    below = keeper.descendants({pid for pid, begun in owned if keeper.is_alive(pid, begun)})
    return [one for one in {*owned, *below.items()} if keeper.is_alive(*one)]


def tell(folder: Path, request: dict[str, Any]) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(5.0)
            connection.connect(f"/proc/self/fd/{handle}/control.sock")
            connection.sendall(json.dumps(request).encode() + b"\n")
            connection.recv(4096)
    finally:
        os.close(handle)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
