"""Fewer ranks for decode than for prefill, where the cache goes over by NIXL."""

from __future__ import annotations

from tests.unit.explain.judging import ask

TRANSFER = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""


def said(prefill: int, decode: int, version: str = "0.12.0", transfer: str = TRANSFER) -> list[str]:
    text = (
        f"# prefill\nvllm serve deepseek-ai/DeepSeek-R1 -tp {prefill} --port 8100 {transfer}\n"
        f"# decode\nvllm serve deepseek-ai/DeepSeek-R1 --tensor-parallel-size {decode} --port 8200 {transfer}\n"
    )
    found = [finding for judgement in ask(text, "8xH200", version) for finding in judgement.findings]
    return [finding.message for finding in found if "Decode TP cannot be smaller" in finding.message]


def test_fewer_ranks_for_decode_are_told_once() -> None:
    (message,) = said(8, 4)
    assert "4 ranks" in message
    assert "8 for prefill" in message


def test_as_many_or_more_are_fine() -> None:
    assert not said(4, 4)
    assert not said(4, 8)


def test_later_releases_take_fewer() -> None:
    assert not said(8, 4, "0.14.0")
    assert not said(8, 4, "")


def test_another_connector_is_not_judged() -> None:
    transfer = """--kv-transfer-config '{"kv_connector":"MooncakeConnector","kv_role":"kv_both"}'"""
    assert not said(8, 4, transfer=transfer)
