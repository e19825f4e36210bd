"""The parts of an evaluation: protocols against the guides, limitations, data files, scores of questions and tools."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from moonpad.catalog.evaluations import protocols, references
from moonpad.evaluate import gsm8k, question_file, tool_questions
from moonpad.evaluate.endpoint_facts import EndpointFacts, kv_tokens_of
from moonpad.evaluate.limitations import limitations, longest_s
from moonpad.evaluate.phrases import p_words
from moonpad.evaluate.references import Conditions, compared
from moonpad.evaluate.result import EvalResult, summarise
from moonpad.evaluate.sample import Sample, read_samples
from moonpad.evaluate.score import Score
from moonpad.evaluate.setup import Setup, setup_from, setup_of
from moonpad.report.eval_table import detectable_words
from moonpad.stats.proportion import Proportion, unpaired
from moonpad.values.errors import UsageError
from moonpad.values.records import replace

CHAT, COMPLETIONS = protocols()["chat"], protocols()["completions"]
ALL = 1319


def test_the_protocols_are_those_of_the_guides() -> None:
    """vLLM-Ascend: 5-shot, template, turns, greedy, top_p 1, 2048 tokens, one at a time. vLLM: raw, 5-shot, 32."""
    assert (CHAT.fewshot, CHAT.chat_template, CHAT.multiturn, CHAT.concurrency) == (5, True, True, 1)
    assert dict(CHAT.gen_kwargs) == {"max_gen_toks": 2048, "temperature": 0.0, "top_p": 1.0}
    raw = (COMPLETIONS.fewshot, COMPLETIONS.chat_template, COMPLETIONS.multiturn, COMPLETIONS.concurrency)
    assert raw == (5, False, False, 32)
    assert protocols()["completions-serial"].concurrency == 1
    assert {name: (each.path, each.max_tokens) for name, each in protocols().items() if each.task == "gsm8k"} == {
        "chat": ("/chat/completions", 2048),
        "completions": ("/completions", 256),
        "completions-serial": ("/completions", 256),
    }


def test_the_references_fit_their_own_errors() -> None:
    """A published value is its number of right answers of 1319, and its error √(p(1 − p)/1318), both as printed."""
    for reference in references().values():
        for score in reference.filters.values():
            share = Proportion(score.correct, reference.questions)
            assert round(share.value, 4) == score.value
            assert share.standard_error is not None
            assert round(share.standard_error, 4) == score.error
            near = (Proportion(score.correct + step, ALL).value for step in (-1, 1))
            assert all(round(value, 4) != score.value for value in near)


def test_tp8_against_dcp8_shows_no_difference() -> None:
    """z = 0.32 by the printed values and errors: (0.9416 − 0.9386) / √(0.0065² + 0.0066²); 0.33 by the counts."""
    tp8, dcp8 = (
        references()[name].filters["flexible-extract"] for name in ("thinking-8xh200-tp8", "thinking-8xh200-tp8-dcp8")
    )
    assert round((tp8.value - dcp8.value) / (tp8.error**2 + dcp8.error**2) ** 0.5, 2) == 0.32
    difference = unpaired(Proportion(dcp8.correct, ALL), Proportion(tp8.correct, ALL))
    assert not difference.shown
    assert difference.z == pytest.approx(0.328, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "remedy"), [("chatt", "did you mean chat?"), ("xyz", "chat, completions, completions-serial")]
)
def test_an_unknown_protocol(name: str, remedy: str) -> None:
    with pytest.raises(UsageError) as caught:
        setup_of("gsm8k", name)
    assert remedy in caught.value.remedy


def test_a_changed_protocol_says_so_and_is_read_again() -> None:
    setup = setup_of("gsm8k", "chat", concurrency=8, max_tokens=32768)
    assert setup.changed == ("concurrency 8 instead of 1", "max_tokens 32768 instead of 2048")
    assert setup.protocol.gen_kwargs["max_gen_toks"] == 32768
    assert setup_from(json.loads(json.dumps(setup.as_json()))) == setup
    assert setup_of("gsm8k", "chat", concurrency=1, max_tokens=2048).changed == ()
    for wrong in ({"concurrency": 0}, {"max_tokens": 0}, {"max_tokens": 1 << 30}):
        with pytest.raises(UsageError):
            setup_of("gsm8k", "chat", **wrong)


SOUND = EndpointFacts("m", context=8192, prompt_tokens=1200, thinks=False, seconds_per_token=0.02, first_token_s=0.5)


def texts(facts: EndpointFacts, protocol: str = "chat", questions: int = ALL) -> str:
    return " | ".join(row.text for row in limitations(protocols()[protocol], facts, questions))


def test_what_a_protocol_cannot_measure() -> None:
    assert "thinking included" in texts(replace(SOUND, thinks=True))
    assert "thinking included" not in texts(SOUND)
    raw = texts(replace(SOUND, thinks=True), "completions")
    assert "no chat template" in raw
    assert "cut after 256 tokens" in raw
    # 32 answers of 1200 + 256 tokens
    assert "46,592 tokens of KV cache, the endpoint has 40,000" in texts(
        replace(SOUND, kv_tokens=40_000), "completions"
    )
    assert "KV cache" not in texts(replace(SOUND, kv_tokens=50_000), "completions")
    # 2.8016 × √(2 × 0.9 × 0.1 / 200)
    assert "200 questions show a difference of 8.4 points" in texts(SOUND, questions=200)
    assert "too few to show any difference" in texts(SOUND, questions=1)


def test_what_is_refused() -> None:
    short = limitations(CHAT, replace(SOUND, context=3000), ALL)[0]
    assert short.refuses
    assert "3,248; the endpoint serves 3,000" in short.text
    assert "3,248" in short.remedy
    missing = limitations(COMPLETIONS, replace(SOUND, problem="/completions: HTTP 404: Not Found"), ALL)[0]
    assert missing.refuses
    assert "--protocol chat" in missing.remedy
    long = limitations(CHAT, replace(SOUND, problem="HTTP 400: maximum context length is 10"), ALL)[0]
    assert long.refuses
    assert "max_model_len" in long.remedy
    assert not any(row.refuses for row in limitations(CHAT, EndpointFacts("m"), ALL))


def test_the_longest_time() -> None:
    """1319 × (0.5 + 2048 × 0.02) s one at a time; 42 rounds of 32."""
    assert longest_s(CHAT, SOUND, ALL) == pytest.approx(1319 * (0.5 + 40.96))
    assert longest_s(COMPLETIONS, SOUND, ALL) == pytest.approx(42 * (0.5 + 5.12))
    assert longest_s(CHAT, EndpointFacts("m"), ALL) is None


def test_kv_tokens_in_metrics() -> None:
    line = 'vllm:cache_config_info{block_size="16",cache_dtype="auto",engine="0",num_gpu_blocks="1000"} 1.0\n'
    assert kv_tokens_of(f"# HELP x\n{line}") == 16_000
    assert kv_tokens_of(line + line.replace('engine="0"', 'engine="1"')) == 32_000
    assert kv_tokens_of('vllm:cache_config_info{block_size="16"} 1.0') is None
    assert kv_tokens_of("<html>") is None


@pytest.mark.parametrize(
    ("p_value", "text"),
    [(1e-9, "p < 0.0001"), (0.00041, "p = 0.00041"), (0.0129, "p = 0.013"), (0.743, "p = 0.74"), (1.0, "p = 1.00")],
)
def test_p_values_in_words(p_value: float, text: str) -> None:
    assert p_words(p_value) == text


def test_what_so_many_answers_show() -> None:
    """2.8016 × √(2 × p(1 − p) / n) with two right and two wrong answers more: of 0 of 200, p = 2/204."""
    assert "200 answers show a difference of 2.8 points" in detectable_words(Proportion(0, 200))
    assert "1,319 answers show a difference of 2.6 points" in detectable_words(Proportion(1242, 1319))
    assert "too few" in detectable_words(Proportion(1, 1))


def result_of(correct: int, count: int = ALL) -> EvalResult:
    samples = [Sample(n, "x", content="y", finish_reason="stop") for n in range(count)]
    scores = [
        Score(n, name, "", float(n < correct)) for n in range(count) for name in ("strict-match", "flexible-extract")
    ]
    return summarise(count, samples, scores)


def conditions(protocol: str = "completions", names: tuple[str, ...] = ("moonshotai/Kimi-K2-Thinking",)) -> Conditions:
    return Conditions(Setup(protocols()[protocol]), names, True, 3.0)


def test_references_of_the_same_protocol_alone() -> None:
    rows, why = compared(result_of(1238), conditions())
    assert not why
    assert {(row.reference.id, row.filter) for row in rows} == {
        (name, filter_)
        for name in ("thinking-8xh200-tp8", "thinking-8xh200-tp8-dcp8")
        for filter_ in ("strict-match", "flexible-extract")
    }
    flexible = next(row for row in rows if row.filter == "flexible-extract" and "dcp8" not in row.reference.id)
    assert flexible.difference.value == pytest.approx(-4 / 1319)
    assert "no evidence of a difference" in flexible.words
    worse, _ = compared(result_of(1150), conditions())
    assert "less accurate" in worse[0].words
    chat, _ = compared(result_of(1186), conditions("chat", ("served", "/models/Kimi-K2-Thinking")))
    assert {row.reference.id for row in chat} == {"thinking-ascend-a3"}


@pytest.mark.parametrize(
    ("given", "result", "why"),
    [
        (conditions("completions-serial"), result_of(1000), "no result was published"),
        (conditions(names=("kimi-k2-tiny",)), result_of(1000), "not of kimi-k2-tiny"),
        (conditions(), result_of(100, 200), "200 of 1,319 questions"),
        (replace(conditions(), published_data=False), result_of(1000), "not the published GSM8K"),
        (replace(conditions(), task_version=4.0), result_of(1000), "version 4.0"),
        (replace(conditions(), setup=setup_of("gsm8k", "completions", concurrency=8)), result_of(1000), "was changed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_reference_of_another_protocol(given: Conditions, result: EvalResult, why: str) -> None:
    rows, said = compared(result, given)
    assert not rows
    assert why in said


def test_an_answer_is_preferred_to_a_failure() -> None:
    rows = [
        {"doc_id": 1, "asked": "x", "problem": "HTTP 500"},
        {"doc_id": 1, "asked": "x", "content": "first"},
        {"doc_id": 1, "asked": "x", "content": "second"},
        {"doc_id": 1, "asked": "x", "round": 2, "content": "again"},
        {"torn": True},
        "nonsense",
    ]
    assert [(each.round, each.content) for each in read_samples(rows)] == [(1, "first"), (2, "again")]


def write_gsm8k(folder: Path, train: int = 6, test: int = 2) -> Path:
    for name, count in (("train", train), ("test", test)):
        rows = ({"question": f"{name} {n}?", "answer": f"so\n#### {n}"} for n in range(count))
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_gsm8k_of_local_files(tmp_path: Path) -> None:
    found = gsm8k.find_gsm8k(write_gsm8k(tmp_path))
    assert (found.count, found.published) == (2, False)
    assert found.sha256["test"] == hashlib.sha256((tmp_path / "test.jsonl").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("test.jsonl", "{}\n", "test.jsonl, line 1"),
        ("test.jsonl", '{"question": "a", "answer": "no mark"}\n', "the answer has no ####"),
        ("test.jsonl", "", "holds no question"),
        ("train.jsonl", '{"question": "a", "answer": "#### 1"}\n', "has 1 questions; the examples need 6"),
        ("train.jsonl", "[" * 5000, "train.jsonl, line 1"),
    ],
)
def test_other_files_are_refused(name: str, text: str, said: str, tmp_path: Path) -> None:
    (write_gsm8k(tmp_path) / name).write_text(text)
    with pytest.raises(UsageError, match=said):
        gsm8k.find_gsm8k(tmp_path)
    with pytest.raises(UsageError, match="cannot be read"):
        gsm8k.find_gsm8k(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("line", "content", "right", "taken"),
    [
        ({"answer": "42"}, " 42\n", True, "42"),
        ({"answer": "42"}, "It is 42", False, "It is 42"),
        ({"answer": "Paris"}, "paris", False, "paris"),
        ({"answer": "Paris", "ignore_case": True}, "PARIS", True, "PARIS"),
        ({"regex": r"\b(\d+)\b"}, "about 42 or so", True, "42"),
        ({"regex": "par.s", "ignore_case": True}, "Paris", True, "Paris"),
        ({"regex": "x|(y)"}, "x", True, "x"),
        ({"regex": "z"}, "", False, ""),
    ],
)
def test_right_answers(line: dict[str, object], content: str, right: bool, taken: str, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": "?", **line}) + "\n")
    (read,) = question_file.read_lines(path)
    assert read.right(content) == (right, taken)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"question": "?"}', "either an answer or a regex"),
        ('{"question": "?", "answer": "1", "regex": "1"}', "either an answer or a regex"),
        ('{"question": "?", "regex": "("}', "line 1"),
        ('{"question": "?", "regex": ""}', "finds any answer"),
        ('{"question": "?", "answer": " "}', "the answer is empty"),
        ('{"question": " ", "answer": "1"}', "the question is empty"),
        (
            '{"question": "?", "answer": "1", "id": 7}\n\n{"question": "!", "answer": "1", "id": "7"}',
            "line 3: line 1 has",
        ),
        ('{"question": "?", "answr": "1"}', "answr"),
        ('{"question": 1, "answer": "1"}', "question"),
        ("{", "line 1"),
        ("\n\n", "holds no question"),
    ],
)
def test_lines_that_are_no_questions(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        question_file.read_lines(path)


def call(name: str, arguments: str) -> dict[str, object]:
    return {"id": f"functions.{name}:0", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_tool_calls_are_scored() -> None:
    """Of moonpad's own set every second question needs a call; a call is valid by the schema of the offered tool."""
    protocol = protocols()["tools"]
    questions = tool_questions.own_questions(protocol, "m")
    assert len(questions) == 500
    needed, words = questions[0], questions[1]
    name = needed.payload["tools"][0]["function"]["name"]
    samples = [
        Sample(0, "x", tool_calls=(call(name, "[1]"),), finish_reason="tool_calls"),
        Sample(1, "x", content="Hello!", finish_reason="stop"),
        Sample(2, "x", content="In words.", finish_reason="stop"),
    ]
    rows = {(row.doc_id, row.filter): row for row in tool_questions.score(questions, samples)}
    assert rows[0, "calls"].correct
    assert not rows[0, "schema"].correct
    assert rows[1, "calls"].correct
    assert not rows[2, "calls"].correct
    assert (1, "schema") not in rows
    assert (needed.target, words.target) == ("a call", "words")
    assert needed.payload["max_tokens"] == 1024
    assert "stream" not in needed.payload
