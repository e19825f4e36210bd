"""Lines of Python that a shell feeds to a program: the text is a shell's all the same."""

from __future__ import annotations

import pytest

from moonpad.explain.python.signs import is_python
from tests.unit.explain.judging import only_server

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code"


@pytest.mark.parametrize(
    "text",
    [
        f"$SSH_CMD \"$h\" << 'EOF'\n  {SERVE}\n  cat > k.py << 'K'\nimport sys\nK\nEOF\n",
        f'for h in $HOSTS; do\nrun_on "$h" <<\'REMOTE\'\npython3 -c "\nimport torch\n"\n  {SERVE}\nREMOTE\ndone\n',
        f'run_on "$h" <<-END\nfrom os import path\n\tEND\n$ON_HOST "$h" << \'EOF\'\n  {SERVE}\nEOF\n',
    ],
)
def test_the_start_in_it_is_found(text: str) -> None:
    judged = only_server(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nsubprocess.run('cat << EOF', shell=True)\n",
        "cat << EOF\n1\nEOF\nimport sys\n",
        "x = 1 << n\nimport sys\n",
    ],
)
def test_signs_outside_of_what_is_fed_count(text: str) -> None:
    assert is_python(text)
