"""What `moonpad verify` knows of an engine's API server. The values stand with each engine (`vllm_api.py`, …)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import force_setattr


class Topic(StrEnum):
    """A part of the server that several probes test, so that one remedy holds for all of them."""

    TOOL_PARSER = "tool parser"
    REASONING_PARSER = "reasoning parser"
    CHAT_TEMPLATE = "chat template"
    STRUCTURED_OUTPUT = "structured output"
    REQUEST_FIELD = "request field"


class ApiFacts(Struct, frozen=True):
    """Forks and builds of an engine share `key` and, for the most part, the rest.

    title: the engine as people write it, `vLLM`.
    key: names its remedies in JSON.
    owned_by: `owned_by` in its model list, by which an unknown endpoint is recognised.
    repository: on GitHub, for the links of `known_issues`.
    remedies: what to change on its command line, by the id of the failed probe or its topic; the id wins.
    known_issues: issues that a failure of a probe looks like (`vllm#27565`), by the probe's id.
    open_paths: pages beside /v1 that it serves without a key.
    control_paths: paths beside /v1 that act on the server. GET, which they refuse with 405, tells that they exist.
    model_path_page: the page that has the checkpoint's path, where `root` in the model list does not.
    answers_any_model: it answers requests for models that it does not serve; no fault of the deployment.
    survives_500: requests that it answers with 500 and survives, by their names in the probe `bad_requests`.
    obeys_parallel_tool_calls: `parallel_tool_calls = false` leaves one call.
    numbers_calls: the id of a call is its number in the conversation, whatever the model writes.
    returns_token_ids: a chat answers `return_token_ids` with the ids of its prompt.
    renders_by_template: a conversation's prompt is that of the checkpoint's chat template, to the token.
    repeats_by_seed: chats and plain completions draw the same for one seed.
    streams_later_thinking_as_content: after an earlier turn of the assistant, a stream has its thinking in the content
        behind a bare <think>: a fault of the engine itself, which a deployment cannot help.
    keeps_white_space: content has the white space at its edges.
    counts_thinking_exactly: the reasoning tokens in usage are those between the tags.
    seeds_count_on: of n choices that are drawn by a seed, each has the next seed.
    regex_fields: the request fields for a regular expression; `a.b` is the field b of the object a.
    """

    title: str
    key: str
    owned_by: str
    repository: str
    remedies: Mapping[str, str] = field(default_factory=dict)
    known_issues: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    open_paths: tuple[str, ...] = ()
    control_paths: tuple[str, ...] = ()
    model_path_page: str = ""
    answers_any_model: bool = False
    survives_500: frozenset[str] = frozenset()
    obeys_parallel_tool_calls: bool = False
    numbers_calls: bool = False
    returns_token_ids: bool = False
    renders_by_template: bool = False
    repeats_by_seed: bool = False
    streams_later_thinking_as_content: bool = False
    keeps_white_space: bool = False
    counts_thinking_exactly: bool = False
    seeds_count_on: bool = False
    regex_fields: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        force_setattr(self, "remedies", MappingProxyType(dict(self.remedies)))
        force_setattr(self, "known_issues", MappingProxyType(dict(self.known_issues)))
