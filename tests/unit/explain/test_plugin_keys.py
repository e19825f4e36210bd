"""Keys of --additional-config by release of the plugin for Ascend NPUs, and variables that a key has replaced."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest

from moonpad.catalog.options import known_environment, values_of, versions
from moonpad.catalog.options.config_keys import (
    config_key,
    ends_at_unknown,
    key_history,
    key_of_variable,
    key_releases,
    key_tables,
    keys_of,
)
from moonpad.engines import ascend_names as names
from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask

NPU = "vllm serve /models/Kimi-K2-W8A8 -tp 16 --quantization ascend"
OPTION = "--additional-config"
PLUGIN = "vllm-ascend"


def found(release: str, value: str, more: str = "") -> list[Finding]:
    head = f"# vllm-ascend {release}\n" if release else ""
    judged = ask(f"{head}{NPU} {more} {OPTION} '{value}'")
    findings = [finding for each in judged for finding in each.findings if finding.where == OPTION]
    return [finding for finding in findings if re.search(r"\bread|has no key|reads", finding.message)]


@pytest.mark.parametrize(
    ("release", "value", "severity", "code", "words"),
    [
        # ascend_config.py: AscendConfig of 0.11.0 has the table, that of 0.12.0rc1 has not.
        ("0.13.0", '{"torchair_graph_config": {"enabled": true}}', Severity.WARNING, Code.REMOVED_FLAG,
         'vLLM-Ascend 0.13.0 does not read "torchair_graph_config", which 0.9.1rc1 to 0.11.0 do'),
        ("0.13.0", '{"torchair_graph_config": {"enabled": false}}', Severity.NOTE, Code.REMOVED_FLAG, "leave it out"),
        ("0.18.0", '{"enable_flashcomm1": true}', Severity.WARNING, Code.UNKNOWN_FLAG, "or take 0.20.2rc1 or newer"),
        ("0.23.0", '{"enable_sparse_c8": true}', Severity.WARNING, Code.REMOVED_FLAG,
         "which has become enable_sparse_sfa_c8 and enable_sparse_li_c8"),
        ("0.25.1rc1", '{"num_wait_worker_iterations": 30}', Severity.WARNING, Code.REMOVED_FLAG,
         'write "eplb_config": {"algorithm_execution_interval": 30}'),
        ("0.24.0rc1", '{"scheduler_config": {"recompute_scheduler_enable": true}}', Severity.WARNING, Code.UNKNOWN_FLAG,
         'does not read "scheduler_config"'),
        ("0.23.0", '{"npugraph_ex_config": {"enable": true}}', Severity.WARNING, Code.REMOVED_FLAG,
         "ascend_compilation_config"),
        ("0.18.0", '{"my_own_key": 1}', Severity.NOTE, Code.UNKNOWN_FLAG, "nor does another release"),
        # From 0.14.0rc1 on EplbConfig refuses keys that it has not; from 0.27.1rc1 on AscendConfig does.
        ("0.18.0", '{"eplb_config": {"gate_eplb": true}}', Severity.ERROR, Code.UNKNOWN_FLAG, "the start ends"),
        ("0.18.0", '{"eplb_config": {"num_redundant_expert": 8}}', Severity.ERROR, Code.INVALID_VALUE,
         'write "num_redundant_experts"'),
        ("0.30.0rc2", '{"torchair_graph_config": {"enabled": false}}', Severity.ERROR, Code.REMOVED_FLAG,
         "which 0.9.1rc1 to 0.11.0 do: the start ends"),
        ("0.30.0rc2", '{"weight_prefetch_config": {"enabled": true}}', Severity.ERROR, Code.REMOVED_FLAG,
         "the start ends"),
        ("0.30.0rc2", '{"dynamic_eplb": true}', Severity.ERROR, Code.REMOVED_FLAG,
         "from 0.13.0rc2 on, and here it ends the start of 0.30.0rc2"),
        ("0.30.0rc2", '{"my_own_key": 1}', Severity.ERROR, Code.UNKNOWN_FLAG, "the start ends"),
        ("0.30.0rc2", '{"ascend_compilation_config": {"enable": true}}', Severity.ERROR, Code.UNKNOWN_FLAG,
         "in ascend_compilation_config: the start ends"),
        ("", '{"torchair_graph_config": {"enabled": true}}', Severity.WARNING, Code.REMOVED_FLAG, "0.9.1rc1 to 0.11.0"),
    ],
)  # fmt: skip
def test_a_key_that_the_release_does_not_have(
    release: str, value: str, severity: Severity, code: Code, words: str
) -> None:
    (finding,) = found(release, value)
    assert (finding.severity, finding.code) == (severity, code)
    assert words in f"{finding.message}; {finding.remedy}"


@pytest.mark.parametrize(
    ("release", "value"),
    [
        ("0.11.0", '{"torchair_graph_config": {"mode": "x"}, "ascend_scheduler_config": {"enabled": true, "x": 1}}'),
        ("0.11.0", '{"lmhead_tensor_parallel_size": 8, "refresh": true}'),
        ("0.23.0", '{"enable_sparse_sfa_c8": true, "enable_flashcomm1": true, "weight_nz_mode": 2}'),
        ("0.25.1rc1", '{"profiling_chunk_config": {"enabled": false, "min_chunk": 4096}}'),
        ("0.26.0rc1", '{"scheduler_config": {"profiling_chunk_config": {"enabled": false}}, "mc2_comm_alg": ""}'),
        ("0.30.0rc2", '{"enable_flashcomm1": true, "dump_config": {"task": "x"}, "scheduler_config": {}}'),
        ("0.30.0rc2", '{"recompute_scheduler_enable": false, "rl_config": {"enabled": true}}'),
    ],
)
def test_a_key_that_it_has(release: str, value: str) -> None:
    assert found(release, value) == []


def test_a_release_that_is_not_recorded_is_not_judged_by_one_neighbour() -> None:
    """`scheduler_config` came between these two, and 0.24.0 itself was not read."""
    assert "0.24.0" not in versions(PLUGIN)
    assert found("0.24.0", '{"scheduler_config": {"recompute_scheduler_enable": false}}') == []
    (finding,) = found("0.27.1", '{"torchair_graph_config": {"enabled": true}}')
    assert finding.severity is Severity.WARNING, "that it was refused by a candidate says nothing sure of the release"


def test_keys_with_dots() -> None:
    judged = ask(f"# vllm-ascend 0.18.0\n{NPU} {OPTION}.eplb_config.gate_eplb true {OPTION}.enable_cpu_binding true")
    findings = [finding for each in judged for finding in each.findings if "gate_eplb" in finding.message]
    assert [finding.severity for finding in findings] == [Severity.ERROR]


def test_another_plugin_reads_keys_of_its_own() -> None:
    (finding,) = found("0.30.0rc2", '{"my_own_key": 1}', "--omni")
    assert finding.severity is Severity.WARNING


def test_all_keys_are_told_of() -> None:
    value = '{"torchair_graph_config": {"enabled": true}, "gate_eplb": true, "lmhead_tp_size": 8}'
    assert len(found("0.26.0rc1", value)) == 3


@pytest.mark.parametrize(
    ("release", "name", "words"),
    [
        ("0.30.0rc2", "VLLM_ASCEND_ENABLE_FUSED_MC2", "write enable_fused_mc2 in --additional-config"),
        ("0.30.0rc2", "VLLM_ASCEND_BALANCE_SCHEDULING", "write scheduler_config.enable_balance_scheduling in"),
        ("0.26.0rc1", "VLLM_ASCEND_ENABLE_MATMUL_ALLREDUCE", "with this release leave it out"),
        ("0.9.1", "VLLM_ASCEND_ENABLE_FLASHCOMM1", "with this release leave it out"),
        ("0.13.0", "VLLM_ASCEND_ENABLE_DBO", "leave it out"),
    ],
)
def test_a_variable_of_other_releases(release: str, name: str, words: str) -> None:
    judged = ask(f"# vllm-ascend {release}\nexport {name}=1\n{NPU}")
    (finding,) = [each for one in judged for each in one.findings if each.code is Code.DEAD_ENV]
    assert (finding.where, finding.severity) == (name, Severity.NOTE if "leave" in words else Severity.WARNING)
    assert words in finding.remedy


def test_what_is_recorded() -> None:
    assert key_releases(PLUGIN) == versions(PLUGIN)
    assert len(versions(PLUGIN)) >= 39
    assert set(names.RENAMED_KEYS) & set(key_tables(PLUGIN)[OPTION])
    for former, now in names.RENAMED_KEYS.items():
        table, _, key = f"{OPTION}.{former}".rpartition(".")
        assert key_history(PLUGIN, table, key), former
        table, _, key = f"{OPTION}.{now}".rpartition(".")
        assert key_history(PLUGIN, table, key), now
    known = config_key(PLUGIN, OPTION, "torchair_graph_config", "0.12.0rc1")
    assert known is not None
    assert (known.known, known.first, known.last) == (False, "0.9.1rc1", "0.11.0")
    assert config_key(PLUGIN, f"{OPTION}.torchair_graph_config", "enabled", "0.12.0rc1") is None, "no such table"
    assert config_key(PLUGIN, "--attention-config", "backend", "0.30.0rc2") is not None, "that of the base"
    assert "enabled" in keys_of(PLUGIN, f"{OPTION}.xlite_graph_config", "0.12.0rc1")
    assert [ends_at_unknown(PLUGIN, OPTION, version) for version in ("0.26.0rc1", "0.27.1rc1")] == [False, True]
    assert ends_at_unknown(PLUGIN, f"{OPTION}.eplb_config", "0.14.0rc1")
    assert not ends_at_unknown(PLUGIN, f"{OPTION}.eplb_config", "0.13.0")
    assert key_of_variable(PLUGIN, "VLLM_ASCEND_ENABLE_MLAPO", "0.30.0rc2") == f"{OPTION}.enable_mlapo"
    assert key_of_variable(PLUGIN, "VLLM_ASCEND_ENABLE_MLAPO", "0.18.0") == ""
    assert key_of_variable("vllm serve", "VLLM_ASCEND_ENABLE_MLAPO", "0.30.0") == ""


def test_what_is_recorded_of_names() -> None:
    assert "VLLM_ASCEND_ENABLE_MLAPO" in known_environment(PLUGIN, "0.26.0rc1")
    assert "VLLM_ASCEND_ENABLE_MLAPO" not in known_environment(PLUGIN, "0.27.1rc1")
    assert "MooncakeConnectorV1" in values_of(PLUGIN, "0.10.1rc1", "kv_connector")
    assert "MooncakeConnectorV1" not in values_of(PLUGIN, "0.10.0rc1", "kv_connector")
    for older, newer in pairwise(versions(PLUGIN)):
        gone = set(values_of(PLUGIN, older, "kv_connector")) - set(values_of(PLUGIN, newer, "kv_connector"))
        assert newer == "0.9.2rc1" or len(gone) < 3, json.dumps(sorted(gone))


def test_releases_between_pass_a_key_over() -> None:
    text = "vllm serve /w/Kimi-K2.5-w4a8 --quantization ascend -tp 16 --additional-config "
    text += """'{"torchair_graph_config": {"enabled": false}}'"""

    def told(version: str) -> str:
        (judged,) = ask(text, on="16xA3", version=version)
        return " ".join(each.message for each in judged.findings if "torchair_graph_config" in each.message)

    assert "from 0.27.1rc1 on the start ends" in told("")
    assert "the start ends" not in told("0.14.0rc1")
    assert told("0.27.1rc1").endswith(": the start ends")
