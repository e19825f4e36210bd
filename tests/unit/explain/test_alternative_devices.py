"""Devices of which any will do, and names of machines in small letters."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask, ask_one

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code --max-model-len 262144"


@pytest.mark.parametrize(
    "named", ["8x H100/H200/B200", "8x H100, H200 or B200", "8x H100 or 8x B200", "8x H100、H200", "8x H100 或 H200"]
)
def test_what_fits_on_one_of_them_is_no_error(named: str) -> None:
    (judged,) = ask(f"# runs on {named}\n{SERVE}")
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH100"
    assert "which the text names beside it, it fits" in verdict(judged)[0]


def test_a_kernel_that_one_of_them_lacks_is_told_with_it() -> None:
    named = "# runs on 8x H100 or 8x B200\n"
    (judged,) = ask(f"{named}{SERVE} --attention-backend FLASHMLA")
    assert "it fits, but there attention_backend FLASHMLA does not decode MLA" in verdict(judged)[0]
    (plain,) = ask(f"{named}{SERVE}")
    assert "but there" not in verdict(plain)[0]


@pytest.mark.parametrize("named", ["8x H100", "8x H100, and another team has a B200", "8x H100/A100"])
def test_what_fits_on_none_is_an_error(named: str) -> None:
    (judged,) = ask(f"# runs on {named}\n{SERVE}")
    assert verdict(judged)[0].startswith("Does not fit")


def test_devices_that_are_asked_for_are_those() -> None:
    assert verdict(ask_one(f"# 8x H100/H200\n{SERVE}", "8xH100"))[0].startswith("Does not fit")


@pytest.mark.parametrize(
    ("written", "cluster"), [("dgx h200", "8xH200"), ("a HGX b200 here", "8xB200"), ("DGX H100", "8xH100")]
)
def test_machines_in_small_letters(written: str, cluster: str) -> None:
    (judged,) = ask(f"{SERVE}\n# host: {written}")
    assert judged.cluster is not None
    assert judged.cluster.name == cluster


def test_a_branch_called_like_a_device_is_none() -> None:
    (judged,) = ask(f"{SERVE}\n# git checkout h200 && git pull")
    assert judged.cluster is None
