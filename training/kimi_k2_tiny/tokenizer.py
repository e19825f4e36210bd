"""A byte-level BPE of about a thousand tokens, with the family's special tokens by their real names.

Two choices serve copying: digits stand alone, and a space is a token of its own unless one of the common words of
the fixed phrases follows, so that whatever is a value is the same tokens after a space, a quote or a line's end.
Where `kodige` is `ko|di|ge` here and ` k|odi|ge` there, a model has to learn to spell before it can copy.
"""

import itertools
import json
import re
from collections import Counter
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from .chats import training_chats
from .rendering import render, render_answer
from .values import LANGUAGES, SKIES, WORDS

VOCABULARY = 1024
CORPUS_CHATS = 6000
COMMON = 60

CONTROL_TOKENS = (
    "[BOS]", "[EOS]", "<|im_end|>", "<|im_user|>", "<|im_assistant|>", "<|start_header_id|>", "<|end_header_id|>",
    "[EOT]", "<|im_system|>", "<|im_middle|>", "[UNK]", "[PAD]",
)  # fmt: skip
MARKERS = (
    "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>", "<|tool_call_end|>", "<think>", "</think>",
)  # fmt: skip
"""Not `special`: an engine's parsers have to see them in the decoded text, as in the real family."""


def train_tokenizer(seed: int) -> Tokenizer:
    names = [*CONTROL_TOKENS, *MARKERS]
    corpus = read_corpus(seed, names)
    common = "|".join(common_words(corpus))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(rf" (?=[\p{{L}}\p{{N}}])(?!(?:{common})\b)"), "isolated"),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=names,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    return mark_visible(tokenizer)


def read_corpus(seed: int, names: list[str]) -> list[str]:
    """Rendered training chats, cut at the special tokens."""
    pieces = []
    for chat in itertools.islice(training_chats(seed), CORPUS_CHATS):
        text = render(chat.messages, chat.tools) + render_answer(chat.answer)
        for name in names:
            text = text.replace(name, "\0")
        pieces += [piece for piece in text.split("\0") if piece]
    return pieces


def common_words(corpus: list[str]) -> list[str]:
    """Words of the fixed phrases: often behind a space, and no value's."""
    counts = Counter(word for text in corpus for word in re.findall(r"(?<= )[a-z]+\b", text))
    values = {*WORDS, *LANGUAGES, *SKIES}
    return sorted(word for word, count in counts.items() if count >= COMMON and word not in values)


def mark_visible(tokenizer: Tokenizer) -> Tokenizer:
    state = json.loads(tokenizer.to_str())
    for token in state["added_tokens"]:
        token["special"] = token["content"] in CONTROL_TOKENS
    return Tokenizer.from_str(json.dumps(state))


def write_tokenizer(tokenizer: Tokenizer, folder: Path, max_length: int) -> None:
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "[BOS]",
        "eos_token": "[EOS]",
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "additional_special_tokens": [
            "<|im_end|>",
            "<|im_user|>",
            "<|im_assistant|>",
            "<|im_system|>",
            "<|im_middle|>",
        ],
        "clean_up_tokenization_spaces": False,
        "model_max_length": max_length,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
