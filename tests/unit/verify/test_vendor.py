"""The vendor verifier's two scores: by hand, against the scripted Kimi, and over interrupted runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from moonpad.cli.command_line import run
from moonpad.values.errors import UsageError
from moonpad.verify.api import connect
from moonpad.verify.vendor import Row, VendorRequest, ask_all, read_requests, score
from moonpad.verify.vendor_set import TOOLS, own_requests
from tests.broken_endpoints.server import BrokenEndpoint, serve
from tests.unit.verify.fake_endpoint import Fake, served

OWN = [VendorRequest(number, body) for number, body in enumerate(own_requests(), 1)]


def answered(requests: list[VendorRequest], *faults: str, stream: bool | None = None) -> list[Row]:
    async def ask() -> list[Row]:
        endpoint = BrokenEndpoint(frozenset(faults))
        async with serve(endpoint) as at, connect(at) as api:
            return [row async for row in ask_all(api, requests, concurrency=32, stream=stream)]

    return asyncio.run(ask())


# --- by hand ---------------------------------------------------------------------------------------------------------


def row(index: int, finish: str | None, valid: bool | None = None, status: str = "success") -> dict[str, Any]:
    return {"data_index": index, "finish_reason": finish, "tool_calls_valid": valid, "status": status}


def test_scores_by_hand() -> None:
    """Four called here, of which three hold their schema; the reference called at 1, 2 and 6."""
    here = [
        row(1, "tool_calls", True),
        row(2, "tool_calls", False),
        row(3, "tool_calls", True),
        row(4, "tool_calls", True),
        row(5, "stop"),
        row(6, "length"),
        row(7, None, None, "failed"),
    ]
    reference = [row(1, "tool_calls"), row(2, "tool_calls"), row(3, "stop"), row(4, "length"), row(5, "stop")]
    reference += [row(6, "tool_calls"), row(7, "tool_calls"), row(8, "tool_calls")]
    result = score(here, reference)
    assert (result.success_count, result.failure_count) == (6, 1)
    assert (result.finish_tool_calls, result.finish_stop, result.finish_others) == (4, 1, 1)
    assert result.schema_accuracy == 3 / 4
    assert (result.true_positive, result.false_positive, result.false_negative, result.compared) == (2, 2, 1, 6)
    precision, recall = 2 / 4, 2 / 3
    assert result.tool_call_f1 == pytest.approx(2 * precision * recall / (precision + recall))


def test_nothing_to_score() -> None:
    result = score([row(1, "stop")])
    assert (result.schema_accuracy, result.tool_call_f1) == (None, None)
    assert score([row(1, "stop")], [row(1, "stop")]).tool_call_f1 is None


# --- requests --------------------------------------------------------------------------------------------------------


def test_our_own_requests() -> None:
    bodies = own_requests()
    assert len(bodies) == 500
    assert bodies == own_requests()
    assert bodies != own_requests(seed=1)
    assert {body["stream"] for body in bodies} == {True, False}
    assert sum(len(body["messages"]) > 1 for body in bodies) == 100
    for tool, _ in TOOLS.values():
        jsonschema.Draft202012Validator.check_schema(tool["function"]["parameters"])


def test_the_format_of_the_verifier() -> None:
    lines = ['{"messages": [{"role": "_input", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}', ""]
    (request,) = read_requests(lines)
    assert (request.index, request.body["messages"][0]["role"]) == (1, "system")
    for broken in ("{", "[]", '{"messages": 3}', '{"messages": [1]}', ""):
        with pytest.raises(UsageError):
            read_requests([broken])


# --- against the scripted Kimi ---------------------------------------------------------------------------------------


def test_a_sound_endpoint_is_like_itself() -> None:
    first, second = (score(answered(OWN[:120], stream=stream)) for stream in (True, False))
    assert first == second
    assert (first.failure_count, first.schema_accuracy) == (0, 1.0)
    assert 40 <= first.finish_tool_calls <= 80
    assert score(answered(OWN[:60]), answered(OWN[:60])).tool_call_f1 == 1.0


def test_broken_endpoints_score_less() -> None:
    sound = answered(OWN[:60])
    assert score(answered(OWN[:60], "no tool parser"), sound).tool_call_f1 == 0.0
    assert (score(answered(OWN[:60], "the last brace is lost"), sound).schema_accuracy or 0.0) < 0.1
    assert (score(answered(OWN[:60], "hyphens are not parsed"), sound).tool_call_f1 or 0.0) < 1.0
    cut = score(answered(OWN[:60], "the stream is cut"), sound)
    assert (cut.failure_count, cut.success_count) == (20, 40)


# --- the command -----------------------------------------------------------------------------------------------------


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    requests, out, reference = (tmp_path / name for name in ("requests.jsonl", "out/results.jsonl", "reference.jsonl"))
    requests.write_text("".join(json.dumps(body) + "\n" for body in own_requests(12)))
    fake = Fake()
    with served(fake) as url:
        command = ["verify", "--url", url, "--vendor", str(requests), "--out"]
        assert run([*command, str(reference), "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["success_count"], document["compared"]) == (12, 0)
        out.parent.mkdir()
        out.write_text("".join(line + "\n" for line in reference.read_text().splitlines()[:5]))
        before = len(fake.requests)
        assert run([*command, str(out), "--reference", str(reference), "--floor", "0.9", "--json"]) == 0
        assert len(fake.requests) == before + 7, "what was answered is not asked again"
        assert json.loads(capsys.readouterr().out)["tool_call_f1"] == 1.0
        assert run(["verify", "--url", url, "--vendor", "own"]) == 2
        assert run(["verify", "--url", url, "--vendor", str(tmp_path / "none"), "--out", str(out)]) == 2
        assert run([*command, str(out), "--floor", "0.9"]) == 2
    assert len(out.read_text().splitlines()) == 12
    with served(Fake(faults=frozenset({"no tool parser"}))) as url:
        worse = tmp_path / "worse.jsonl"
        argv = ["verify", "--url", url, "--vendor", str(requests), "--out", str(worse), "--reference", str(reference)]
        assert run([*argv, "--floor", "0.73"]) == 5
    with served(Fake(faults=frozenset({"error 500"}))) as url:
        assert run(["verify", "--url", url, "--vendor", str(requests), "--out", str(tmp_path / "failed.jsonl")]) == 5
