"""Runs a command in a small process of its own: what a process begins with counts in its largest resident size.

Arguments: a descriptor for the result, then the command. The result is a line of JSON: code, seconds, cpu_s, peak_kb.
"""

import json
import os
import resource
import sys
import time

ADDRESS_SPACE_BYTES = 4 << 30

began = time.monotonic()
child = os.fork()
if child == 0:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.execvp(sys.argv[2], [os.fsencode(word) for word in sys.argv[2:]])  # noqa: S606
_, status, usage = os.wait4(child, 0)
row = {
    "code": os.waitstatus_to_exitcode(status),
    "seconds": time.monotonic() - began,
    "cpu_s": usage.ru_utime + usage.ru_stime,
    "peak_kb": usage.ru_maxrss,
}
os.write(int(sys.argv[1]), json.dumps(row).encode())
