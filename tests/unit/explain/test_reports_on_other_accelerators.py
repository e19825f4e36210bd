"""Reports on Ascend, Gaudi, Intel and AMD: which engine and release run, on what, and what a word is no sign of."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask, ask_one, devices, refused

SERVE = "```\nvllm serve /weights/Qwen3-32B --tensor-parallel-size 4 --port 8010\n```\n"
ON_ASCEND = f"Eight 910B3 cards with CANN 8.5.\n\n{SERVE}"


@pytest.mark.parametrize(
    ("title", "release"),
    [
        ("# [Bug]: 0.17.0rc1用tp8启动Qwen3-32B报错", "0.17.0rc1"),
        ("# [Bug]: A2单机8卡 使用v0.18.0启动时出现错误", "0.18.0"),
        ("# [Usage]: use v0.11.0rc0 start Qwen3-32B failed, according to the guide", "0.11.0rc0"),
        ("# vllm-ascend0.10.2rc1 - A3 - TP4 起服务报错", "0.10.2rc1"),
        ("# [Bug]: 910B部署vllm0.18.0+qwen3-32b起不来", "0.18.0"),
    ],
)
def test_a_title_names_the_release(title: str, release: str) -> None:
    judged = ask_one(f"{title}\n\n{ON_ASCEND}", on="")
    assert (judged.engine, judged.version) == ("vllm-ascend", release)


@pytest.mark.parametrize(
    "title",
    [
        "# [Bug]: slow since 0.17.0rc1",
        "# [Bug]: works with v0.17.0rc1, hangs on main",
        "# [Bug]: 从0.17.0rc1升级后报错",
        "# [Bug]: LMCache 0.17.0 does not load",
        "# [Bug]: 0.17.0rc1 and 0.18.0 stop",
    ],
)
def test_a_title_that_does_not_say_which_release_runs(title: str) -> None:
    judged = ask_one(f"{title}\n\n{ON_ASCEND}", on="")
    assert judged.engine == "vllm-ascend"
    assert judged.version_because.startswith("none is named")


def test_the_plugin_that_a_log_lists_is_the_engine() -> None:
    log = "INFO 11-19 07:25:35 [__init__.py:38] - ascend -> vllm_ascend:register\n"
    text = f"docker run --name vllm11.1 -it $IMAGE bash\n\n# vllm serve /data/Qwen3-8B --port 8100\n\n{log}"
    assert [each.engine for each in ask(text) if each.engine != "docker"] == ["vllm-ascend"]


GAUDI = "# vLLM on Gaudi 3\n\n```\nexport HCCL_SOCKET_IFNAME=eth1\nvllm serve my/Model --tensor-parallel-size 16\n```\n"


def test_a_variable_that_two_makers_read_is_no_sign_of_one() -> None:
    assert ask_one(GAUDI, on="").engine == "vllm"
    assert ask_one(GAUDI.replace("Gaudi 3", "Atlas 800"), on="").engine == "vllm-ascend"


@pytest.mark.parametrize("end", ["--c", "--co"])
def test_the_beginning_of_an_option_at_the_end_of_a_text_is_cut_off(end: str) -> None:
    text = f"启动服务的命令如下：\n\nvllm serve /home/model/Qwen3-8B \\\n  --tensor-parallel-size 2 \\\n  {end}"
    judged = ask_one(text, on="2xA2")
    assert not refused(judged)


@pytest.mark.parametrize("name", ["deepseek-r1:1.5b", "DeepSeek-R1 32B", "deepseek-r1-7b"])
def test_a_small_model_is_not_the_one_that_it_learnt_from(name: str) -> None:
    judged = ask_one(f"The model is {name}.\n\n```\nvllm serve /data/models --port 8100\n```\n", on="1xH200")
    assert judged.memory is None


@pytest.mark.parametrize("name", ["deepseek-r1:671b", "DeepSeek-R1"])
def test_the_whole_model_is_meant(name: str) -> None:
    judged = ask_one(f"The model is {name}.\n\n```\nvllm serve /data/models --port 8100\n```\n", on="8xH200")
    assert judged.memory is not None


def test_devices_on_which_it_works_are_not_those_of_the_report() -> None:
    said = "It works fine on A10, and mi300x. However, with the Intel Arc Pro B60 the start fails."
    judged = ask_one(f"# Failed to serve on Intel Arc Pro B60\n\n{said}\n\n{SERVE}", on="")
    assert "A10" not in devices(judged)
    judged = ask_one(f"# Our guide\n\nIt works fine on A10.\n\n{SERVE}", on="")
    assert "A10" in devices(judged)


@pytest.mark.parametrize(("release", "has"), [("0.13.0rc3", True), ("0.13.0", False), ("0.18.0", False)])
def test_a_candidate_of_a_plugin_may_have_a_class_of_its_own(release: str, has: bool) -> None:
    serve = "vllm serve /models/DeepSeek-V4-Flash-w8a8-mtp --quantization ascend --tensor-parallel-size 8"
    judged = ask_one(f"docker run --rm quay.io/ascend/vllm-ascend:v{release} {serve}", on="8xA2")
    assert any("has no class for" in finding.message for finding in judged.findings) is not has


def test_a_quote_within_a_quote_is_no_redirection() -> None:
    text = "> > vllm serve /models/Qwen3-32B --tensor-parallel-size 4\n> > This set works.\n>\n> Thanks!\n"
    (command,) = read_script(text).commands
    assert command.program == "vllm serve"


def test_a_former_option_is_not_the_beginning_of_one_that_came_later() -> None:
    judged = ask_one("vllm serve my/Model --device npu --tensor-parallel-size 8", on="8xA2", version="0.30.0rc2")
    (said,) = [finding for finding in judged.findings if finding.where == "--device"]
    assert "has no --device any more" in said.message
    assert said.remedy.startswith("leave it out")


BLANK = 'local_ip=""\n\nvllm serve my/Model --data-parallel-size 2 --data-parallel-address $local_ip --port 8010\n'


def test_an_address_that_a_document_leaves_out_is_no_error() -> None:
    judged = ask_one(f"# Our start\n\n```sh\n{BLANK}```\n", version="0.11.0")
    assert not refused(judged)
    assert any("local_ip is set to nothing" in finding.message for finding in judged.findings)


def test_in_a_script_it_is() -> None:
    assert refused(ask_one(f"#!/bin/bash\n{BLANK}", version="0.11.0"))
