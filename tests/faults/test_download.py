"""`moonpad checkpoint get` from a hub with faults: 20, 21, 23. Everything runs as the command."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from moonpad.checkpoints.hub import CHUNK_BYTES, Hub, require_id, require_revision
from moonpad.values.errors import CheckpointError, UsageError
from tests.conftest import Moonpad
from tests.faults.helpers import wait_until
from tests.faults.mounts import own_mounts
from tests.hub_server import COMMIT, HubServer, hub_server
from tests.unit.checkpoints.conftest import Writer

MODEL = "moonshotai/Kimi-K2-Tiny"
SHARD = "model-00002-of-00003.safetensors"
SOCKET_BYTES = 8 << 20
"""What the kernel may hold of a connection on the loopback, sent and not yet read."""
TOKEN = "hf_" + "Zq7" * 12


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A whole checkpoint of three small shards."""
    folder = tmp_path_factory.mktemp("model")
    Writer().checkpoint(folder, shards=3, tensors=400)
    return files_of(folder)


@pytest.fixture
def hub(files: dict[str, bytes]) -> Iterator[HubServer]:
    with hub_server(files) as server:
        yield server


class Getting:
    """The command, pointed at a hub."""

    def __init__(self, moonpad: Moonpad, hub: HubServer) -> None:
        self.moonpad, self.hub = moonpad, hub
        self.out = moonpad.home / "model"
        self.env = {"HF_ENDPOINT": hub.url, "NO_PROXY": "*", "HF_HUB_DISABLE_TELEMETRY": "1"}

    def __call__(self, *words: str, cache: bool = False, **env: str) -> Any:
        place = () if cache else ("--out", str(self.out))
        return self.moonpad("checkpoint", "get", MODEL, *place, *words, **{**self.env, **env})

    def require_whole(self) -> None:
        assert files_of(self.out) == self.hub.files
        assert not list(self.out.rglob("*.incomplete"))


@pytest.fixture
def get(moonpad: Moonpad, hub: HubServer) -> Getting:
    return Getting(moonpad, hub)


def test_into_a_folder(get: Getting) -> None:
    done = get("--json")
    assert done.code == 0, done.stderr
    assert (done.json["revision"], done.json["downloaded_files"]) == (COMMIT, 6)
    get.require_whole()
    assert get.hub.sent.total() == get.hub.size_bytes
    again = get("--json")
    assert (again.code, again.json["downloaded_files"]) == (0, 0)
    assert get.hub.sent.total() == get.hub.size_bytes
    verified = get.moonpad("checkpoint", "verify", str(get.out), "--deep", "--json").json
    assert (verified["whole"], verified["revision"], len(verified["digests"]["files"])) == (True, COMMIT, 6)
    assert verified["digests"]["read_bytes"] == 0


def test_huggingface_hub_finds_what_was_downloaded(get: Getting) -> None:
    """Into a folder and into the shared cache: it downloads no file again."""
    assert get().code == 0
    assert get(cache=True).code == 0
    sent = get.hub.sent.total()
    assert sent == 2 * get.hub.size_bytes
    script = (
        "import sys, huggingface_hub as h\n"
        f"meta = h.hf_hub_download({MODEL!r}, {SHARD!r}, local_dir=sys.argv[1], revision={COMMIT!r})\n"
        f"print(h.hf_hub_download({MODEL!r}, {SHARD!r}, local_files_only=True))\n"
    )
    environment = {**get.moonpad.env, **get.env}
    command = (sys.executable, "-c", script, str(get.out))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).read_bytes() == get.hub.files[SHARD]
    assert get.hub.sent.total() == sent


@pytest.mark.slow
def test_files_of_equal_content(get: Getting) -> None:
    """A cache holds them once: one is downloaded, and both have their names."""
    get.hub.files |= dict.fromkeys(("a.bin", "b.bin", "below/c.bin"), b"the same" * 100000)
    assert get(cache=True).code == 0
    (snapshot,) = get.moonpad.home.rglob("snapshots/*")
    for name in ("a.bin", "b.bin", "below/c.bin"):
        assert (snapshot / name).read_bytes() == get.hub.files[name]
    assert sum(get.hub.sent[name] for name in ("a.bin", "b.bin", "below/c.bin")) == 800_000
    assert get().code == 0
    assert (get.out / "below/c.bin").read_bytes() == get.hub.files["below/c.bin"]


def test_what_is_here_serves_without_a_network(get: Getting) -> None:
    assert get(cache=True).code == 0
    requests = len(get.hub.requests)
    offline = get("--json", cache=True, HF_HUB_OFFLINE="1")
    assert (offline.code, offline.json["offline"], offline.json["files"]) == (0, True, 6), offline.stderr
    assert len(get.hub.requests) == requests
    unreachable = get("--json", cache=True, HF_ENDPOINT="http://127.0.0.1:9")
    assert (unreachable.code, unreachable.json["offline"]) == (0, True), unreachable.stderr
    other = get("--revision", "f" * 40, HF_HUB_OFFLINE="1")
    assert (other.code, "is not here" in other.stderr) == (3, True)
    none = get("--json", HF_HUB_OFFLINE="1", HF_HUB_CACHE=str(get.moonpad.home / "empty"))
    assert none.code == 3
    assert "is not here" in none.stderr


@pytest.mark.slow
def test_another_revision_does_not_serve(get: Getting) -> None:
    assert get().code == 0
    assert get(HF_HUB_OFFLINE="1").code == 0
    other = get("--revision", "f" * 40, HF_HUB_OFFLINE="1")
    assert (other.code, f"holds commit {COMMIT}" in other.stderr) == (3, True)


@pytest.mark.slow
def test_a_damaged_cache_is_not_taken(get: Getting) -> None:
    assert get(cache=True).code == 0
    (shard,) = get.moonpad.home.rglob(f"snapshots/*/{SHARD}")
    blob = shard.resolve()
    blob.write_bytes(blob.read_bytes()[:-1] + b"\0")
    offline = get(cache=True, HF_HUB_OFFLINE="1")
    assert offline.code == 3
    assert SHARD in offline.stderr
    mended = get("--json", cache=True)
    assert (mended.code, mended.json["downloaded_files"]) == (0, 1)
    assert blob.read_bytes() == get.hub.files[SHARD]


def test_cuts(get: Getting) -> None:
    """Each is continued where it was; http_get loses what it holds in memory, here all of a small file."""
    get.hub.files["large.bin"] = random.Random(1).randbytes(3 * CHUNK_BYTES)
    get.hub.cut_after = CHUNK_BYTES + (1 << 20)
    done = get()
    assert done.code == 0, done.stderr
    get.require_whole()
    assert get.hub.sent["large.bin"] <= len(get.hub.files["large.bin"]) + 3 * (1 << 20)
    assert [begin for path, begin, _ in get.hub.requests if path.endswith("large.bin")] == [
        "",
        f"bytes={CHUNK_BYTES}-",
        f"bytes={2 * CHUNK_BYTES}-",
    ]


@pytest.mark.parametrize("status", [429, *(pytest.param(code, marks=pytest.mark.slow) for code in (503, 408))])
def test_a_busy_hub(get: Getting, status: int) -> None:
    get.hub.statuses = [status, status]
    done = get()
    assert done.code == 0, done.stderr
    get.require_whole()


@pytest.mark.slow
def test_a_hub_that_ignores_ranges(get: Getting) -> None:
    begun(get, SHARD, 5000)
    get.hub.ignores_ranges = True
    assert get().code == 0
    get.require_whole()


def begun(get: Getting, name: str, count: int) -> Path:
    """What a killed download has left of a file."""
    part = get.out / ".cache/huggingface/download" / f"{name}.{get.hub.digest(name)}.incomplete"
    part.parent.mkdir(parents=True)
    part.write_bytes(get.hub.files[name][:count])
    return part


@pytest.mark.slow
def test_what_was_begun_goes_on(get: Getting) -> None:
    begun(get, SHARD, 5000)
    assert get().code == 0
    get.require_whole()
    assert get.hub.sent[SHARD] == len(get.hub.files[SHARD]) - 5000


@pytest.mark.parametrize("left", [b"x" * 5000, b"x" * 10_000_000])
def test_a_beginning_that_is_not_right(get: Getting, left: bytes) -> None:
    """Wrong bytes, or more of them than the file has: the digest finds it, and the file is fetched from its start."""
    begun(get, SHARD, 10).write_bytes(left)
    assert get().code == 0
    get.require_whole()


def test_a_wrong_digest_once(get: Getting) -> None:
    get.hub.damaged = {SHARD: 1}
    assert get().code == 0
    get.require_whole()


def test_a_wrong_digest_always(get: Getting) -> None:
    get.hub.damaged = {SHARD: 100}
    done = get()
    assert done.code == 3
    assert f"{SHARD} came twice with a wrong digest" in done.stderr
    assert f"expected {get.hub.digest(SHARD)}, by the hub" in done.stderr
    assert not (get.out / SHARD).exists()
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("switch", ["shorter", pytest.param("longer", marks=pytest.mark.slow)])  # which waits 15 s
def test_a_wrong_length(get: Getting, switch: str) -> None:
    setattr(get.hub, switch, {SHARD: 7})
    done = get()
    assert done.code == 3
    assert SHARD in done.stderr
    assert not (get.out / SHARD).exists()
    assert "Traceback" not in done.stderr
    setattr(get.hub, switch, {})
    assert get().code == 0
    get.require_whole()


@pytest.mark.slow
def test_a_slow_link(get: Getting) -> None:
    get.hub.rate = 100_000
    assert get().code == 0
    get.require_whole()


@pytest.mark.slow
def test_another_file_under_the_name(get: Getting) -> None:
    """Of the right size, so that only its digest tells."""
    get.out.mkdir()
    (get.out / SHARD).write_bytes(b"x" * len(get.hub.files[SHARD]))
    done = get("--json")
    assert (done.code, done.json["downloaded_files"]) == (0, 6)
    get.require_whole()


def test_a_token_goes_to_the_hub_alone(get: Getting) -> None:
    get.hub.token = TOKEN
    refused = get()
    assert refused.code == 3
    assert "HF_TOKEN" in refused.stderr
    done = get(HF_TOKEN=TOKEN)
    assert done.code == 0, done.stderr
    seen = {path: authorization for path, _, authorization in get.hub.requests}
    assert seen[f"/{MODEL}/resolve/{COMMIT}/config.json"] == f"Bearer {TOKEN}"
    assert seen[f"/cdn/{SHARD}"] == ""
    texts = (path.read_bytes() for path in get.moonpad.home.rglob("*") if path.is_file())
    assert TOKEN.encode() not in b"".join(texts) + done.stdout.encode() + done.stderr.encode()


def test_a_token_of_its_file(get: Getting) -> None:
    get.hub.token = TOKEN
    file = get.moonpad.home / "token"
    file.write_text(TOKEN + "\n")
    assert get(HF_TOKEN_PATH=str(file)).code == 0


def test_gated(get: Getting) -> None:
    get.hub.gated = True
    done = get()
    assert done.code == 3
    assert "is gated" in done.stderr


def test_names_that_are_not_there(get: Getting) -> None:
    assert "has no revision v9" in get("--revision", "v9").stderr
    unknown = get.moonpad("checkpoint", "get", "moonshotai/Nothing", **get.env)
    assert (unknown.code, "has no moonshotai/Nothing" in unknown.stderr) == (3, True)
    assert get("--include", "*.gguf").code == 3
    assert get("--revision", "../main").code == 2


@pytest.mark.parametrize("name", ["../x", "a/../b", "a/b/c", "-x/y z", "nothing", "a--b/c", ""])
def test_what_is_not_a_name(name: str) -> None:
    with pytest.raises(UsageError):
        require_id(name)
    with pytest.raises(UsageError):
        require_revision(f"../{name}")


@pytest.mark.slow
def test_some_files(get: Getting) -> None:
    done = get("--include", "*.json", "--include", "tok*", "--json")
    assert (done.code, done.json["files"]) == (0, 3)
    assert set(files_of(get.out)) == {"config.json", "tokenizer.json", "model.safetensors.index.json"}


def other_name(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda description: description["siblings"][0].update(rfilename=name)


@pytest.mark.parametrize(
    "change",
    [
        other_name("../escaped"),
        other_name("/tmp/escaped"),
        other_name("a/../../escaped"),
        other_name(".cache/huggingface/download/x"),
        other_name("a\x1b[2J"),
        lambda description: description.update(sha="main"),
        lambda description: description.update(siblings=[]),
        lambda description: description["siblings"][0].update(size=-1, lfs=None),
        lambda description: description["siblings"][0].update(size=None, lfs=None),
        lambda description: description["siblings"][0].update(blobId="../../x", lfs=None),
        lambda description: description["siblings"].__setitem__(0, "no object"),
        lambda description: description.update(siblings="none"),
    ],
)
def test_a_hostile_description(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch, change: Callable[[dict[str, Any]], None]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    hub.described = hub.description()
    change(hub.described)
    with pytest.raises(CheckpointError):
        Hub().look_up(MODEL, "main")


@pytest.mark.slow
def test_two_at_a_time(get: Getting) -> None:
    get.hub.rate = 20_000
    first = get.moonpad.start("checkpoint", "get", MODEL, "--out", str(get.out), **get.env)
    try:
        wait_until(lambda: bool(get.hub.sent), lambda: "nothing was sent", 20)
        second = get()
        assert second.code == 3
        assert "another download" in second.stderr
    finally:
        first.kill()
        first.communicate()


@pytest.mark.slow
def test_ctrl_c(get: Getting) -> None:
    get.hub.rate = 20_000
    process = get.moonpad.start("checkpoint", "get", MODEL, "--out", str(get.out), **get.env)
    wait_until(lambda: bool(get.hub.sent), lambda: "nothing was sent", 20)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=5)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    get.hub.rate = 0
    assert get().code == 0
    get.require_whole()


@pytest.mark.parametrize(("kills", "chunks"), [(2, 5), pytest.param(20, 16, marks=pytest.mark.slow)])
def test_killed_at_drawn_moments(moonpad: Moonpad, files: dict[str, bytes], kills: int, chunks: int) -> None:
    """Nothing is fetched twice beyond one chunk of each file that was being written, and what the sockets hold."""
    draw = random.Random(kills)
    large = {f"data-{number}.bin": draw.randbytes(chunks * CHUNK_BYTES + number) for number in range(2)}
    with hub_server({**files, **large}, rate=15e6) as hub:
        get = Getting(moonpad, hub)
        for _ in range(kills):
            until = hub.sent.total() + draw.randrange(4 * CHUNK_BYTES)
            process = moonpad.start("checkpoint", "get", MODEL, "--out", str(get.out), **get.env)
            wait_until(lambda until=until: hub.sent.total() > until, lambda: "too little was sent", 30)
            process.kill()
            process.communicate()
            assert process.returncode == -signal.SIGKILL  # it was still downloading
        hub.rate = 0
        done = get()
        assert done.code == 0, done.stderr
        get.require_whole()
        resumed = [begin for path, begin, _ in hub.requests if begin and "/data-" in path]
        assert resumed
        for name, data in hub.files.items():
            repeated = sum(path.endswith(f"/{name}") for path, _, _ in hub.requests) - 1
            assert hub.sent[name] <= len(data) + repeated * (CHUNK_BYTES + SOCKET_BYTES), name


@pytest.mark.slow
@pytest.mark.skipif(not own_mounts(), reason="mounts of one's own are not allowed here")
def test_a_full_disk(moonpad: Moonpad, files: dict[str, bytes]) -> None:
    """Said before anything is downloaded where the sizes say so, and cleanly where others fill the disk meanwhile."""
    command = (*own_mounts(), sys.executable, "-m", "tests.faults.full_disk", str(moonpad.home))
    with hub_server({**files, "large.bin": random.Random(2).randbytes(4 * CHUNK_BYTES)}) as hub:
        environment = {**moonpad.env, "HF_ENDPOINT": hub.url, "NO_PROXY": "*"}
        done = subprocess.run(
            command,
            env=environment,
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        # The second run has transferred the rest alone, and what http_get held when the disk was full.
        assert hub.sent["large.bin"] <= len(hub.files["large.bin"]) + 2 * CHUNK_BYTES
