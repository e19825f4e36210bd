"""What to change where a probe fails, by engine, and the known issues that such a failure looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.api_facts import ApiFacts, Topic
from moonpad.verify.probe import ApiProbe

OTHER_REPOSITORIES: Final = (
    "MoonshotAI/Kimi-K2",
    "ai-dynamo/dynamo",
    "UKGovernmentBEIS/inspect_ai",
    "BerriAI/litellm",
    "smg-project/smg",
)
"""Of gateways and models; the engines name their own."""

ANY_SERVER: Final[Mapping[Topic, str]] = {
    Topic.CHAT_TEMPLATE: "use the chat template of the checkpoint's newest revision, and its own tokenizer files",
    Topic.REQUEST_FIELD: "ask the engine directly; if it fails too, update it to the newest release",
}
GATEWAY: Final[Mapping[Topic, str]] = {
    Topic.TOOL_PARSER: "pass tools, tool_choice and tool_calls on unchanged",
    Topic.REASONING_PARSER: "pass reasoning and reasoning_content on: engines use one or the other",
    Topic.CHAT_TEMPLATE: "if it renders prompts itself, it must use the same chat template",
    Topic.STRUCTURED_OUTPUT: "pass response_format on",
    Topic.REQUEST_FIELD: "pass the field on unchanged",
}


def facts_of(engine: str) -> tuple[ApiFacts, ...]:
    """Of that engine, by its name or by its owner in a model list; of all engines where it is unknown."""
    if engine in ENGINES:
        return (ENGINES[engine].api,)
    every = tuple(candidate.api for candidate in ENGINES.values())
    return tuple(facts for facts in every if facts.owned_by == engine)[:1] or every


def remedies(probe: ApiProbe, engine: str) -> dict[str, str]:
    """By the engine's key; `each` holds for any server, and a gateway may stand before any."""
    texts = {"each": probe.remedy or (ANY_SERVER.get(probe.topic, "") if probe.topic else "")}
    for facts in facts_of(engine):
        text = facts.remedies.get(probe.id) or (facts.remedies.get(probe.topic, "") if probe.topic else "")
        texts.setdefault(facts.key, text)
    texts["gateway"] = probe.gateway or (GATEWAY.get(probe.topic, "") if probe.topic else "")
    return {name: text for name, text in texts.items() if text}


def known_issues(probe: ApiProbe, engine: str) -> tuple[str, ...]:
    """Of the engine, then of gateways and models; each as `vllm#27565`."""
    of_engines = (issue for facts in facts_of(engine) for issue in facts.known_issues.get(probe.id, ()))
    return tuple(dict.fromkeys((*of_engines, *probe.issues)))


def issue_url(issue: str) -> str:
    """The page of `vllm#27565`.

    Raises:
        KeyError: no repository has that short name.
    """
    paths = (*OTHER_REPOSITORIES, *(engine.api.repository for engine in ENGINES.values()))
    name, _, number = issue.partition("#")
    repository = {path.rpartition("/")[2]: path for path in paths}[name]
    return f"https://github.com/{repository}/issues/{number}"
