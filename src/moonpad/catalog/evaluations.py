"""How accuracy is measured, and which accuracies others have published by the same protocol."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Struct

from moonpad.catalog.toml_rows import Row, Text, rows

PROTOCOLS: Final = "eval_protocols.toml"
REFERENCES: Final = "eval_references.toml"

Task = Literal["gsm8k", "questions", "tools"]
ModelType = Literal["local-completions", "local-chat-completions"]
Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Protocol(Struct, frozen=True):
    """`name` is its key in the file. `max_tokens` is where an answer is cut; `gen_kwargs` are lm-eval's."""

    name: Text
    title: Text
    task: Task
    model_type: ModelType
    fewshot: Count
    chat_template: bool
    multiturn: bool
    concurrency: Positive
    max_tokens: Positive
    gen_kwargs: Mapping[str, float | int]
    source: Text
    checked: Text
    standing: Text
    note: str = ""

    @property
    def path(self) -> str:
        """Of the API, below its base."""
        return "/completions" if self.model_type == "local-completions" else "/chat/completions"


class PublishedScore(Struct, frozen=True):
    """`value` and its standard error `error` as printed; `correct` answers that they are of."""

    value: Share
    error: Share
    correct: Count


class Reference(Struct, frozen=True):
    """A published accuracy: `protocol` is a name of the protocols, `where` the machine and the engine."""

    id: Text
    protocol: Text
    task_version: Positive
    model: Text
    where: Text
    questions: Positive
    filters: Mapping[str, PublishedScore]
    source: Text
    checked: Text
    standing: Text
    note: str = ""


@cache
def protocols() -> Mapping[str, Protocol]:
    return {name: row.build(Protocol, name=name) for name, row in rows(PROTOCOLS, "protocols")}


@cache
def references() -> Mapping[str, Reference]:
    return {id_: _reference(id_, row) for id_, row in rows(REFERENCES, "references")}


def _reference(id_: str, row: Row) -> Reference:
    filters = {
        name: Row(f"{row.where}.filters.{name}", table).build(PublishedScore)
        for name, table in row.take("filters").items()
    }
    reference = row.build(Reference, id=id_, filters=filters)
    if reference.protocol not in protocols():
        raise row.error(f"there is no protocol {reference.protocol!r}")
    return reference
