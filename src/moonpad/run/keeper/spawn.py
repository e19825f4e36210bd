"""Starts a child of the keeper."""

from __future__ import annotations

import contextlib
import os
import signal

from moonpad.facts.processes import PR_SET_PDEATHSIG, read_start, set_process_option


def spawn(
    argv: list[str],
    env: dict[str, str],
    log: str,
    folder: str,
    death_signal: int,
    cgroup: str = "",
    stdin: int | None = None,
) -> tuple[int, int]:
    """(pid, start time) of a child in a session of its own, its output appended to `log`. Raises OSError where it
    cannot be executed."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    errors, report = os.pipe2(os.O_CLOEXEC)
    keeper_pid = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            signal.set_wakeup_fd(-1)  # the keeper's
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and that would be inherited
            os.setsid()  # the keeper alone handles the terminal's Ctrl-C
            set_process_option(PR_SET_PDEATHSIG, death_signal)
            if os.getppid() != keeper_pid:
                os._exit(1)
            if cgroup:
                with contextlib.suppress(OSError), open(os.path.join(cgroup, "cgroup.procs"), "w") as file:
                    file.write("0")
            os.dup2(os.open(os.devnull, os.O_RDONLY) if stdin is None else stdin, 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.chdir(folder)
            os.execvpe(argv[0], argv, env)
        except OSError as error:
            os.write(report, f"{argv[0]}: {error.strerror}".encode())
        finally:
            os._exit(127)
    os.close(report)
    os.close(output)
    with os.fdopen(errors, "rb") as pipe:
        problem = pipe.read().decode()
    if problem:
        os.waitpid(pid, 0)
        raise OSError(problem)
    return pid, read_start(pid)
