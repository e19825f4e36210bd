"""A note names a release that has an option and a later one that changed it, in this order.

The options of a candidate are recorded with those of its final release.
"""

from __future__ import annotations

import re

from packaging.version import Version

from tests.unit.explain.judging import ask_one

EXTRA = """cat >/path/extra.yml <<EOF
cuda_graph_config:
  padding_enabled: true
EOF
"""
SERVE = (
    "trtllm-serve serve --backend pytorch --tp_size 16 --ep_size 8 --trust_remote_code"
    " --extra_llm_api_options /path/extra.yml moonshotai/Kimi-K2-Instruct"
)
SAYS = re.compile(r"TensorRT-LLM (\S+) has .*?; from (\S+) on: ")


def test_the_release_that_has_it_comes_before_the_one_that_changed_it() -> None:
    judged = ask_one(f"TensorRT-LLM v1.0.0-rc2\n\n```bash\n{EXTRA}{SERVE}\n```\n", "2x8xH200")
    assert judged.version == "1.0.0rc2"
    said = [match for each in judged.findings if (match := SAYS.search(each.message))]
    assert any("padding_enabled" in match.string for match in said)
    for match in said:
        assert Version(match[1]) < Version(match[2]), match.string
