"""Rows of training chats as tensors, and who may look at whom."""

import math
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer

from .alike import alike_groups, closer_groups
from .chats import choice_groups, last_chats, late_chats, long_chats
from .rows import PROMPT_WEIGHT, Row, draw_rows, encode, join_branches

TOKENS_PER_BATCH = 1536
WIDTH_STEP = 32
LONGEST = 4096
COUNTING = 4.0
CHOOSING = 4.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows are padded on the right, where nobody looks; padding has weight 0. `mask` as in `attention.attend`."""

    ids: torch.Tensor
    weights: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor | None


def draw_batches(tokenizer: Tokenizer, seed: int) -> Iterator[Batch]:
    """Without end. A batch holds rows of similar length, and there are few shapes: each new one costs set-up time."""
    pad = tokenizer.token_to_id("[PAD]")
    waiting: dict[int, list[Row]] = defaultdict(list)
    for row in draw_rows(tokenizer, seed):
        width = math.ceil(len(row.ids) / WIDTH_STEP) * WIDTH_STEP
        rows = waiting[width]
        rows.append(row)
        if len(rows) >= TOKENS_PER_BATCH // width:
            yield stack(rows, width, pad)
            rows.clear()


def draw_long_batches(tokenizer: Tokenizer, seed: int) -> Iterator[Batch]:
    """One long chat each."""
    pad = tokenizer.token_to_id("[PAD]")
    for chat in long_chats(seed):
        row = join_branches([encode(chat, tokenizer)])
        if len(row.ids) <= LONGEST:
            yield stack([row], math.ceil(len(row.ids) / WIDTH_STEP) * WIDTH_STEP, pad)


def draw_late_batches(tokenizer: Tokenizer, seed: int) -> Iterator[Batch]:
    """One chat each, and the numbers of its ids count more."""
    pad = tokenizer.token_to_id("[PAD]")
    for chat in late_chats(seed):
        yield stack_branches([encode(chat, tokenizer, COUNTING)], pad)


def draw_last_batches(tokenizer: Tokenizer, seed: int) -> Iterator[Batch]:
    """One chat each, of which only what the model writes counts."""
    pad = tokenizer.token_to_id("[PAD]")
    for chat in last_chats(seed):
        ids, weights = encode(chat, tokenizer, COUNTING)
        yield stack_branches([(ids, [0.0 if weight == PROMPT_WEIGHT else weight for weight in weights])], pad)


def draw_choice_batches(tokenizer: Tokenizer, seed: int) -> Iterator[Batch]:
    """One declaration each, with the questions behind it as branches."""
    pad = tokenizer.token_to_id("[PAD]")
    for group in choice_groups(seed):
        yield stack_branches([encode(chat, tokenizer, choosing=CHOOSING) for chat in group], pad)


def draw_alike_batches(tokenizer: Tokenizer, seed: int) -> Iterator[Batch]:
    """As choices; the numbers of ids count more too."""
    pad = tokenizer.token_to_id("[PAD]")
    for group in alike_groups(seed):
        yield stack_branches([encode(chat, tokenizer, COUNTING, CHOOSING) for chat in group], pad)


def draw_closer_batches(tokenizer: Tokenizer, seed: int) -> Iterator[Batch]:
    """As those, and of a tool's name and of its parameters' every token counts more."""
    pad = tokenizer.token_to_id("[PAD]")
    for group in closer_groups(seed):
        yield stack_branches([encode(chat, tokenizer, COUNTING, CHOOSING, whole_names=True) for chat in group], pad)


def stack_branches(chats: list[tuple[list[int], list[float]]], pad: int) -> Batch:
    """One row of token ids with their weights: what all begin with once, then each as a branch behind it."""
    row = join_branches(chats)
    return stack([row], math.ceil(len(row.ids) / WIDTH_STEP) * WIDTH_STEP, pad)


def stack(rows: list[Row], width: int, pad: int) -> Batch:
    """Tensors of (rows, `width` + 1). One plain row needs no mask."""
    shape = (len(rows), width + 1)
    ids, weights = torch.full(shape, pad), torch.zeros(shape)
    positions, branches = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    for index, row in enumerate(rows):
        length = len(row.ids)
        ids[index, :length] = torch.tensor(row.ids)
        weights[index, :length] = torch.tensor(row.weights)
        positions[index, :length] = torch.tensor(row.positions)
        branches[index, :length] = torch.tensor(row.branches)
    if not branches.any():
        return Batch(ids, weights, positions, None)
    looked_at, looking = branches[:, None, None, :-1], branches[:, None, :-1, None]
    causal = torch.ones(width, width, dtype=torch.bool).tril()
    return Batch(ids, weights, positions, causal & ((looked_at == 0) | (looked_at == looking)))


def draw_copy_batch(seed: int, vocabulary: int, rows: int = 16, width: int = 96) -> Batch:
    """Random tokens that repeat themselves in pieces: only copying predicts the weighted ones."""
    rng = random.Random(f"copy:{seed}")
    return stack([draw_copy_row(rng, vocabulary, width) for _ in range(rows)], width, pad=0)


def draw_copy_row(rng: random.Random, vocabulary: int, width: int) -> Row:
    source = [rng.randrange(20, vocabulary) for _ in range(rng.randint(6, 30))]
    ids, weights = list(source), [0.0] * len(source)
    while len(ids) <= width:
        noise = [rng.randrange(20, vocabulary) for _ in range(rng.randint(0, 3))]
        piece = source[rng.randint(0, len(source) - 3) :]
        ids += noise + piece
        weights += [0.0] * (len(noise) + 1) + [1.0] * (len(piece) - 1)
    end = width + 1
    return Row(ids[:end], weights[:end], list(range(end)), [0] * end)
