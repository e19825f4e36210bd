"""The page of a verdict: whole, and nothing of what an endpoint says is more than text."""

from __future__ import annotations

import base64
import hashlib
import re

from moonpad.engines.api_facts import Topic
from moonpad.report.verify_page import verify_page
from moonpad.values.finding import Code
from moonpad.values.records import replace
from moonpad.verify.api import Exchange
from moonpad.verify.probe import failed, passed, skipped
from moonpad.verify.runner import Report, Result
from tests.html_page import Page
from tests.unit.verify.fake_endpoint import BASIC

EVIL = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J\u202e{{ 7*7 }}"


def report(because: str = "it is text", where: str = "--flag", model: str = "kimi-k2") -> Report:
    outcomes = (
        passed("/health answers 200"),
        skipped("too small"),
        failed(Code.TOOL_CALL_LOST, where, because, "start it with the parser"),
    )
    return Report(
        "http://127.0.0.1:8000/v1",
        model,
        True,
        tuple(
            Result(
                replace(probe, id="tool_call", topic=Topic.TOOL_PARSER, issues=("dynamo#8208",)),
                outcome,
                0.25,
                (Exchange(f"POST {because}", None, because),) if outcome is outcomes[2] else (),
                "vllm-cpu",
            )
            for probe, outcome in zip(BASIC[:3], outcomes, strict=True)
        ),
    )


def test_what_failed_is_there_whole() -> None:
    page = Page(verify_page(report()))
    for text in (
        "it is text",
        BASIC[2].proves,
        BASIC[2].matters,
        "--flag : start it with the parser",
        "on vLLM --enable-auto-tool-choice --tool-call-parser kimi_k2",
    ):
        assert text in page.text
    assert "on SGLang" not in page.text
    assert "asked, and got no answer" in page.text
    assert "1 passed 1 failed 1 skipped 0.8 s in all" in page.text
    links = [link["href"] for link in page.attributes("a")]
    assert "https://github.com/vllm-project/vllm/issues/27565" in links
    assert "https://github.com/ai-dynamo/dynamo/issues/8208" in links
    assert not any("sglang" in link for link in links)
    assert len(page.attributes("tr")) == 1 + 3


def test_a_gate_is_told() -> None:
    assert "The gate" not in Page(verify_page(report())).text
    assert "The gate is passed." in Page(verify_page(report(), ())).text
    assert "The gate is not passed: chat failed; x" in Page(verify_page(report(), ("chat failed", "x"))).text


def test_nothing_that_an_endpoint_says_is_run() -> None:
    html = verify_page(report(EVIL, EVIL, EVIL), (EVIL,))
    page = Page(html)
    assert not page.attributes("script")
    assert not page.attributes("img")
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert not {"\x1b", "\u202e"} & set(html)


def test_the_policy_allows_its_own_style_and_nothing_else() -> None:
    html = verify_page(report())
    page = Page(html)
    (policy,) = [meta["content"] for meta in page.attributes("meta") if "http-equiv" in meta]
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert not [tag for tag, attrs in page.tags if "style" in attrs or "src" in attrs]
    assert "url(" not in style[1]
