"""What `moonpad render --to shell` writes, whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from moonpad.plan.from_spec import engine_of, make_plan, runtime_of
from moonpad.render.shell import render_shell
from moonpad.spec.load import load_spec, parse_spec
from moonpad.spec.schema import Spec

EXAMPLE = Path(__file__).parents[2] / "examples" / "tiny.toml"

EXPOSED = """
model = "/models/Kimi-K2-Instruct"
engine = "vllm-cpu"
served_name = "it's $(touch pwned)"

[endpoint]
port = 9000
expose = true
api_key_env = "MY_KEY"

[layout]
tp = 2

[settings]
max_model_len = 8192
kv_cache_gib = 4
extra_args = ["--seed", "7"]
"""


@pytest.mark.parametrize(
    ("name", "spec"),
    [("tiny", load_spec(EXAMPLE).spec), ("exposed", parse_spec(EXPOSED, name="exposed"))],
    ids=["tiny", "exposed"],
)
def test_shell(name: str, spec: Spec, golden: Callable[[str, str], None]) -> None:
    files = render_shell(engine_of(spec).processes(make_plan(spec, 18_340_400), runtime_of(spec)))
    assert list(files) == ["node-0/run.sh"]
    golden(f"shell/{name}/node-0/run.sh", files["node-0/run.sh"].text)
