"""Launchers that wait for each rank before they start the next."""

from __future__ import annotations

from tests.unit.explain.judging import ask

LAUNCHER = """
```python
import subprocess
from multiprocessing import Process

def serve(rank):
    {runs}

workers = []
for rank in range(4):
    worker = Process(target=serve, args=(rank,))
    worker.start()
{waits}
```

```bash
vllm serve moonshotai/Kimi-K2-Instruct --data-parallel-size 4 --data-parallel-rank $1 -tp 8
```
"""
RUNS = 'subprocess.run(["bash", "serve.sh", str(rank)], check=True)'


def told(runs: str, waits: str) -> list[str]:
    return [
        finding.message
        for judged in ask(LAUNCHER.format(runs=runs, waits=waits))
        for finding in judged.findings
        if finding.where == "worker.join()"
    ]


def test_waiting_inside_the_loop_is_told() -> None:
    (message,) = told(RUNS, "    worker.join()")
    assert "line 13" in message


def test_waiting_below_the_loop_is_right() -> None:
    assert told(RUNS, "    workers.append(worker)\nfor worker in workers:\n    worker.join()") == []
    assert told(RUNS, "    workers.append(worker)\nworker.join()") == []


def test_a_wait_with_an_end_and_a_process_that_starts_no_program_are_left_alone() -> None:
    assert told(RUNS, "    worker.join(timeout=5)") == []
    assert told("print(rank)", "    worker.join()") == []


def test_it_is_said_of_what_the_launcher_starts() -> None:
    alone = "```bash\nvllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16\n```\n"
    text = alone + LAUNCHER.format(runs=RUNS, waits="    worker.join()")
    places = [any(each.where == "worker.join()" for each in judged.findings) for judged in ask(text)]
    assert places == [False, True]
