"""Variables of vLLM-Ascend that became keys of --additional-config: switches are true or false, modes stay numbers
(the migration table of its additional_config.md)."""

import json

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "vllm serve Eco-Tech/Kimi-K2.7-Code-w4a8 --quantization ascend --tensor-parallel-size 8 --data-parallel-size 2"


@pytest.mark.parametrize(
    ("variable", "key", "value"),
    [
        ("VLLM_ASCEND_ENABLE_FUSED_MC2=1", "enable_fused_mc2", 1),
        ("VLLM_ASCEND_ENABLE_NZ=2", "weight_nz_mode", 2),
        ("VLLM_ASCEND_ENABLE_MLAPO=1", "enable_mlapo", True),
    ],
)
def test_kind_of_value(variable: str, key: str, value: object) -> None:
    command = f"{variable} {SERVE} --enable-expert-parallel --trust-remote-code"
    judged = ask_one(command, on="16xA3", version="0.30.0rc2")
    (line,) = judged.corrected
    given = json.loads(line.argv[line.argv.index("--additional-config") + 1])[key]
    assert (given, type(given)) == (value, type(value))
    assert variable.partition("=")[0] not in line.env
