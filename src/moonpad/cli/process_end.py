"""The end of the process: at once, for to take apart all that it made takes longer than to print the answer."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import NoReturn


def leave(exit_code: int) -> NoReturn:
    """Ends the process as `sys.exit` does, what was registered for the end included. Where a thread still runs, or a
    stream does not take what is left in it, Python ends it, and says what it always says."""
    if threading.active_count() > 1:
        sys.exit(exit_code)
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(exit_code)
    os._exit(exit_code)
