"""Models that a comment names beside `$MODEL`, and one that the person who asks names outside of the catalogue."""

from __future__ import annotations

from moonpad.catalog.calibrations import calibrations
from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from tests.conftest import Moonpad
from tests.unit.explain.judging import ask_one

SERVE = 'vllm serve "$MODEL" --tensor-parallel-size 8 --enable-expert-parallel --max-model-len 131072\n'
COMMENT = "# MiniMax-M3 MXFP4 MI355X (gfx950) single-node vLLM recipe\n"


def test_a_comment_names_model_and_weights() -> None:
    judged = ask_one(COMMENT + SERVE, on="")
    assert "MiniMax-M3-MXFP4 by the text" in judged.unjudged
    assert "--model MODEL" not in judged.unjudged
    assert [each for each in judged.findings if "InferenceX#1964" in each.message]


def test_weights_of_two_forms_leave_the_form_open() -> None:
    judged = ask_one(f"# MiniMax-M3 MXFP4, or MiniMax-M3 NVFP4\n{SERVE}", on="")
    assert "is MiniMax-M3 by the text" in judged.unjudged


def test_two_models_leave_it_open() -> None:
    judged = ask_one(f"# MiniMax-M3 and GLM-5 recipes\n{SERVE}", on="")
    assert judged.unjudged.endswith("name it with --model MODEL")


def test_the_name_that_is_asked_for_counts_where_a_variable_holds_the_model() -> None:
    asked = Question(model="amd/MiniMax-M3-MXFP4")
    (judged,) = judge(read_script(f"# MI355X\n{SERVE}"), asked, calibrations())
    assert judged.model_written == "amd/MiniMax-M3-MXFP4"
    (other,) = judge(read_script(SERVE.replace("$MODEL", "moonshotai/Kimi-K2.5")), asked, calibrations())
    assert other.model_written == "moonshotai/Kimi-K2.5"


def test_such_a_name_is_taken_on_the_command_line(moonpad: Moonpad) -> None:
    done = moonpad("explain", "--model", "amd/MiniMax-M3-MXFP4", "--", "vllm", "serve", "$MODEL", "-tp", "8")
    assert done.code == 0
    assert "MiniMax-M3-MXFP4" in done.stdout
    assert moonpad("explain", "--model", "nobody/nothing", "--", "vllm", "serve", "$MODEL").code == 2


LINK = "https://docs.vllm.ai/projects/recipes/en/latest/moonshotai/Kimi-K2.5.html"


def test_a_recipe_that_is_reused_names_neither_these_devices_nor_other_weights() -> None:
    text = f"# there is no recipe for B300, so this script reuses the\n# Kimi-K2.5 FP4 B200 recipe ({LINK}) on B300.\n"
    judged = ask_one(f"{text}vllm serve $MODEL --tensor-parallel-size 8 --max-model-len 131072", on="")
    assert judged.cluster is not None
    assert judged.cluster.name == "8xB300"
    assert judged.checkpoint is None
    assert "weights are not FP4" in judged.unjudged


def test_a_recipe_for_these_devices_names_them() -> None:
    judged = ask_one("# Kimi-K2.5 NVFP4 B200 recipe\nvllm serve $MODEL --tensor-parallel-size 8", on="")
    assert judged.cluster is not None
    assert judged.cluster.name == "8xB200"
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "nvidia/Kimi-K2.5-NVFP4"
