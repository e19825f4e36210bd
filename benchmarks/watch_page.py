"""Whether the page of `moonpad watch --web` grows: the JavaScript heap of a real browser that shows it for ten minutes.

    python -m benchmarks.watch_page --minutes 10 --out benchmarks/results/watch_page.json

The looks are made here, four a second (eight times as many as a watch makes), each of two endpoints with alerts and log
lines that change. The heap is read each 15 s after a garbage collection. A page keeps 300 points a chart, which are
there after 75 s: what grows after that grows without end.
"""

from __future__ import annotations

import argparse
import shutil
import threading
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks.stage import about, write
from moonpad.values.records import replace
from moonpad.watch.view import make_view
from moonpad.watch.web import Looks, showing
from tests.unit.watch.looks import loaded, sound

LOOK_S = 0.25
SAMPLE_S = 15.0
FULL_S = 90.0
"""From here on every chart has all its points."""


def document(at: int) -> dict[str, Any]:
    endpoints = []
    for name in ("a", "b"):
        looks = [
            replace(loaded(sound(number), waiting=float(at % 40), preemptions=float(number)), name=name)
            for number in range(at, at + 4)
        ]
        looks[-1] = replace(looks[-1], log=tuple(f"INFO {name} line {at + line} of the log" for line in range(3)))
        endpoints.append(make_view(looks).as_json())
    return {"at": f"look {at}", "endpoints": endpoints}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    looks, over = Looks(), threading.Event()
    made = [0]

    def feed() -> None:
        while not over.wait(LOOK_S):
            made[0] += 1
            looks.add(document(made[0]))

    samples: list[dict[str, float]] = []
    errors: list[str] = []
    with showing(looks) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        page.goto(url)
        session = page.context.new_cdp_session(page)
        begun = time.monotonic()
        while (after_s := time.monotonic() - begun) < args.minutes * 60:
            session.send("HeapProfiler.collectGarbage")
            heap = session.send("Runtime.getHeapUsage")["usedSize"]
            nodes = page.evaluate("document.getElementsByTagName('*').length")
            samples.append({"after_s": round(after_s, 1), "heap_kib": round(heap / 1024, 1), "elements": nodes})
            page.wait_for_timeout(1000 * SAMPLE_S)
        last = page.inner_text("#status")
        version = browser.version
        over.set()
        feeder.join()
        browser.close()
    full = [sample for sample in samples if sample["after_s"] >= FULL_S] or samples
    half = len(full) // 2
    first, second = (
        sorted(row["heap_kib"] for row in rows)[len(rows) // 2] for rows in (full[: half + 1], full[half:])
    )
    result = {
        **about(f"JavaScript heap of the page of moonpad watch, Chromium {version}, a look every {LOOK_S} s"),
        "minutes": args.minutes,
        "looks": made[0],
        "last_shown": last,
        "errors": errors,
        "heap_kib_median_first_half": first,
        "heap_kib_median_second_half": second,
        "samples": samples,
    }
    print({name: value for name, value in result.items() if name != "samples"})
    write(args.out, result)


if __name__ == "__main__":
    main()
