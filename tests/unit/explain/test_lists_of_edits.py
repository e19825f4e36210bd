"""A list of flags below a comment on a file that is to be edited changes what was listed before, and nothing else."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

HEAD = "vLLM 0.11.2, moonshotai/Kimi-K2-Thinking on 8x H100 80GB\n\n"
LISTED = "**Settings:**\n- `--max-model-len 12288`\n- `--max-num-seqs 4`\n- `--gpu-memory-utilization 0.95`\n\n"
WHOLE = (
    "```bash\nvllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code --max-model-len 12288"
    " --gpu-memory-utilization 0.95\n```\n\n"
)
EDITS = "For shorter context:\n```bash\n{comment}\n--max-model-len 8192\n--max-num-seqs 8\n```\n"


def last(text: str) -> Judged:
    return ask(HEAD + text)[-1]


def settings(judged: Judged) -> tuple[object, ...]:
    assert judged.settings is not None
    return tuple(getattr(judged.settings, name) for name in ("max_model_len", "max_num_seqs", "gpu_memory_utilization"))


@pytest.mark.parametrize("before", [LISTED, WHOLE])
@pytest.mark.parametrize(
    "comment", ["# Edit launch_kimi_k2.sh", "# Change in ./scripts/start.sh:", "# In vllm.service"]
)
def test_what_is_not_changed_stays(before: str, comment: str) -> None:
    judged = last(before + EDITS.format(comment=comment))
    assert settings(judged) == (8192, 8, 0.95)
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize("comment", ["# or", "# for short prompts", "# see launch_kimi_k2.sh for more"])
def test_another_list_is_its_own(comment: str) -> None:
    assert settings(last(LISTED + EDITS.format(comment=comment))) == (8192, 8, None)


def test_each_edit_is_of_the_file_and_not_of_the_edit_before() -> None:
    one = "```bash\n# Edit launch.sh\n--max-model-len 8192\n--max-num-seqs 8\n```\n\n"
    two = "```bash\n# Edit launch.sh\n--max-model-len 4096\n--max-num-batched-tokens 4096\n```\n"
    assert settings(last(LISTED + one + two)) == (4096, 4, 0.95)
