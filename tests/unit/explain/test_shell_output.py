"""Text that functions of a script write by heredocs: it becomes files and commands."""

from __future__ import annotations

import pytest

from .judging import ask

EMIT = (
    'emit() {\n  local MODEL="$1" PORT="$2"\n  cat <<EOF\nvllm serve ${MODEL} --port ${PORT} \\\\\n'
    "  --tensor-parallel-size 8\nEOF\n}\n"
)
A, B = "moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-K2-Thinking"


def models(text: str) -> list[str]:
    return [judged.checkpoint.name for judged in ask(text) if judged.layout and judged.checkpoint]


def test_a_function_that_writes_scripts() -> None:
    text = f"{EMIT}emit {A} 8001 > a.sh\nemit {B} 8002 | tee b.sh\nbash a.sh &\nbash b.sh\n"
    assert models(text) == [A, B]


def test_in_heredocs_for_other_machines() -> None:
    text = f"{EMIT}ssh n1 'bash -s' <<OUT\n$(emit {A} 8001)\nOUT\nssh n2 'bash -s' <<OUT\n$(emit {B} 8002)\nOUT\n"
    assert models(text) == [A, B]
    inner = f"{EMIT}ssh n1 'bash -s' <<OUT\ncat > /tmp/r.sh <<'IN'\n$(emit {A} 8001)\nIN\nbash /tmp/r.sh\nOUT\n"
    assert models(inner) == [A]


def test_a_heredoc_in_a_variable() -> None:
    assert models(f'CMD=$(cat <<EOF\nvllm serve {A} --tensor-parallel-size 8\nEOF\n)\nssh n1 "$CMD"\n') == [A]


def test_a_function_that_is_never_called_is_read_as_it_is() -> None:
    text = f"start() {{\n  vllm serve {A} --tensor-parallel-size 8\n}}\nstart\n"
    assert models(text) == [A]


def test_a_guard_tells_what_a_variable_has_to_be() -> None:
    serve = f'vllm serve {A} --tensor-parallel-size "$TP"\n'
    for test in ('[ "$TP" -ne 8 ]', "[[ $TP != 8 ]]", '[[ "$TP" != "8" ]]'):
        (judged,) = ask(f"if {test}; then\n  echo no >&2\n  exit 1\nfi\n{serve}")
        assert judged.layout is not None
        assert judged.layout.tp == 8
    for test in ('[ "$TP" -lt 8 ]', '[ "$TP" = 8 ]', "[[ $TP != 8* ]]"):
        (judged,) = ask(f"if {test}; then\n  exit 1\nfi\n{serve}")
        assert "tp" in judged.unknown
    (judged,) = ask(f"if [ $TP -ne 8 ]; then\n  echo unusual\nfi\n{serve}")
    assert "tp" in judged.unknown


BUILDS = (
    f'MODEL={A}\nbuild() {{\n  local util=$1 extra="${{2:-}}"\n  log() {{ :; }}\n  local cmd="vllm serve $MODEL"\n'
    '  cmd="$cmd --tensor-parallel-size 8 --gpu-memory-utilization $util"\n'
    '  if [ -n "$extra" ]; then\n    cmd="$cmd $extra"\n  fi\n'
)


@pytest.mark.parametrize("says", ['echo "$cmd"', "printf '%s\\n' \"$cmd\"", 'echo "$(date) starts" >&2\n  echo "$cmd"'])
@pytest.mark.parametrize(
    "runs", ['bash -c "$CMD"', "$CMD &", 'nohup bash -c "exec $CMD" > log 2>&1 &', 'ssh n1 "$CMD"']
)
def test_a_command_that_a_function_says(says: str, runs: str) -> None:
    body = BUILDS.replace("  log() { :; }\n", "")
    (judged,) = ask(f"{body}  {says}\n}}\nCMD=$(build 0.9)\n{runs}\n")
    assert judged.checkpoint is not None
    assert judged.layout is not None
    assert (judged.checkpoint.name, judged.layout.tp) == (A, 8)


def test_a_function_that_does_more_is_not_guessed_at() -> None:
    assert not ask(f'{BUILDS}  cmd=$(tune "$cmd")\n  deploy "$cmd"\n  echo done\n}}\nCMD=$(build 0.9)\n$CMD\n')


def test_a_function_on_one_line() -> None:
    start = "python -m vllm.entrypoints.openai.api_server"
    assert models(f'serve() {{ echo "{start} --model $1 --tensor-parallel-size 8"; }}\nnohup $(serve {A}) &\n') == [A]


def test_a_command_that_a_function_only_shows() -> None:
    start = "python -m vllm.entrypoints.openai.api_server"
    text = f'usage() {{ echo "{start} --model {A} --tensor-parallel-size 8"; }}\nusage | tee how.txt\n'
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
