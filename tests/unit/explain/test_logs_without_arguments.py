"""A log alone, without a command and without the arguments of one: what its lines say of the start."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.75 GiB. GPU 0 has a total capacity of 79.35 GiB"


def ranks(dp: int, pp: int, tp: int, world: int | None = None) -> str:
    """The lines by which all ranks say what they are for."""
    lines = []
    for rank in range(dp * pp * tp):
        rest = f"DP rank {rank // (pp * tp)}, PP rank {rank // tp % pp}, TP rank {rank % tp}, EP rank {rank % tp}"
        lines.append(
            f"(VllmWorker TP{rank % tp} pid={70 + rank}) INFO 08-28 01:47:33 [parallel_state.py:1134] "
            f"rank {rank} in world size {world or dp * pp * tp} is assigned as {rest}"
        )
    return "\n".join(lines) + "\n"


def loads(model: str) -> str:
    where = "(VllmWorker TP0 pid=3069) INFO 08-28 01:47:34 [gpu_model_runner.py:2261]"
    return f"{where} Starting to load model {model}...\n{where} Loading model from scratch...\n"


def only(text: str) -> Judged:
    (judged,) = ask(text)
    return judged


@pytest.mark.parametrize(("dp", "pp", "tp"), [(1, 1, 2), (1, 2, 4), (2, 1, 4), (1, 1, 1)])
def test_the_layout_is_that_of_the_ranks(dp: int, pp: int, tp: int) -> None:
    judged = only(ranks(dp, pp, tp) + loads("moonshotai/Kimi-K2-Instruct"))
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "moonshotai/Kimi-K2-Instruct"
    assert judged.layout is not None
    assert (judged.layout.dp, judged.layout.pp, judged.layout.tp) == (dp, pp, tp)
    assert judged.unknown & {"tp", "pp", "dp"} == set()
    assert "max_model_len" in judged.unknown
    assert judged.memory is None


@pytest.mark.parametrize("text", ["", ranks(1, 1, 2, world=8)])
def test_ranks_that_are_not_all_there_leave_it_open(text: str) -> None:
    judged = only(text + loads("moonshotai/Kimi-K2-Instruct"))
    assert "tp" in judged.unknown
    assert judged.unjudged.startswith("the options that the log lacks are not known here")


def test_its_failure_is_that_of_the_start() -> None:
    error = f"(VllmWorker TP0 pid=3069) ERROR 08-28 01:47:35 [multiproc_executor.py:565] {OOM}\n"
    judged = only(ranks(1, 1, 2) + loads("moonshotai/Kimi-K2-Instruct") + error)
    assert any("out of memory" in each.message for each in judged.findings)


def test_two_models_are_no_start() -> None:
    assert ask(loads("moonshotai/Kimi-K2-Instruct") + loads("moonshotai/Kimi-Linear-48B-A3B-Instruct")) == ()


@pytest.mark.parametrize(
    ("line", "engine"),
    [
        ("[2025-08-28 01:47:35 TP0] Load weight begin. avail mem=78.00 GB", "sglang"),
        ("[2025-08-28 01:47:35 DP1 TP3 EP3] Load weight begin. avail mem=78.00 GB", "sglang"),
        ("(Worker_TP1 pid=99) INFO 08-28 01:47:33 [x.py:1] Loading weights took 3 seconds", "vllm"),
        ("(APIServer pid=1) INFO 08-28 01:47:33 [x.py:1] Loading weights took 3 seconds", "vllm"),
    ],
)
@pytest.mark.parametrize("times", [1, 600])
def test_the_form_of_its_lines_tells_the_engine(line: str, engine: str, times: int) -> None:
    judged = only(f"{line}\n" * times + f"Traceback (most recent call last):\n{OOM}\n")
    assert judged.kind == "report"
    assert judged.engine == engine
    assert any("out of memory" in each.message for each in judged.findings)


@pytest.mark.parametrize(
    "line", ["[2025-08-28 01:47:35] Load weight begin.", "(Client pid=1) INFO 08-28 01:47:33 [x.py:1] Load"]
)
def test_lines_that_any_program_writes_do_not(line: str) -> None:
    assert ask(f"{line}\nTraceback (most recent call last):\n{OOM}\n") == ()


ARGUMENTS = "model_tag='moonshotai/Kimi-K2-Instruct', tensor_parallel_size=16, max_model_len=4096"


def test_a_bare_namespace_has_the_arguments() -> None:
    judged = only(f"Namespace(subparser='serve', {ARGUMENTS})\n")
    assert judged.layout is not None
    assert judged.layout.tp == 16


def test_that_of_a_benchmark_starts_nothing() -> None:
    assert ask(f"Namespace(subparser='bench', num_prompts=10, {ARGUMENTS})\n") == ()
