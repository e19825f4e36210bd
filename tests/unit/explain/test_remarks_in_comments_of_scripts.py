"""A comment on a setting says what it is for: neither which release is asked for, nor which side of a pair it is."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask_one

START = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code"
SETS = "export HIP_VISIBLE_DEVICES=0,1,2,3,4,5,6,7"


@pytest.mark.parametrize("comment", ["# visibility for vLLM 0.14+", "# the new names of vLLM 0.14+"])
def test_the_first_release_that_reads_a_setting_is_not_asked_for(comment: str) -> None:
    assert read_script(f"```bash\n{comment}\n{SETS}\n{START}\n```\n").minimum_versions == {}


@pytest.mark.parametrize(
    "text",
    [
        f"# Kimi on vLLM 0.16+\n\n```bash\n{START}\n```\n",
        f"```bash\n# requires vLLM 0.16+\n{START}\n```\n",
        f"```bash\n# tested with vLLM 0.16+\n{START}\n```\n",
        f"```bash\n# Kimi on vLLM 0.16+\n# one machine\n{START}\n```\n",
    ],
)
def test_what_a_text_asks_for_is_read(text: str) -> None:
    assert read_script(text).minimum_versions == {"vllm": "0.16"}


@pytest.mark.parametrize("comment", ["# the largest decode-side lever", "# prefill-side memory"])
def test_a_remark_on_one_side_is_not_the_role(comment: str) -> None:
    assert ask_one(f"```bash\n{comment}\n{START}\n```\n").kind == "serve"


@pytest.mark.parametrize("comment", ["# decode side", "# decode-side server", "# start the decode side first"])
def test_a_side_is_the_role(comment: str) -> None:
    assert ask_one(f"```bash\n{comment}\n{START}\n```\n").kind == "decode"
