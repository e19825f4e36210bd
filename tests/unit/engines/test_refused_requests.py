# ruff: noqa: E501 - lines of logs are as long as they are
"""Lines of refused_requests.toml: each names what failed of a request, and never why an engine stopped where a line
says that."""

from __future__ import annotations

import pytest

from moonpad.catalog.toml_rows import rows
from moonpad.engines import ENGINES
from moonpad.engines.log_grammar import first_failure

FILE = "refused_requests.toml"
LINES = {
    "path-not-found": "openai.NotFoundError: Error code: 404 - {'detail': 'Not Found'}",
    "tools-not-switched-on": "Error code: 400 - {'error': {'message': '\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'}}",
    "prompt-over-context": "ValueError: The input (41873 tokens) is longer than the model's context length (32768 tokens).",
    "tokens-over-context": "ValueError: Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 70000 tokens",
    "model-of-another-name": "Error code: 404 - {'error': {'message': 'The model `kimi` does not exist.', 'type': 'NotFoundError'}}",
    "body-no-json": "{'object': 'error', 'message': \"[{'type': 'json_invalid', 'loc': ('body', 1), 'msg': 'JSON decode error'}]\"}",
    "body-of-another-type": "{'error': {'message': \"Unsupported Media Type: Only 'application/json' is allowed\"}}",
    "messages-no-list": "Error code: 400 - [{'type': 'list_type', 'loc': ('body', 'messages'), 'msg': 'Input should be a valid list'}]",
    "too-many-media": "ValueError: At most 1 image(s) may be provided in one prompt.",
    "forced-tool-without-parser": 'ValueError: tool_choice="required" requires --tool-call-parser to be set',
    "key-refused": '{"error":"Unauthorized"}',
    "argument-of-no-library": "TypeError: Completions.create() got an unexpected keyword argument 'top_k'",
    "content-none": 'TypeError: can only concatenate str (not "NoneType") to str # delta.content',
}
AROUND = {
    "rdma-device-not-opened": "E1108 04:12:55.180223  1204 rdma_context.cpp:79] Failed to open device mlx5_0 on port \x01 with GID 3",
    "rdma-devices-none": "E1108 04:12:55.181090  1204 topology.cpp:12] No RDMA devices found, check your device installation",
}
STOPPED = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.31 GiB. GPU 3 has a total capacity of 79.11 GiB"
)


def test_every_row_has_its_line() -> None:
    assert LINES.keys() == {key for key, _ in rows(FILE, "failures")}


@pytest.mark.parametrize("key", LINES)
def test_a_line_names_its_row_where_nothing_stopped(key: str) -> None:
    message = dict(rows(FILE, "failures"))[key]["message"].split("{")[0]
    log = ENGINES["vllm"].log
    alone, ended = (first_failure(log, [*more, LINES[key], "delta.content"]) for more in ([], [STOPPED]))
    assert alone is not None
    assert ended is not None
    assert alone.message.startswith(message)
    assert not ended.message.startswith(message)


@pytest.mark.parametrize("key", AROUND)
def test_a_device_of_rdma_that_is_not_there(key: str) -> None:
    row = dict(rows("around_failures.toml", "failures"))[key]
    failure = first_failure(ENGINES["sglang"].log, ["starting", AROUND[key]])
    assert failure is not None
    assert failure.message.startswith(row["message"].split("{")[0])
