"""The keeper: owns every process of one run on one host, and leaves none behind.

Single-threaded and standard library only, as are the modules of `facts` and `store` that it imports. Here it runs from
its own files; other hosts get all of them in one zipapp (run/keeper_archive.py) and run it with any Python ≥ 3.9. One
JSON job comes on standard input (secrets never touch a disk); the keeper takes the run's lock, detaches, and answers on
standard output with one JSON line: {"ok": true, "pid": …} or {"ok": false, …}.

- It is a child subreaper: every orphan below it reparents to it, so the set of its descendants is complete however
  often the engine's workers double-fork, call setsid or rename themselves (a rename wipes /proc/PID/environ, so neither
  name nor environment says who owns a process). A cgroup of its own, where one can be made, gives the same set without
  parentage.
- A process is (pid, start time): a recycled pid is never signalled. Signals go through pidfds.
- The engine has a parent-death signal; the owned set is written to `keeper.json`, so that `down` can finish the job
  when the keeper itself was killed.
- It stops the engine by INT (the roots), TERM (all), KILL (all), until a scan finds no process; then it removes shared
  memory, the run's temporary directory and the cgroup.
- What a process leaves outside that tree (a container outlives its killed client) is ended by the process's
  `after_stop` commands, run when no process is left, and by its `after_end` commands once the run is over. They stay in
  `keeper.json` until they have succeeded.
- It makes no decisions: whether an engine that has ended is started again is up to the controller, a child that can be
  killed at any time, over the socket `control.sock`.
- The engine writes its log itself, so nothing of ours can block it; the keeper bounds the file.
- With a lease (`lease_s`, on a host of several) the keeper stops unless `attend` arrives that often: unreachable ranks
  stop by themselves.
"""
