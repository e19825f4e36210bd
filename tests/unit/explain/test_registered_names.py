"""Names that an engine looks up when it starts, by release."""

from __future__ import annotations

import pytest

from moonpad.catalog.registered_names import registers
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.versions import order
from tests.unit.explain.judging import ask, ask_one

K25 = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code "
TRANSFER = """--kv-transfer-config '{"kv_connector":"%s","kv_role":"kv_both"}'"""
DRAFT = """--speculative-config '{"method":"%s","model":"me/draft","num_speculative_tokens":3}'"""


def told(text: str, version: str) -> list[Finding]:
    judged = ask_one(text, version=version)
    return [each for each in judged.findings if each.code is Code.INVALID_VALUE and " named " in each.message]


@pytest.mark.parametrize(
    ("text", "version", "part", "remedy", "severity"),
    [
        (TRANSFER % "P2pNcclConnector", "0.28.0", "0.23.0 is the last", "write NixlConnector", Severity.ERROR),
        (TRANSFER % "SharedStorageConnector", "0.20.2", "0.12.0 is the last", "write ExampleConnector", Severity.ERROR),
        (TRANSFER % "MooncakeStoreConnector", "0.19.1", "0.21.0 has it", "take 0.21.0 or later", Severity.ERROR),
        (
            TRANSFER % "NixlConnectr",
            "0.19.1",
            "vLLM 0.19.1 has no KV connector",
            "write NixlConnector",
            Severity.WARNING,
        ),
        (TRANSFER % "LMCacheConnector", "0.19.1", "no KV connector", "write LMCacheConnectorV1", Severity.WARNING),
        (DRAFT % "dflash", "0.17.1", "0.20.0 has it", "take 0.20.0 or later", Severity.ERROR),
        (DRAFT % "dspark", "0.23.0", "0.25.1 has it", "take 0.25.1 or later", Severity.ERROR),
        (DRAFT % "EAGLE3", "0.23.0", "no speculative method", "write eagle3", Severity.ERROR),
        (DRAFT % "medusa", "0.33.0", "0.32.0 is the last", "name a method", Severity.ERROR),
        (
            """--kernel-config '{"moe_backend":"flydsl"}'""",
            "0.22.1",
            "0.24.0 has it",
            "take 0.24.0 or later",
            Severity.ERROR,
        ),
        (
            """--kernel-config '{"linear_backend":"marlinn"}'""",
            "0.28.0",
            "no backend of linear layers",
            "write MARLIN",
            Severity.ERROR,
        ),
        (
            DRAFT.replace("3}", '3,"attention_backend":"FLASH_ATN"}') % "eagle3",
            "0.28.0",
            "no attention backend",
            "write FLASH_ATTN",
            Severity.ERROR,
        ),
        (
            """--compilation-config '{"mode":"VLLM_COMPILES"}'""",
            "0.28.0",
            "no compilation mode",
            "write VLLM_COMPILE",
            Severity.ERROR,
        ),
        (
            """--pooler-config '{"pooling_type":"AVERAGE"}'""",
            "0.28.0",
            "no pooling named AVERAGE",
            "write LAST",
            Severity.ERROR,
        ),
        ("--attention-backend FLASHMLA_VLLM_V1", "0.22.1", "no attention backend", "write FLASHMLA", Severity.ERROR),
        (
            "--attention-backend FLASHMLA_SPARS",
            "0.22.1",
            "no attention backend",
            "write FLASHMLA_SPARSE",
            Severity.ERROR,
        ),
        ("--attention-backend TREE_ATTN", "0.22.1", "0.20.2 is the last", "write FLASH_ATTN", Severity.ERROR),
        ("--attention-backend TOKENSPEED_MLA", "0.20.0", "0.21.0 has it", "take 0.21.0 or later", Severity.ERROR),
        ("--load-format fastsafetensor", "0.28.0", "no load format", "write fastsafetensors", Severity.WARNING),
        ("--load-format instanttensor", "0.16.0", "0.18.0 has it", "take 0.18.0 or later", Severity.WARNING),
        (
            DRAFT.replace("3}", '3,"rejection_sample_method":"strict"}') % "eagle3",
            "0.28.0",
            "has no rejection_sample_method named strict: 0.20.2 is the last",
            "write standard",
            Severity.ERROR,
        ),
        (
            """--compilation-config '{"cudagraph_mode":"FULL_ONLY"}'""",
            "0.28.0",
            "no cudagraph_mode",
            "write FULL",
            Severity.ERROR,
        ),
        ("--structured-outputs-config.backend lmformat", "0.28.0", "structured outputs", "write", Severity.ERROR),
        ("--attention-backend NOTHING_OF_THIS_KIND", "", "no attention backend", "leave it out", Severity.WARNING),
    ],
)
def test_a_name_that_the_release_does_not_have(
    text: str, version: str, part: str, remedy: str, severity: Severity
) -> None:
    (finding,) = told(K25 + text, version)
    assert part in finding.message
    assert finding.remedy.startswith(remedy)
    assert finding.severity is severity


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (TRANSFER % "NixlConnector", "0.28.0"),
        (TRANSFER % "P2pNcclConnector", "0.23.0"),
        (TRANSFER % "P2pNcclConnector", ""),
        (TRANSFER % "MyConnector", "0.9.2"),
        (TRANSFER % "MyConnector", "0.99.0"),
        (TRANSFER % "$CONNECTOR", "0.28.0"),
        (
            """--kv-transfer-config '{"kv_connector":"MyConnector","kv_connector_module_path":"my.module"}'""",
            "0.28.0",
        ),
        (DRAFT % "dflash", "0.20.0"),
        (DRAFT % "dspark", "0.25.0"),
        (DRAFT % "dspark", "0.24.1.dev3"),
        (DRAFT % "eagle3", "0.28.0"),
        ('--speculative-config \'{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":4}\'', "0.28.0"),
        ("--attention-backend flashmla", "0.28.0"),
        ("--attention-backend auto", "0.28.0"),
        ("--attention-backend CUSTOM", "0.28.0"),
        ("--attention-backend XFORMERS", "0.13.0"),
        ("--load-format runai_streamer", "0.28.0"),
        ("""--compilation-config '{"cudagraph_mode":"full_and_piecewise"}'""", "0.28.0"),
        ("""--compilation-config '{"cudagraph_mode":2}'""", "0.28.0"),
        ("-O3", "0.28.0"),
        ("", "0.28.0"),
    ],
)
def test_a_name_that_it_has_or_that_is_not_known(text: str, version: str) -> None:
    assert not told(K25 + text, version)


def test_connectors_inside_of_one() -> None:
    inner = '{"kv_connector":"NixlConnector","kv_role":"kv_both"},{"kv_connector":"%s","kv_role":"kv_both"}'
    outer = """--kv-transfer-config '{"kv_connector":"MultiConnector","kv_role":"kv_both",%s}'"""
    text = outer % ('"kv_connector_extra_config":{"connectors":[' + inner + "]}")
    (finding,) = told(K25 + text % "SharedStorageConnector", "0.28.0")
    assert finding.remedy == "write ExampleConnector"
    assert not told(K25 + text % "OffloadingConnector", "0.28.0")
    assert not told(K25 + text % "$INNER", "0.28.0")


def test_another_engine_has_names_of_its_own() -> None:
    text = "sglang serve --model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code --load-format something"
    assert not told(text, "0.5.12")


@pytest.mark.parametrize("key", registers())
def test_each_register_is_in_order(key: str) -> None:
    row = registers()[key]
    assert list(row.read) == sorted(row.read, key=order)
    assert not set(row.always) & row.spans.keys()
    for first, last in row.spans.values():
        assert {first, last} <= {*row.read}
        assert order(first) <= order(last)
    assert all(row.span(name) for name in row.instead.values())


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("export PYTHONPATH=/opt/my-vllm:/opt/my-kernels\n", Severity.NOTE),
        ("", Severity.WARNING),
    ],
)
def test_sources_of_ones_own_may_bring_a_backend(before: str, expected: Severity) -> None:
    text = f"{before}vllm serve moonshotai/Kimi-K3 -tp 8 --attention-backend MYKERNEL_MLA\n"
    found = [each for judged in ask(text) for each in judged.findings if "MYKERNEL_MLA" in each.message]
    assert [each.severity for each in found] == [expected]


def test_a_release_that_is_named_has_no_such_backend_whatever_is_laid_over_it() -> None:
    text = (
        "# vLLM 0.28.0\nexport PYTHONPATH=/opt/kernels\nvllm serve moonshotai/Kimi-K3 -tp 8 --attention-backend MINE\n"
    )
    found = [each for judged in ask(text) for each in judged.findings if "named MINE" in each.message]
    assert [each.severity for each in found] != [Severity.NOTE]
