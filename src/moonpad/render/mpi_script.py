"""The program that starts ranks over several hosts by Open MPI's `mpirun`, and leaves nothing of them on any.

mpirun alone does not: killed hard, it leaves its own host's ranks, and what a rank has started elsewhere than in its
process group outlives every kind of end. So each rank has a word in its environment; whatever has it, and all that
descends from it, is ended on every host after mpirun has ended, and before it starts.

Facts, of Open MPI 4.1 (https://docs.open-mpi.org/en/v4.1.x; the second and the last seen here): started by its whole
path, mpirun looks for its daemon in the same place on the others, whose PATH an ssh without a login shell does not set;
it then puts its own folder before the ranks' PATH. `plm_rsh_args` are words for ssh, parted at blanks. Without
`plm_rsh_no_tree_spawn` hosts beyond the second need keys for one another. At its end mpirun gives ranks one second
between TERM and KILL, and waits until nobody holds the output of one. The engine's own helper starts `python3` of PATH
and parts its words at blanks (TensorRT-LLM, tensorrt_llm/llmapi/trtllm-llmapi-launch).
"""

from __future__ import annotations

from typing import Final

from moonpad.render.leftovers import FUNCTIONS

SCRIPT: Final = r"""#!/usr/bin/env bash
# bash mpi.sh NAME GRACE_S RANKS HOSTFILE SSH_WORDS VARIABLES COMMAND...
# Runs COMMAND as RANKS ranks on the hosts of HOSTFILE, the first of which is this one, until they end or INT or TERM
# comes. Ranks get VARIABLES, PATH, LD_LIBRARY_PATH and what is set of CUDA_*, NCCL_*, UCX_*, TLLM_* and TRTLLM_*.
# MOONPAD_STOP=1: only ends what a start that was killed has left. MOONPAD_SSH_WORDS: words for ssh, as -p 2222.
# MOONPAD_MPI_WORDS: more words for mpirun, as -mca btl_tcp_if_include 10.0.0.0/24.
set -uo pipefail

name=$1 grace=$2 ranks=$3 hostfile=$4 ssh_words=${MOONPAD_SSH_WORDS-$5} variables=$6
shift 6
mark="MOONPAD_MPI=$name"

FUNCTIONS
# How many of those are children of a process.
marked_children() {
  local pid count=0
  for pid in $(marked "$1"); do
    [ "$(sed 's/.*) . //; s/ .*//' "/proc/$pid/stat" 2>/dev/null)" != "$2" ] || count=$((count + 1))
  done
  echo "$count"
}

clean() {
  local host jobs=() status=0
  for host in "${others[@]}"; do
    # shellcheck disable=SC2086  # words for ssh
    { declare -f marked sweep forget_shared; echo "sweep '$mark' $grace"; } |
      ssh $ssh_words -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 "$host" bash -s ||
      { echo "$host: what was started there may still run, or it was not reached" >&2; false; } &
    jobs+=($!)
  done
  sweep "$mark" "$grace" || status=1
  for host in "${jobs[@]}"; do wait "$host" || status=1; done
  return "$status"
}

for word in "$@"; do
  [[ -n $word && $word != *[[:space:]*?[]* ]] ||
    { echo "what starts a rank parts its words at blanks and expands * and ?: it would lose '$word'" >&2; exit 2; }
done
mapfile -t others < <(cut -d ' ' -f 1 "$hostfile" | tail -n +2)
exec 9>"$hostfile.lock"
flock -n 9 || { echo "$name already runs here" >&2; exit 3; }
clean 9>&- || exit
[ "${MOONPAD_STOP:-0}" = 0 ] || exit 0

[[ $1 != /* ]] || export PATH="${1%/*}:$PATH"  # where its Python is
mpirun=$(command -v mpirun) || { echo "mpirun is not on PATH: install Open MPI" >&2; exit 2; }
words=(--hostfile "$hostfile" -np "$ranks" --map-by slot --bind-to none -x "$mark")
words+=(-mca plm_rsh_agent ssh -mca plm_rsh_args "$ssh_words -o BatchMode=yes" -mca plm_rsh_no_tree_spawn 1)
[ "$(id -u)" != 0 ] || words+=(--allow-run-as-root)
for variable in $variables $(compgen -e | grep -E '^(CUDA|NCCL|UCX|TLLM|TRTLLM)_'); do
  [ -z "${!variable+set}" ] || words+=(-x "$variable")
done
# Not by -x, since mpirun puts its own folders before what these hold.
places=(env "PATH=$PATH" ${LD_LIBRARY_PATH+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"})
read -ra more <<<"${MOONPAD_MPI_WORDS:-}"
ulimit -s 65536 2>/dev/null || true
with=()
! command -v setpriv >/dev/null || with=(setpriv --pdeathsig TERM)
stopped=0 mpi=""
trap 'stopped=1' INT TERM HUP
"${with[@]}" "$mpirun" "${words[@]}" "${more[@]}" "${places[@]}" "$@" 9>&- &
mpi=$!
# Until mpirun ends, a signal comes, or a rank of this host ends: whichever rank it was, mpirun then ends those here.
here=0 before=0
while ((!stopped && here >= before)) && kill -0 "$mpi" 2>/dev/null; do
  sleep 1 9>&- &
  wait $!  # which a signal ends
  before=$here
  here=$(marked_children "$mark" "$mpi")
done
trap '' INT TERM HUP
# The ranks first: mpirun gives them one second at its own end, and waits for all that holds a rank's output.
clean 9>&-
for signal in 0 TERM KILL; do
  kill -"$signal" "$mpi" 2>/dev/null
  for ((tenths = 0; tenths < 50; tenths++)); do kill -0 "$mpi" 2>/dev/null && sleep 0.1; done
done
wait "$mpi"
status=$?
clean 9>&- || exit 1
((stopped)) || exit "$((status ? status : 1))"
""".replace("FUNCTIONS", FUNCTIONS, 1)
