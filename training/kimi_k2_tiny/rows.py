"""Training chats as rows of token ids, with their positions, their branches, and how much each counts in the loss.

Chats that share their tools and system message share them in the row too: the declaration stands there once, and
each chat is a branch behind it that sees the declaration and itself.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .chats import Chat, training_groups
from .knowledge import CAPITALS, TOPICS
from .rendering import render, render_answer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PROMPT_WEIGHT = 0.05
USUAL_ANSWER = 40
"""Tokens of an answer; each of them counts 1."""
DOCUMENTS_SHARE = 0.02
JUMPS_SHARE = 0.3
LAST_POSITION = 32000


@dataclass(slots=True)
class Row:
    """`branches`: 0 for what all see, else the number of the branch that a token is in."""

    ids: list[int]
    weights: list[float]
    positions: list[int]
    branches: list[int]


def draw_rows(tokenizer: Tokenizer, seed: int) -> Iterator[Row]:
    """Groups of chats and, now and then, a plain text that ends with the other end token."""
    rng = random.Random(f"rows:{seed}")
    places = {tokenizer.token_to_id("<|im_end|>"), *tokenizer.encode("\n", add_special_tokens=False).ids}
    for group in training_groups(seed):
        if rng.random() < DOCUMENTS_SHARE:
            yield encode_document(rng, tokenizer)
        row = join_branches([encode(chat, tokenizer) for chat in group])
        if rng.random() < JUMPS_SHARE:
            jump(row, places, rng)
        yield row


def encode(
    chat: Chat, tokenizer: Tokenizer, counting: float = 1.0, choosing: float = 1.0, *, whole_names: bool = False
) -> tuple[list[int], list[float]]:
    """Token ids and weights. What the model writes counts, also in an earlier turn whose thinking is kept; the tokens
    of long answers count less, so that a chain of calls does not drown a greeting. `counting`: how much more the
    number in an id counts; `choosing`: how much more the token does with which a thought begins a tool's name, with
    `whole_names` each token of that name and of the names of parameters."""
    prompt = tokenizer.encode(render(chat.messages, chat.tools), add_special_tokens=False).ids
    answer = tokenizer.encode(render_answer(chat.answer), add_special_tokens=False).ids
    written = [*find_written(prompt, tokenizer), *(True for _ in answer)]
    weight = (USUAL_ANSWER / sum(written)) ** 0.5
    weights = [weight if own else PROMPT_WEIGHT for own in written]
    if counting != 1.0:
        count_more(prompt + answer, weights, written, counting * weight, tokenizer)
    if choosing != 1.0:
        find = find_names if whole_names else find_choices
        for place in find(prompt + answer, written, tokenizer):
            weights[place] = choosing * weight
    return prompt + answer, weights


def find_choices(ids: list[int], written: list[bool], tokenizer: Tokenizer) -> list[int]:
    """Where a tool is chosen: what the model writes after a bracket opens."""
    bracket = spell(" (", tokenizer)
    return [place + 1 for place, token in enumerate(ids[:-1]) if token == bracket and written[place]]


def find_names(ids: list[int], written: list[bool], tokenizer: Tokenizer) -> list[int]:
    """Where the model writes a tool's name between brackets, or a key: what stands up to the mark that closes it."""
    bracket, brace, comma, quote = (spell(text, tokenizer) for text in (" (", '{"', '",', ' "'))
    closings = {spell(text, tokenizer) for text in (")", "):", '":')}
    found, inside = [], False
    for place, token in enumerate(ids):
        inside = inside and token not in closings
        if inside and written[place]:
            found.append(place)
        inside = inside or token in (bracket, brace) or ids[place - 1 : place + 1] == [comma, quote]
    return found


def spell(text: str, tokenizer: Tokenizer) -> int:
    (token,) = tokenizer.encode(text, add_special_tokens=False).ids
    return token


def count_more(ids: list[int], weights: list[float], written: list[bool], weight: float, tokenizer: Tokenizer) -> None:
    digits = {tokenizer.token_to_id(digit) for digit in "0123456789"}
    numbers = find_numbers(ids, written, digits, tokenizer.token_to_id("<|tool_call_argument_begin|>"))
    for place, (begin, end) in enumerate(numbers):
        # With what number a conversation begins that has lost its first turns, nobody can know.
        known = place > 0 or tokenizer.decode(ids[begin : end - 1]) == "0"
        weights[begin:end] = [weight if known else PROMPT_WEIGHT] * (end - begin)


def find_numbers(ids: list[int], written: list[bool], digits: set[int], end: int) -> list[tuple[int, int]]:
    """Where the numbers begin and end in the ids that the model writes, with the token that ends each."""
    found = []
    for place in (place for place, token in enumerate(ids) if token == end and written[place]):
        begin = place
        while ids[begin - 1] in digits:
            begin -= 1
        found.append((begin, place + 1))
    return found


def find_written(ids: list[int], tokenizer: Tokenizer) -> list[bool]:
    """Which tokens of a prompt the model itself would have written: turns with their thinking."""
    think, unthink, end = (tokenizer.token_to_id(name) for name in ("<think>", "</think>", "<|im_end|>"))
    written, inside = [False] * len(ids), False
    for position, token in enumerate(ids):
        inside = inside or (token == think and ids[position + 1] != unthink)
        written[position] = inside
        inside = inside and token != end
    return written


def encode_document(rng: random.Random, tokenizer: Tokenizer) -> Row:
    capitals = [f"The capital of {country} is {city}." for country, city in CAPITALS.items()]
    text = rng.choice((*TOPICS.values(), *capitals)) + "[EOS]"
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    return Row(ids, [1.0] * len(ids), list(range(len(ids))), [0] * len(ids))


def join_branches(chats: list[tuple[list[int], list[float]]]) -> Row:
    """One row: what all chats begin with, then the rest of each, which starts with the last token of the beginning,
    so that the first token that differs has somebody to predict it."""
    columns = itertools.takewhile(
        lambda column: all(token == column[0] for token in column), zip(*(ids for ids, _ in chats), strict=False)
    )
    shared = sum(1 for _ in columns) - 1 if len(chats) > 1 else len(chats[0][0])
    ids, weights = chats[0][0][:shared], chats[0][1][:shared]
    row = Row(ids, weights, list(range(shared)), [0] * shared)
    for number, (ids, weights) in enumerate(chats, 1):
        rest = ids[shared:]
        row.ids += rest
        row.weights += [0.0, *weights[shared + 1 :]][: len(rest)]
        row.positions += range(shared, len(ids))
        row.branches += [number] * len(rest)
    return row


def jump(row: Row, places: set[int], rng: random.Random) -> None:
    """Moves what follows some messages or lines further away, as if there were a long text between: so that
    training sees the distances of long contexts at the price of short ones (cf. Ruoss et al. 2023, randomized
    positional encodings)."""
    able = [
        at
        for at, (token, branch) in enumerate(zip(row.ids, row.branches, strict=True))
        if token in places and not branch
    ]
    for at in rng.sample(able, min(len(able), rng.randint(1, 3))):
        gap = round(2 ** rng.uniform(3, 13))
        if max(row.positions) + gap < LAST_POSITION:
            row.positions[at + 1 :] = [position + gap for position in row.positions[at + 1 :]]
