"""What the end of a first process leaves of its own: bash functions that end it, and `node-0/stop.sh` made of them.

Workers survive an API server that was killed hard and leave its process group (vllm-project/vllm#55510), so they are
known by a word in their environment, which the script that starts an engine puts there, and by their parents.
Shared memory that may be handed on is removed where a process of ours has mapped it, other kinds where nobody has.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final

from moonpad import __version__
from moonpad.engines.shared_memory import ALWAYS_MAPPED, HANDED_ON
from moonpad.render.rendered import Rendered
from moonpad.values.deployment import Deployment

MARK: Final = "MOONPAD_START"
"""The variable that holds the word."""
KEEPS_ENVIRONMENT: Final = "SPT_NOENV=1"
"""vLLM's processes give themselves titles by setproctitle, which writes over what others see of their environment."""
FUNCTIONS: Final = r"""# The pids of what has the word in its environment, and of what descends from that.
marked() {
  local list=" " before="" table pid state parent rest
  while read -r pid; do list+="$pid "; done < <(grep -lzFx -- "$1" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3)
  table=$(cat /proc/[0-9]*/stat 2>/dev/null | sed 's/ (.*) / /')
  while [ "$list" != "$before" ]; do
    before=$list
    while read -r pid state parent rest; do
      [[ $state != Z && $list == *" $parent "* && $list != *" $pid "* ]] && list+="$pid "
    done <<<"$table"
  done
  echo "$list"
}

# TERM, after so many seconds KILL, and their shared memory is removed; fails where something is left.
sweep() {
  local pids tenths shared=""
  for ((tenths = 0; tenths < 10 * ($2 + 10); tenths++)); do
    read -ra pids <<<"$(marked "$1")"
    [ "${#pids[@]}" -gt 0 ] || { forget_shared "$shared"; return 0; }
    if ((tenths == 0)); then
      shared=$(cd /proc && grep -hosE '/dev/shm/(HANDED_ON)[^ ]+' "${pids[@]/%//maps}" | sort -u)
      kill -TERM "${pids[@]}" 2>/dev/null
    elif ((tenths >= 10 * $2)); then
      kill -KILL "${pids[@]}" 2>/dev/null
    fi
    sleep 0.1
  done
  echo "still running: ${pids[*]}" >&2
  return 1
}

# Removes these files, and the kinds that a living maker always has mapped; of them what this user has and nobody maps.
forget_shared() {
  local file
  for file in $1 /dev/shm/{ALWAYS_MAPPED}*; do
    [[ -f $file && -O $file ]] || continue
    grep -qsF -- " $file" /proc/[0-9]*/maps || rm -f -- "$file"
  done
}
""".replace("HANDED_ON", "|".join(HANDED_ON)).replace("ALWAYS_MAPPED", ",".join(ALWAYS_MAPPED))
_STOP: Final = r"""#!/usr/bin/env bash
# Written by moonpad VERSION. Ends what the scripts of this folder have started on this machine, also what lives on of
# a start that was killed hard, and removes the shared memory that it left. Fails where a process is left.
#   bash PATH
set -uo pipefail

FUNCTIONS
sweep MARK GRACE
"""


def mark_of(deployment: Deployment, node: str) -> str:
    """The word of what is started on that node."""
    return f"{deployment.title}/{node}"


def render_stops(deployment: Deployment) -> Mapping[str, Rendered]:
    """`stop.sh` of each node: path → text and mode."""
    nodes = dict.fromkeys(process.node for process in deployment.processes)
    return {f"{node}/stop.sh": Rendered(_stop(deployment, node), 0o755) for node in nodes}


def _stop(deployment: Deployment, node: str) -> str:
    stops = [process.stop for process in deployment.processes if process.node == node]
    words = {
        "VERSION": __version__,
        "PATH": f"{node}/stop.sh",
        "FUNCTIONS": FUNCTIONS,
        "MARK": shlex.quote(f"{MARK}={mark_of(deployment, node)}"),
        "GRACE": f"{max(stop.grace_s + stop.drain_s for stop in stops):.0f}",
    }
    text = _STOP
    for name, value in words.items():
        text = text.replace(name, value, 1)
    return text
