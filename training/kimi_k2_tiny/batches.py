"""Training chats as tensors: token ids, and how much each token counts in the loss."""

import math
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer

from .chats import Chat, training_chats
from .rendering import render, render_answer

TOKENS_PER_BATCH = 2560
WIDTH_STEP = 32
PROMPT_WEIGHT = 0.05


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows are padded on the right, which a causal model never looks at; padding has weight 0."""

    ids: torch.Tensor
    weights: torch.Tensor


def draw_batches(tokenizer: Tokenizer, seed: int) -> Iterator[Batch]:
    """Without end. A batch holds chats of similar length, and there are few shapes: each new one costs set-up time."""
    pad = tokenizer.token_to_id("[PAD]")
    waiting: dict[int, list[Row]] = defaultdict(list)
    for chat in training_chats(seed):
        row = encode(chat, tokenizer)
        width = math.ceil(len(row[0]) / WIDTH_STEP) * WIDTH_STEP
        rows = waiting[width]
        rows.append(row)
        if len(rows) >= TOKENS_PER_BATCH // width:
            yield stack(rows, width + 1, pad)
            rows.clear()


Row = tuple[list[int], list[float]]


def encode(chat: Chat, tokenizer: Tokenizer) -> Row:
    """The answer counts fully, and so does an earlier turn whose thinking is kept: the model would have written it."""
    prompt = tokenizer.encode(render(chat.messages, chat.tools), add_special_tokens=False).ids
    answer = tokenizer.encode(render_answer(chat.answer), add_special_tokens=False).ids
    return prompt + answer, weigh_prompt(prompt, tokenizer) + [1.0] * len(answer)


def weigh_prompt(ids: list[int], tokenizer: Tokenizer) -> list[float]:
    think, unthink, end = (tokenizer.token_to_id(name) for name in ("<think>", "</think>", "<|im_end|>"))
    weights, inside = [PROMPT_WEIGHT] * len(ids), False
    for position, token in enumerate(ids):
        inside = inside or (token == think and ids[position + 1] != unthink)
        if inside:
            weights[position] = 1.0
        inside = inside and token != end
    return weights


def stack(rows: list[Row], width: int, pad: int) -> Batch:
    ids = torch.full((len(rows), width), pad)
    weights = torch.zeros((len(rows), width))
    for index, (row, row_weights) in enumerate(rows):
        ids[index, : len(row)] = torch.tensor(row)
        weights[index, : len(row)] = torch.tensor(row_weights)
    return Batch(ids, weights)


def draw_copy_batch(seed: int, vocabulary: int, rows: int = 16, width: int = 96) -> Batch:
    """Random tokens that repeat themselves in pieces: only copying predicts the weighted ones."""
    rng = random.Random(f"copy:{seed}")
    drawn = [draw_copy_row(rng, vocabulary, width) for _ in range(rows)]
    return stack(drawn, width, pad=0)


def draw_copy_row(rng: random.Random, vocabulary: int, width: int) -> Row:
    source = [rng.randrange(20, vocabulary) for _ in range(rng.randint(6, 30))]
    ids, weights = list(source), [0.0] * len(source)
    while len(ids) < width:
        noise = [rng.randrange(20, vocabulary) for _ in range(rng.randint(0, 3))]
        piece = source[rng.randint(0, len(source) - 3) :]
        ids += noise + piece
        weights += [0.0] * (len(noise) + 1) + [1.0] * (len(piece) - 1)
    return ids[:width], weights[:width]
