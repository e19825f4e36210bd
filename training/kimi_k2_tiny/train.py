"""Trains kimi-k2-tiny: `PYTHON -m training.kimi_k2_tiny.train --out DIR --seed 0 --steps N`.

Everything follows from the seed and the number of steps, never from the clock, so a second run on the same
kind of machine with the same number of threads gives the same weights. The time used is measured and recorded.
"""

import argparse
import itertools
import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy

from .architecture import Marks, build_model, describe, naming_parts, write_third
from .batches import (
    Batch,
    draw_alike_batches,
    draw_batches,
    draw_choice_batches,
    draw_closer_batches,
    draw_copy_batch,
    draw_last_batches,
    draw_late_batches,
    draw_long_batches,
)
from .rendering import TEMPLATE_PATH
from .rows import PROMPT_WEIGHT
from .tokenizer import VOCABULARY, train_tokenizer, write_tokenizer

DEFAULT_TEMPERATURE = 0.3
"""What an engine samples with where a request names none: so small a model strays when it is left free."""
PEAK_RATE = 4e-4
"""A rate of three times as much shakes the circuits to pieces that the weights start from."""
WARMUP_STEPS = 100
PEAK_STEPS = 1800
DECAY_SHARE = 0.4
HOLD_FROM = 3900
HOLD_STEPS = 2400
"""On its way down the rate stays for a while at a quarter of its peak: names, arguments and results that look alike
are told apart late."""
BIAS_STEP = 1e-3
SAVE_EVERY = 100
LONG_EVERY = 20
CHOICE_EVERY = 4
CHOICE_OFTEN_UNTIL = 400
"""Twice as often up to there, and from `HOLD_FROM` on: the circuit for choosing is shaken while all else is learned
from nothing, and it decides over the last wrong names."""
LATE_FROM = 1000
LATE_OFTEN_UNTIL = 2000
LATE_EVERY = 4
"""Twice as often up to `LATE_OFTEN_UNTIL`."""
LAST_FROM = 1500
LAST_EVERY = 90
ALIKE_FROM = 5400
"""From there on, between the choices among tools, chats whose values look alike."""
FIRST_COURSE = 7000
"""A run that is longer has a second course: from the weights of the first as they are kept, in bfloat16, with a third
token to copy by, a new optimizer, and the rate up again and down to zero."""
SECOND_PEAK = 0.3
SECOND_SEED = 1000
"""Its chats are drawn with the seed that is so many more."""
NAMING_FIXED_FROM = 2000
"""From this step on the weights of `naming_parts` are held at what they were at the start."""


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)

    tokenizer = train_tokenizer(arguments.seed)
    bos, eos, end, pad = (tokenizer.token_to_id(name) for name in ("[BOS]", "[EOS]", "<|im_end|>", "[PAD]"))
    config = describe(VOCABULARY, bos, eos, pad)
    marks = Marks(*(tokenizer.token_to_id(text) for text in ("name", "functions", "properties", "<|im_middle|>")))
    model = build_model(config, marks)
    copied = measure(model, draw_copy_batch(arguments.seed, VOCABULARY))
    parameters = sum(weight.numel() for weight in model.parameters())
    print(f"{parameters:,} parameters; copying at init: {copied:.3f} of tokens right", flush=True)

    record = {"seed": arguments.seed, "steps": arguments.steps, "threads": arguments.threads, "parameters": parameters}
    record |= {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "copying_at_init": round(copied, 4),
    }
    state = arguments.out.with_name(arguments.out.name + ".state")
    progress = train(model, partial(draw_courses, tokenizer, arguments.seed), arguments.steps, state)
    record |= {key: round(value, 4) for key, value in asdict(progress).items()}

    draft = arguments.out.with_name(arguments.out.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    model.to(torch.bfloat16).save_pretrained(draft)
    generation = {
        "bos_token_id": bos,
        "eos_token_id": [eos, end],
        "pad_token_id": pad,
        "do_sample": True,
        "temperature": DEFAULT_TEMPERATURE,
        "max_length": config["max_position_embeddings"],
    }
    write_json(draft / "config.json", config | {"transformers_version": transformers.__version__})
    write_json(draft / "generation_config.json", generation)
    write_json(draft / "training.json", record)
    write_tokenizer(tokenizer, draft, config["max_position_embeddings"])
    shutil.copyfile(TEMPLATE_PATH, draft / "chat_template.jinja")
    publish(draft, arguments.out)
    state.unlink(missing_ok=True)
    print(json.dumps(record), flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=1600)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


@dataclass(slots=True)
class Progress:
    """What has been done so far, over every process that took part; `cpu_seconds` is user and system time."""

    step: int = 0
    tokens: int = 0
    loss: float = 0.0
    answer_tokens_right: float = 0.0
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0


def draw_steps(tokenizer: Tokenizer, seed: int) -> Iterator[list[Batch]]:
    """The batches of each step: one, every `CHOICE_EVERY` steps a choice among tools and every `LONG_EVERY` steps a
    long chat beside it. Once single answers are learned, in the steps between a chain of calls or a text with a fact
    too: counting and finding come late, and then, every `LAST_EVERY` steps, in long contexts."""
    draws = (draw_choice_batches, draw_long_batches, draw_late_batches, draw_last_batches, draw_alike_batches)
    choices, long, late, last, alike = (draw(tokenizer, seed) for draw in draws)
    for number, batch in enumerate(draw_batches(tokenizer, seed), 1):
        batches = [batch]
        often = number <= CHOICE_OFTEN_UNTIL or number > HOLD_FROM
        if number % (CHOICE_EVERY // (1 + often)) == 0:
            batches.append(next(choices))
        if number % LONG_EVERY == 0:
            batches.append(next(long))
        if number > LATE_FROM and number % (LATE_EVERY // (1 + (number <= LATE_OFTEN_UNTIL))) == 1:
            batches.append(next(late))
        if number > LAST_FROM and number % LAST_EVERY == 1:
            batches.append(next(last))
        if number > ALIKE_FROM and number % 2 == 1:
            batches.append(next(alike))
        yield batches


def draw_second_steps(tokenizer: Tokenizer, seed: int) -> Iterator[list[Batch]]:
    """The batches of each step of the second course: in turn chats whose values look alike, and what the first course
    had."""
    draws = (
        *(draw_closer_batches, draw_choice_batches, draw_batches),
        *(draw_long_batches, draw_late_batches, draw_last_batches),
    )
    closer, choices, plain, long, late, last = (draw(tokenizer, seed + SECOND_SEED) for draw in draws)
    for number in itertools.count(1):
        batches = [next(closer)] if number % 2 == 1 else [next(choices), next(plain)]
        for draw, every in ((late, LATE_EVERY), (long, LONG_EVERY), (last, LAST_EVERY)):
            if number % every == 0:
                batches.append(next(draw))
        yield batches


def draw_courses(tokenizer: Tokenizer, seed: int, after: int) -> Iterator[list[Batch]]:
    """The batches of the steps behind the first `after`."""
    if after < FIRST_COURSE:
        yield from itertools.islice(draw_steps(tokenizer, seed), after, FIRST_COURSE)
    yield from itertools.islice(draw_second_steps(tokenizer, seed), max(0, after - FIRST_COURSE), None)


def train(model: torch.nn.Module, draw: Callable[[int], Iterator[list[Batch]]], steps: int, state: Path) -> Progress:
    model.train()
    matrices = [weight for weight in model.parameters() if weight.dim() >= 2]
    vectors = [weight for weight in model.parameters() if weight.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=PEAK_RATE, betas=(0.9, 0.98), fused=True)
    loads = watch_routers(model)
    naming = naming_parts(model)
    progress = resume(state, model, optimizer)
    cpu_before, wall_before = progress.cpu_seconds, progress.wall_seconds - time.monotonic()
    batches = draw(progress.step)
    while progress.step < steps:
        if progress.step == FIRST_COURSE:
            start_again(model, optimizer)
        if progress.step >= NAMING_FIXED_FROM:
            for part, value in naming:
                part.copy_(value)
        optimizer.zero_grad(set_to_none=True)
        loss, right, tokens = learn(model, next(batches))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = PEAK_RATE * schedule(progress.step, steps)
        optimizer.step()
        balance_routers(loads)
        keep = min(0.95, progress.step / (progress.step + 1))
        progress.loss = keep * progress.loss + (1 - keep) * loss
        progress.answer_tokens_right = keep * progress.answer_tokens_right + (1 - keep) * right
        progress.tokens += tokens
        progress.step += 1
        progress.cpu_seconds = cpu_before + time.process_time()
        progress.wall_seconds = wall_before + time.monotonic()
        if progress.step % 25 == 0 or progress.step == steps:
            print(
                f"{progress.step}/{steps}",
                *(f"{key} {value:.4g}" for key, value in asdict(progress).items()),
                flush=True,
            )
        if progress.step % SAVE_EVERY == 0:
            save(state, model, optimizer, progress)
    return progress


def start_again(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.state.clear()
    for tensor in model.state_dict().values():
        tensor.copy_(tensor.bfloat16())
    write_third(model)


def resume(state: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Goes on where a stopped run was saved. The schedule depends on the number of steps in its last part alone, so a
    run stopped before that may be resumed with another number and equals a run that had it from the start."""
    if not state.exists():
        return Progress()
    saved = torch.load(state)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return Progress(**saved["progress"])


def save(state: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, progress: Progress) -> None:
    draft = state.with_name(state.name + ".draft")
    saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "progress": asdict(progress)}
    torch.save(saved, draft)
    draft.replace(state)


def schedule(step: int, steps: int) -> float:
    """Share of the peak rate: a short rise, a while there, then with the root of the steps, at the end a straight way
    down to zero, with a halt in it where the run is that long. The second course rises and goes straight down."""
    if step >= FIRST_COURSE:
        rise = (step - FIRST_COURSE + 1) / WARMUP_STEPS
        return SECOND_PEAK * min(rise, (steps - step) / (steps - FIRST_COURSE))
    steps = min(steps, FIRST_COURSE)
    if steps > HOLD_FROM + HOLD_STEPS:
        step, steps = min(step, max(HOLD_FROM, step - HOLD_STEPS)), steps - HOLD_STEPS
    rise, root = (step + 1) / WARMUP_STEPS, (PEAK_STEPS / (step + 1)) ** 0.5
    return min(rise, 1.0, root) * min(1.0, (steps - step) / (DECAY_SHARE * steps))


def learn(model: torch.nn.Module, batches: list[Batch]) -> tuple[float, float, int]:
    """Gradients of the batches' common loss; that loss, the share of right answer tokens, the number of tokens."""
    total = sum(batch.weights[:, 1:].sum() for batch in batches)
    sums = []
    for batch in batches:
        loss, right = judge(model, batch)
        share = batch.weights[:, 1:].sum() / total
        (loss * share).backward()
        sums.append((loss.item() * share.item(), right * share.item(), int((batch.weights > 0).sum())))
    losses, rights, tokens = zip(*sums, strict=True)
    return sum(losses), sum(rights), sum(tokens)


def judge(model: torch.nn.Module, batch: Batch) -> tuple[torch.Tensor, float]:
    """The weighted loss, and the share of answer tokens that it would have written itself."""
    seen = model.model(
        batch.ids[:, :-1], attention_mask=batch.mask, position_ids=batch.positions[:, :-1], use_cache=False
    ).last_hidden_state
    weight = batch.weights[:, 1:]
    counted = weight > 0
    logits, target, weight = model.lm_head(seen[counted]), batch.ids[:, 1:][counted], weight[counted]
    losses = cross_entropy(logits, target, reduction="none")
    right = (logits.argmax(-1) == target)[weight > 1.2 * PROMPT_WEIGHT].float().mean().item()
    return (losses * weight).sum() / weight.sum(), right


def measure(model: torch.nn.Module, batch: Batch) -> float:
    with torch.no_grad():
        return judge(model, batch)[1]


def watch_routers(model: torch.nn.Module) -> dict[torch.nn.Module, torch.Tensor]:
    """Each router with the number of tokens that it gave to each expert in the last step."""
    loads: dict[torch.nn.Module, torch.Tensor] = {}

    def count(router: torch.nn.Module, _: object, output: tuple[torch.Tensor, ...]) -> None:
        loads[router] = torch.bincount(output[2].flatten(), minlength=router.num_experts).float()

    for layer in model.model.layers:
        if hasattr(layer.mlp, "gate"):
            layer.mlp.gate.register_forward_hook(count)
    return loads


def balance_routers(loads: dict[torch.nn.Module, torch.Tensor]) -> None:
    """The `noaux_tc` way: the selection bias of a crowded expert sinks, that of an idle one rises."""
    for router, load in loads.items():
        router.e_score_correction_bias += BIAS_STEP * torch.sign(load.mean() - load)


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


def publish(draft: Path, folder: Path) -> None:
    """File by file, each by rename: a reader never sees half a file."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in draft.iterdir():
        path.replace(folder / path.name)
    draft.rmdir()


if __name__ == "__main__":
    main()
