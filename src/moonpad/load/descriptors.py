"""Makes sure of enough file descriptors for all connections before the first request is sent."""

from __future__ import annotations

from typing import Final

from moonpad.values.errors import PreflightRefused

RESERVE: Final = 64
"""Of other files: the loop, the run's own, the client's processes, the server's metrics."""


def ensure_descriptors(connections: int, at_most: int | None = None) -> None:
    """Raises the soft limit of this process and its children, for `at_most` connections if the hard limit allows.

    Raises:
        PreflightRefused: the system allows fewer than these connections need.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed, wanted = connections + RESERVE, max(connections, at_most or 0) + RESERVE
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    limited = hard != resource.RLIM_INFINITY
    if limited and hard < needed:
        raise PreflightRefused(
            f"{connections} connections need {needed} file descriptors; the limit of this process is {hard}",
            remedy=f"raise it with ulimit -n {needed}, or use --concurrency {max(1, hard - RESERVE)}",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard) if limited else wanted, hard))
