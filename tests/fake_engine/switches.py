"""The faults, as the environment asks for them.

FAKE_LOAD_S=0.2             seconds from the start of loading to its end
FAKE_WORKERS=2              0 for an engine of two processes
FAKE_CRASH_AT=load:40%|ready+1s|request:3
                            the core ends with an error, and the API server after it; `loading` is load:40%, `ready` is
                            ready+1s. A request counts when it reaches the core, the one that readiness asks for too
                            (`ready` counts from the first token that it gives)
FAKE_EXIT=1                 the status that both end with then
FAKE_CORE_ABORT_AT=ready+1s the core aborts (SIGABRT); the API server does not notice, /health stays 200, no request is
                            answered any more, and the dead core is not collected: it stays a zombie
FAKE_HANG_AFTER=20          after so many tokens in all nothing moves; requests stay running, also those that come later
FAKE_CRASHES=n              only the first n starts have the three faults above; FAKE_COUNT names the file that counts
FAKE_IGNORE_TERM=1          INT and TERM are ignored by all, and workers survive the core
FAKE_NO_PORT=1              never listens
FAKE_FIRST_REQUEST=500      every completion is answered with this status
FAKE_HEALTH_LIES=1          /health is 200 whatever happens, and a lost core or worker ends nobody
FAKE_FLAP_S=2               /health is 200 for so long, then 503, and so on, counted from readiness …
FAKE_FLAP_UNTIL_S=10        … and 200 from then on
FAKE_SLOTS=64               requests that are decoded at once; others wait
FAKE_TOKEN_S=0.005          seconds a token of every running request
FAKE_FAST_FLAG=--flag       a command line with this option takes a quarter of the time for a token
FAKE_OTHER_FLAG=--flag      a command line with this option answers with another word
FAKE_FLOOD_BYTES_S=1000000  so much log a second from readiness on, by the core
FAKE_ENDLESS_LINE_BYTES=n   one line of n bytes at readiness, by the core
FAKE_LOST_MAKER=1           halfway through the load a process makes shared memory, and is killed at once
FAKE_LATE_S=20              a headless node joins its head so much later
FAKE_ORPHANS=1              accepted: a core never notices that its API server is gone
"""

from __future__ import annotations

import os
from collections.abc import Mapping


class Moment:
    """`load:40%`, `ready+1s`, `request:3`: what is counted, and up to where (percent, seconds, requests)."""

    def __init__(self, text: str) -> None:
        text = {"loading": "load:40%", "ready": "ready+1s"}.get(text, text)
        self.of = "ready" if text.startswith("ready+") else text.partition(":")[0]
        rest = text.removeprefix("ready+").removeprefix("load:").removeprefix("request:")
        if self.of not in ("load", "ready", "request") or not rest:
            raise SystemExit(f"fake engine: {text!r} is no moment: load:40%, ready+1s or request:3")
        self.value = seconds(rest) if self.of == "ready" else float(rest.removesuffix("%"))


def seconds(text: str) -> float:
    """`1s`, `500ms` or a plain number of seconds."""
    return float(text[:-2]) / 1000 if text.endswith("ms") else float(text.removesuffix("s"))


class Switches:
    def __init__(self, env: Mapping[str, str]) -> None:
        def number(name: str, default: float = 0.0) -> float:
            return float(env.get(f"FAKE_{name}") or default)

        def moment(name: str) -> Moment | None:
            return Moment(env[f"FAKE_{name}"]) if env.get(f"FAKE_{name}") else None

        self.load_s = number("LOAD_S", 0.2)
        self.workers = int(number("WORKERS", 2))
        self.crash_at = moment("CRASH_AT")
        self.exit_status = int(number("EXIT", 1))
        self.core_abort_at = moment("CORE_ABORT_AT")
        self.hang_after = int(number("HANG_AFTER"))
        self.ignore_term = bool(env.get("FAKE_IGNORE_TERM"))
        self.no_port = bool(env.get("FAKE_NO_PORT"))
        self.first_request = int(number("FIRST_REQUEST"))
        self.health_lies = bool(env.get("FAKE_HEALTH_LIES"))
        self.flap_s = number("FLAP_S")
        self.flap_until_s = number("FLAP_UNTIL_S", float("inf"))
        self.late_s = number("LATE_S")
        self.slots = int(number("SLOTS", 64))
        self.token_s = number("TOKEN_S", 0.005)
        self.fast_flag = env.get("FAKE_FAST_FLAG", "")
        self.other_flag = env.get("FAKE_OTHER_FLAG", "")
        self.flood_bytes_s = int(number("FLOOD_BYTES_S"))
        self.endless_line_bytes = int(number("ENDLESS_LINE_BYTES"))
        self.lost_maker = bool(env.get("FAKE_LOST_MAKER"))
        if env.get("FAKE_COUNT") and count_start(env["FAKE_COUNT"]) > number("CRASHES", float("inf")):
            self.crash_at = self.core_abort_at = None
            self.hang_after = 0


def count_start(path: str) -> int:
    """Which start this is, 1 for the first; a byte a start is kept in the file."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, b".")
    size = os.fstat(handle).st_size
    os.close(handle)
    return size
