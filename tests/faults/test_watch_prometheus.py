"""A real Prometheus with the files of `moonpad watch --prometheus` scrapes the fake engine and `--expose`, and its
alert fires where the engine's core was killed."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from moonpad.facts.processes import send_signal
from tests.conftest import Moonpad
from tests.faults.helpers import owned_of, pid_of_role, set_launch, streams, wait_until
from tests.ports import free_port as another_port

pytestmark = [
    pytest.mark.usefixtures("clean_world"),
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="apt-get install prometheus"),
]


@contextmanager
def running(argv: tuple[str, ...], moonpad: Moonpad) -> Iterator[None]:
    with subprocess.Popen(argv, env=moonpad.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


def asked(port: int, query: str) -> list[float]:
    url = f"http://127.0.0.1:{port}/api/v1/query?query={urllib.parse.quote(query)}"
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return [float(row["value"][1]) for row in json.load(answer)["data"]["result"]]
    except OSError:
        return []


def test_a_real_prometheus(moonpad: Moonpad, fake_spec: Path, free_port: int, tmp_path: Path) -> None:
    set_launch(fake_spec, restarts=3)
    exposed, own = another_port(), another_port()
    folder, address = tmp_path / "p", f"127.0.0.1:{exposed}"
    assert moonpad("up", str(fake_spec)).code == 0
    assert moonpad("watch", "fake", "--prometheus", str(folder), "--expose", address).code == 0
    config = folder / "prometheus.yml"
    config.write_text(config.read_text().replace("15s", "1s"))  # so that the test need not wait
    watch = (sys.executable, "-m", "moonpad", "watch", "fake", "--expose", address)
    prometheus = (
        "prometheus", "--config.file", str(config), "--storage.tsdb.path", str(tmp_path / "data"),
        "--web.listen-address", f"127.0.0.1:{own}",
    )  # fmt: skip

    def await_figures(query: str, *figures: float) -> None:
        wait_until(lambda: asked(own, query) == list(figures), lambda: f"{query}: {asked(own, query)}", 60.0)

    with ExitStack() as stack:
        stack.enter_context(running(watch, moonpad))
        stack.enter_context(running(prometheus, moonpad))
        load = streams(free_port, 3, 100_000, timeout_s=120.0)
        load.await_answered()
        await_figures('up{endpoint="fake"}', 1.0)
        await_figures("moonpad:requests_running", 3.0)
        await_figures("moonpad_run_generation", 1.0)
        await_figures('moonpad_run_state{state="ready"}', 1.0)
        wait_until(lambda: max(asked(own, "moonpad:output_tokens:rate"), default=0.0) > 0, lambda: "no rate", 60.0)
        assert asked(own, "ALERTS") == []
        core = pid_of_role(moonpad, "core")
        send_signal(core, owned_of(moonpad)[core], signal.SIGKILL)
        await_figures('ALERTS{alertname="MoonpadRestarted",alertstate="firing"}', 1.0)
        load.wait()
    assert moonpad("down", "fake").code == 0
