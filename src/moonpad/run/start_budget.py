"""Where the time of a start went, against what its disk and page cache allow, and what would shorten it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from moonpad.values.records import as_dict

LOADING: Final = "loading weights"
PAYS_S: Final = 20.0
"""Advice that saves less than this, or less than a fifth of the start, is not given."""
PAYS_SHARE: Final = 0.2
CACHE_BYTES_PER_S: Final = 2e9
"""One thread's copy out of the page cache, from below: with it the least time of a load is not promised too short."""
EARLY: Final = "processes and imports"


@dataclass(frozen=True, slots=True)
class Source:
    """Where the weights come from. `cached_bytes`: in the page cache when the engine was started. `disk_bytes_per_s`:
    of one reader past the cache, so that several may be faster. None: not known."""

    checkpoint_bytes: int
    cached_bytes: int | None = None
    disk_bytes_per_s: float | None = None
    has_loaders: bool = True
    """Whether the engine has faster loaders. They are for devices; what a processor's engine takes beside reading is
    its own copying (benchmarks/results/start_cold.json: 25 to 30 s for 10 GB that were in the page cache)."""

    @property
    def missing_bytes(self) -> int:
        """What is not in the page cache; a hundredth is nothing."""
        missing = max(0, self.checkpoint_bytes - (self.cached_bytes or 0))
        return missing if missing > self.checkpoint_bytes / 100 else 0

    @property
    def least_s(self) -> float | None:
        """The time in which the weights can be read by one reader; None where the speed is not known."""
        if self.cached_bytes is None:
            return None
        missing = self.missing_bytes
        if missing and not self.disk_bytes_per_s:
            return None
        return (
            missing / (self.disk_bytes_per_s or 1.0) + min(self.cached_bytes, self.checkpoint_bytes) / CACHE_BYTES_PER_S
        )


@dataclass(frozen=True, slots=True)
class StartBudget:
    """`phases`: (name, seconds) in their order, from the spawn to the first token; together `seconds`."""

    seconds: float
    phases: tuple[tuple[str, float], ...]
    source: Source | None = None

    @property
    def load_s(self) -> float:
        return sum(seconds for name, seconds in self.phases if name == LOADING)

    @property
    def advice(self) -> str:
        """One sentence where the figures say that it pays, else ""."""
        least_s = self.source.least_s if self.source else None
        if self.source is None or least_s is None:
            return ""
        missing = self.source.missing_bytes
        if self.source.has_loaders and self._pays(self.load_s - least_s) and self.load_s > 2 * least_s:
            return (
                f"weights took {self.load_s:.0f} s and this machine reads them in {least_s:.0f} s: a loader with "
                "several readers (load format fastsafetensors or runai_streamer), or sharded state, pays here"
            )
        if missing and self.source.disk_bytes_per_s:
            from_cache_s = self.source.checkpoint_bytes / CACHE_BYTES_PER_S
            saved_s = min(self.load_s - from_cache_s, missing / self.source.disk_bytes_per_s)
            speed = self.source.disk_bytes_per_s / 1e9
            if self._pays(saved_s):
                return (
                    f"{missing / 1e9:.0f} GB came from a disk that gives one reader {speed:.2g} GB/s: a local NVMe "
                    f"disk, or enough RAM to keep the files in the page cache, saves up to {saved_s:.0f} s"
                )
        return ""

    def _pays(self, saved_s: float) -> bool:
        return saved_s >= max(PAYS_S, PAYS_SHARE * self.seconds)

    def line(self) -> str:
        """`15.2 s processes and imports, 4.1 s loading weights (0.07 GB, 100 % from the page cache), …`."""
        return ", ".join(f"{seconds:.1f} s {name}{self._of(name)}" for name, seconds in self.phases if seconds >= 0.05)

    def _of(self, name: str) -> str:
        if name != LOADING or self.source is None:
            return ""
        of = f"{self.source.checkpoint_bytes / 1e9:.2f} GB"
        if self.source.cached_bytes is None:
            return f" ({of})"
        share = (
            min(1.0, self.source.cached_bytes / self.source.checkpoint_bytes) if self.source.checkpoint_bytes else 1.0
        )
        return f" ({of}, {share:.0%} of it in the page cache)"

    def as_json(self) -> dict[str, Any]:
        phases = [{"phase": name, "seconds": round(seconds, 3)} for name, seconds in self.phases]
        source = None if self.source is None else {**as_dict(self.source), "least_s": self.source.least_s}
        return {"seconds": round(self.seconds, 3), "phases": phases, "weights": source, "advice": self.advice}


def start_budget(events: Iterable[Mapping[str, Any]], source: Source | None = None) -> StartBudget | None:
    """Of the last generation that became ready; None where none did. A phase lasts until the log names another one."""
    spawned_s: float | None = None
    marks: list[tuple[float, str]] = []
    done: StartBudget | None = None
    for event in events:
        kind, at_s = event.get("event"), event.get("t_s")
        if not isinstance(at_s, int | float):
            continue
        if kind == "spawned":
            spawned_s, marks = float(at_s), [(float(at_s), EARLY)]
        elif spawned_s is None:
            continue
        elif kind == "phase" and event.get("phase") != marks[-1][1]:
            marks.append((float(at_s), str(event.get("phase"))))
        elif kind == "healthy":
            marks.append((float(at_s), "first token"))
        elif kind == "ready":
            ends = [*(begun_s for begun_s, _ in marks[1:]), float(at_s)]
            phases: dict[str, float] = {}
            for (begun_s, name), end_s in zip(marks, ends, strict=True):
                phases[name] = phases.get(name, 0.0) + max(0.0, end_s - begun_s)
            done, spawned_s = StartBudget(float(at_s) - spawned_s, tuple(phases.items()), source), None
    return done
