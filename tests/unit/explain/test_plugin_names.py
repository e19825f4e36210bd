"""Names that the plugin for Ascend NPUs does not have: connectors between two pools, keys of its option."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

NPU = "vllm serve /models/Kimi-K2-W8A8 -tp 16 --quantization ascend"
CUDA = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"
PATH = '"kv_connector_module_path": "vllm_ascend.distributed.mooncake_connector"'


def found(text: str, words: str) -> list[Finding]:
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding for finding in findings if words in f"{finding.where} {finding.message} {finding.remedy}"]


def transfer(name: str, more: str = "") -> str:
    beside = f", {more}" if more else ""
    return f"""--kv-transfer-config '{{"kv_connector": "{name}", "kv_role": "kv_producer"{beside}}}'"""


def several(*names: str) -> str:
    inner = ", ".join(f'{{"kv_connector": "{name}", "kv_role": "kv_producer"}}' for name in names)
    return transfer("MultiConnector", f'"kv_connector_extra_config": {{"connectors": [{inner}]}}')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{NPU} {transfer('MooncakeConnector')}", 'write "kv_connector": "MooncakeConnectorV1"'),
        (f"{NPU} {transfer('MooncakeConnector', PATH)}", "is loaded from 0.13.0rc1 on"),
        (f"# vllm-ascend 0.18.0\n{NPU} {transfer('MooncakeConnector', PATH)}", "is loaded from 0.13.0rc1 on"),
        (f"# vllm-ascend 0.11.0\n{NPU} {transfer('MooncakeConnector')}", "calls its class MooncakeConnectorV1"),
        (f"{NPU} {several('MooncakeConnector', 'AscendStoreConnector')}", "calls its class MooncakeConnectorV1"),
        (f"{NPU} {transfer('MooncakeConnectorv1')}", "has no connector named MooncakeConnectorv1"),
        (f"{NPU} {transfer('MooncakeLayerWiseConnector')}", '"MooncakeLayerwiseConnector"'),
        (f"# vllm-ascend 0.13.0\n{NPU} {transfer('LLMDataDistCMgrConnector')}", "was removed in 0.12.0rc1"),
    ],
)
def test_it_is_not_the_plugins(text: str, words: str) -> None:
    assert [finding.severity for finding in found(text, words)] == [Severity.WARNING]


@pytest.mark.parametrize(
    "text",
    [
        f"{CUDA} {transfer('MooncakeConnector')}",
        f"{NPU} {transfer('MooncakeConnectorV1', PATH)}",
        f"{NPU} {several('MooncakeLayerwiseConnector', 'AscendStoreConnector')}",
        f"{NPU} {transfer('$CONNECTOR')}",
        f"{NPU} {transfer('NixlConnector')}",
        f"{NPU} {transfer('MooncakeStoreConnector')}",
        f"{NPU} {transfer('MyConnector', PATH)}",
        f"# vllm-ascend 0.11.0\n{NPU} {transfer('MooncakeConnector', PATH)}",
        f"# vllm-ascend 0.11.0\n{NPU} {transfer('LLMDataDistCMgrConnector')}",
        f"{NPU} --kv-transfer-config '$KV'",
    ],
)
def test_it_is_one_or_is_not_known(text: str) -> None:
    assert [each for each in found(text, "kv_connector") if "kv_connector_extra_config" not in each.remedy] == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('{"torchair_graph_config": {"enable": true}}', 'has no key "enable"'),
        ('{"ascend_scheduler_config": {"enable": true, "enable_chunked_prefill": false}}', 'write "enabled"'),
        ('{"torchair_graph_config": {"enabled": true, "graph_batch_size": [4]}}', 'write "graph_batch_sizes"'),
        ('{"refresh": true, "weight_prefetch_config": {"enable": true}}', "it stays off"),
    ],
)
def test_a_key_that_is_passed_over(value: str, words: str) -> None:
    assert [finding.severity for finding in found(f"{NPU} --additional-config '{value}'", words)] == [Severity.WARNING]


@pytest.mark.parametrize(
    "value",
    [
        '{"torchair_graph_config": {"enabled": true, "graph_batch_sizes": [4]}}',
        '{"ascend_scheduler_config": {"enabled": true, "max_num_seqs": 8}}',
        '{"ascend_compilation_config": {"enable": true}}',
        '{"another_config": {"enable": true}}',
        '{"torchair_graph_config": {"enable": true, "enabled": true}}',
        '{"torchair_graph_config": true}',
    ],
)
def test_a_key_that_is_read_or_not_known(value: str) -> None:
    assert found(f"{NPU} --additional-config '{value}'", "passed over") == []


@pytest.mark.parametrize(
    ("release", "value", "words"),
    [
        (
            "",
            '{"enable_npugraph_ex": true, "refresh": true}',
            '"ascend_compilation_config": {"enable_npugraph_ex": true}',
        ),
        ("0.18.0", '{"enable_npugraph_ex": false}', '{"enable_npugraph_ex": false}'),
        ("0.18.0", '{"dynamic_eplb": true, "expert_map_path": "/m.json"}', '"eplb_config": {"dynamic_eplb": true}'),
    ],
)
def test_a_key_that_has_moved(release: str, value: str, words: str) -> None:
    text = f"# vllm-ascend {release}\n{NPU}" if release else NPU
    assert [finding.severity for finding in found(f"{text} --additional-config '{value}'", words)] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("release", "value"),
    [
        ("0.13.0", '{"enable_npugraph_ex": true, "dynamic_eplb": true}'),
        ("0.18.0", '{"ascend_compilation_config": {"enable_npugraph_ex": true}}'),
        ("0.18.0", '{"eplb_config": {"dynamic_eplb": true}, "dynamic_eplb": true}'),
        ("0.18.0", '{"multistream_overlap_shared_expert": true}'),
    ],
)
def test_a_key_that_is_where_it_is_read(release: str, value: str) -> None:
    assert found(f"# vllm-ascend {release}\n{NPU} --additional-config '{value}'", "passes over it") == []


def test_in_a_program() -> None:
    text = (
        "from vllm import LLM\n"
        'LLM(model="/m/R1-W8A8", quantization="ascend", '
        'additional_config={"torchair_graph_config": {"enable": True}})\n'
    )
    assert len(found(text, 'has no key "enable"')) == 1


@pytest.mark.parametrize("value", ['{ "eplb_config": {"dynamic_eplb": true}}', '{"recompute_scheduler_enable":true}'])
def test_the_plugin_by_its_option(value: str) -> None:
    (judged,) = judge(read_script(f"vllm serve /models/mine -tp 8 --additional-config '{value}'"), Question())
    assert judged.engine == "vllm-ascend"
