"""lm-eval without its client: it builds the requests of a task, and later scores the answers to them.

Run by the Python of lm-eval's own environment, with one JSON job on stdin; the last line of stdout is `{"ok": …}`.
moonpad sends the requests itself, so that each answer is kept as it comes, and none is asked for twice. What is asked
and what counts as right is lm-eval's own: its task, its few-shot examples, its payloads, its filters and its metrics.

{"do": "build", "requests": FILE, …}                a line a question: doc_id, doc_hash, question, target, payload
{"do": "score", "answers": FILE, "scores": FILE, …} lines {"doc_id", "outputs"} in, one line a question and filter out
both: "model_type", "model_args", "fewshot", "chat_template", "multiturn", "gen_kwargs", "limit", "data": {train, test}
"""

import copy
import ctypes
import json
import logging
import signal
import sys
from importlib.metadata import version
from pathlib import Path

# A moonpad that is killed takes this with it (PR_SET_PDEATHSIG of linux/prctl.h); to import lm-eval takes seconds.
ctypes.CDLL(None).prctl(1, signal.SIGKILL)

import lm_eval
import yaml
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI
from lm_eval.utils import handle_non_serializable, hash_string

TASK = "gsm8k_local"
MODELS = {"local-completions": LocalCompletionsAPI, "local-chat-completions": LocalChatCompletion}


class Built(Exception):
    """All requests are written: there is nothing to evaluate yet."""


def model_of(job, generate):
    """lm-eval's model, which hands its requests to `generate` and sends none."""

    class Unsent(MODELS[job["model_type"]]):
        def generate_until(self, requests, disable_tqdm=False):
            return generate(self, requests)

    # The address is in no payload; without a tokenizer no server is asked for one.
    return Unsent(base_url="http://127.0.0.1:9/v1", **job["model_args"])


def task_of(data):
    """lm-eval's own gsm8k, with its rows from local files."""
    stock = Path(lm_eval.__file__).parent / "tasks" / "gsm8k" / "gsm8k.yaml"
    task = yaml.safe_load(stock.read_text())
    task.pop("tag", None)
    task.pop("dataset_name", None)
    return {**task, "task": TASK, "dataset_path": "json", "dataset_kwargs": {"data_files": dict(data)}}


def evaluated(job, generate, **options):
    return lm_eval.simple_evaluate(
        model=model_of(job, generate),
        tasks=[task_of(job["data"])],
        num_fewshot=job["fewshot"],
        apply_chat_template=job["chat_template"],
        fewshot_as_multiturn=job["multiturn"],
        gen_kwargs=job["gen_kwargs"] or None,
        log_samples=True,
        **options,
    )


def payload_of(model, context, gen_kwargs):
    """As TemplateAPI.model_call makes it of one request, and amodel_call of several at once."""
    # Only model_call passes the end-of-text string on.
    more = {"eos": model.eos_string} if model._concurrent <= 1 else {}
    message = model.create_message([context])
    return model._create_payload(message, generate=True, gen_kwargs=copy.deepcopy(gen_kwargs), seed=model._seed, **more)


def build(job):
    def generate(model, requests):
        # The order in which lm-eval sends them: the longest first; `len` of a chat is 1, so those stay in order.
        order = sorted(range(len(requests)), key=lambda place: -len(requests[place].args[0]))
        with Path(job["requests"]).open("w", encoding="utf-8") as file:
            for place in order:
                request = requests[place]
                context, gen_kwargs = request.args
                doc = json.dumps(request.doc, indent=2, default=handle_non_serializable, ensure_ascii=False)
                row = {
                    "doc_id": request.doc_id,
                    "doc_hash": hash_string(doc),
                    "question": request.doc["question"],
                    "target": request.doc["answer"],
                    "payload": payload_of(model, context, gen_kwargs),
                }
                file.write(json.dumps(row) + "\n")
        raise Built

    try:
        evaluated(job, generate, limit=job["limit"])
    except Built:
        return {}
    raise SystemExit("lm-eval built no request")


def score(job):
    with Path(job["answers"]).open(encoding="utf-8") as file:
        outputs = {row["doc_id"]: row["outputs"] for row in map(json.loads, file)}
    chosen = sorted(outputs)

    def generate(model, requests):
        texts = [model.parse_generations([outputs[chosen[request.doc_id]]])[0] for request in requests]
        return ["" if text is None else text for text in texts]

    results = evaluated(job, generate, samples={TASK: chosen})
    with Path(job["scores"]).open("w", encoding="utf-8") as file:
        for row in results["samples"][TASK]:
            scored = {
                "doc_id": row["doc_id"],
                "filter": row["filter"],
                "extracted": row["filtered_resps"][0],
                "exact_match": row["exact_match"],
            }
            file.write(json.dumps(scored) + "\n")
    numbers = {key: value for key, value in results["results"][TASK].items() if isinstance(value, int | float)}
    return {"results": numbers, "task_version": results["versions"][TASK]}


def main():
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    job = json.load(sys.stdin)
    done = {"build": build, "score": score}[job["do"]](job)
    print(json.dumps({"ok": True, "lm_eval": version("lm_eval"), **done}), flush=True)


if __name__ == "__main__":
    main()
