"""How `explain` reads tests/explain_corpus: `benchmarks/explain/score.py [open|apart|all] [-v] [errors] [NNN …]`.

Compared with what was expected before any run: whether each deployment is found with its engine, layout, context,
devices and model; whether each certain mistake is named; and which errors nobody expected. `-v` lists them.
A mistake counts as named where a finding stands at a flag or a variable that the expectation is about, has the code for
memory where that is about memory, or has the words of `told_by`, which a person wrote who had read the answer. An error
is expected where an expectation is about the same flag and speaks of the same fault, in words that both have; `errors`
prints all errors, for a person to go through them.
"""

from __future__ import annotations

import re
import statistics
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from moonpad.catalog.calibrations import calibrations
from moonpad.explain.commands import Problem
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.report.explain_json import explain_json
from moonpad.report.explain_view import explain_view
from moonpad.values.errors import MoonpadError
from moonpad.values.finding import Code, Finding, Severity

CORPUS = Path(__file__).parents[2] / "tests" / "explain_corpus"
MEMORY_CODES = {"does-not-fit", "tight"}
CODES: Counter[str] = Counter()
"""Of errors that nobody expected."""
ERRORS: list[tuple[str, Finding, dict[str, Any] | None]] = []
"""Each with its input, and the expectation that speaks of the same."""
SHARING = ("sglang", "tensorrt-llm")
LAYOUT = ("tp", "pp", "dp", "ep")


def observed(one: Judged) -> dict[str, Any]:
    layout, cluster = one.layout, one.cluster
    row: dict[str, Any] = {"engine": one.engine, "kind": one.kind, "version": one.version}
    row["model"] = one.checkpoint.name if one.checkpoint else one.model_written
    row["devices"] = (cluster.devices, cluster.name.rpartition("x")[2]) if cluster else (0, "")
    row["because"] = one.cluster_because
    for name in LAYOUT:
        row[name] = getattr(layout, name) if layout and name not in one.unknown else 0
    row["context"] = (one.settings.max_model_len or 0) if one.settings else 0
    if one.engine == "llama-cpp" and one.settings:  # it is asked for the tokens of all slots, which is what is expected
        row["context"] *= one.settings.max_num_seqs or 1
    return row


def differences(expected: dict[str, Any], seen: dict[str, Any]) -> list[str]:
    found = [
        f"{name} {seen[name]}, not {expected[name]}" for name in ("engine", "kind") if seen[name] != expected[name]
    ]
    if expected["dp"] > 1 and seen["engine"] in SHARING and seen["dp"] * seen["tp"] == expected["tp"]:
        seen = {**seen, "tp": expected["tp"]}  # attention data parallel: their flags count the GPUs of all its ranks
    for name in LAYOUT if seen["engine"] != "llama-cpp" else ():  # it has no such sizes
        if name == "ep" and (expected["ep"] in (0, 1) or expected["tp"] == 0):
            continue  # ranks of one expert group: engines and people count them differently where there is none
        if expected[name] != seen[name] and not (expected[name] in (0, 1) and seen[name] in (0, 1)):
            found.append(f"{name} {seen[name]}, not {expected[name]}")
    if expected["context"] != seen["context"]:
        found.append(f"context {seen['context']}, not {expected['context']}")
    wanted = re.fullmatch(r"(\d+)x(?!\d+x$)(.+)|(\d+)x(\d+)x(.+)", expected["devices"])
    if wanted and wanted[1] and not re.fullmatch(r"[\d ]+GB|NPU", wanted[2]):
        count, kind = int(wanted[1]), wanted[2].casefold()
        nested = re.fullmatch(r"(\d+)x(.+)", kind)
        if nested:
            count, kind = count * int(nested[1]), nested[2]
        named = re.sub(r"[^a-z0-9]", "", kind) in re.sub(r"[^a-z0-9]", "", seen["because"].casefold())
        if not seen["devices"][0] and "catalogue" in seen["because"] and named:
            pass  # a kind that the catalogue does not have is named, and nothing judged
        elif seen["devices"][0] != count or not same_kind(kind, seen["devices"][1].casefold()):
            found.append(f"devices {seen['devices']}, not {expected['devices']}")
    elif not expected["devices"] and seen["devices"][0]:
        found.append(f"devices {seen['devices']}, which nothing says")
    model = re.sub(r"-\d{5}-of-\d{5}\.gguf$", "", expected["model"].rpartition("/")[2].casefold())
    # `-GGUF` may stand between the model's name and that of its file.
    plain, shown = (re.sub(r"gguf|[^a-z0-9]", "", name) for name in (model, seen["model"].casefold()))
    if (
        model
        and not expected["model"].startswith(("/", "./", "~"))
        and plain not in shown
        and (shown or "kimi" in model)
    ):
        found.append(f"model {seen['model'] or '?'}, not {expected['model']}")
    return found


def same_kind(asked: str, seen: str) -> bool:
    asked = re.sub(r"^ascend ", "", asked.replace("910b", "a2").replace("910c", "a3"))
    plain, other = (re.sub(r"[^a-z0-9]", "", re.sub(r"\bpro\b", "", name)) for name in (asked, seen))
    return plain in other or other in plain or plain[:4] == other[:4]


def marks(finding: dict[str, Any]) -> set[str]:
    """Flags and variables that an expectation is about."""
    return marks_in(finding["about"])


def marks_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w./-])--?[A-Za-z][\w-]+|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+", text))


SAID = {
    "version": r"cannot serve|came with|is older|reported for",
    "placeholder": r"stands? (?:in )?for|stand-in|to be filled|placeholder",
    "memory": r"of weights|weights (?:alone )?(?:are|take)|hold[s]? (?:them|it)|out of memory|no memory",
    "trust": r"trust.remote.code",
    "missing-dependency": r"No module named|not installed|lacks the package|pip install",
    "release-bug": r"reported|known (?:bug|report|failure)",
    "weights-for-ascend": r"made for Ascend|ModelSlim",
    "parser": r"parser",
    "shell-redirect": r"redirect|>=",
    "merge-conflict": r"conflict",
    "entrypoint": r"starts its server",
    "draft-not-a-model": r"is a method",
    "speculative": r"is a method",
}
"""What a finding says that means the kind of mistake whose code begins so."""


def is_named(finding: dict[str, Any], seen: list[Finding]) -> bool:
    said = next((words for code, words in SAID.items() if finding["code"].replace("_", "-").startswith(code)), "")
    if said and any(re.search(said, f"{one.where} {one.message}", re.IGNORECASE) for one in seen):
        return True
    at = {flag.replace("_", "-").casefold() for flag in marks(finding)}
    memory = "memory" in f"{finding['code']}".casefold() or "does not fit" in finding["why"]
    for one in seen:
        if memory and one.code.value in MEMORY_CODES:
            return True
        text = f"{one.where} {one.message} {one.remedy}".replace("_", "-").casefold()
        if at and any(re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", text) for flag in at):
            return True
        code = finding["code"].replace("_", "-").casefold()
        if code == one.code.value or (not at and any(word in text for word in words_of(finding["about"]))):
            return True
    return False


FLAG_CODES = {"unknown-flag", "removed-flag", "renamed-flag", "prefix-flag"}
OF_FLAGS = re.compile(
    r"flag|option|argument|typo|lost|continu|line|removed|deprecated|unknown|gone|rename|refuse|no such"
)
COMMON = {
    "this",
    "that",
    "with",
    "from",
    "have",
    "than",
    "then",
    "they",
    "there",
    "which",
    "where",
    "their",
    "does",
    "must",
    "take",
    "takes",
    "only",
    "what",
    "when",
    "would",
    "into",
    "more",
    "most",
    "also",
    "here",
    "them",
    "engine",
    "kimi",
    "vllm",
    "sglang",
    "moonpad",
    "write",
    "known",
    "needs",
    "value",
    "values",
    "model",
    "layer",
}
"""Words that two texts have in common whatever they speak of."""


def is_expected(finding: dict[str, Any], error: Finding) -> bool:
    """Whether the expectation is about the same flag or word as the error, and of the same fault."""
    code, said = finding["code"].replace("_", "-"), f"{finding['about']} {finding['why']}"
    about_memory = re.search(r"memory|weights|does not fit|GiB|\bGB\b|out of memory|KV", f"{code} {said}") is not None
    if error.code.value in MEMORY_CODES:
        return about_memory
    at, its = (
        {mark.replace("_", "-").casefold() for mark in found} for found in (marks(finding), marks_in(error.where))
    )
    if its and at and not any(one.startswith(other) or other.startswith(one) for one in its for other in at):
        return False
    text = f"{error.where} {error.message} {error.remedy}"
    spoken = {mark.replace("_", "-").casefold() for mark in marks_in(text)}
    if not its and not at & spoken and not any(word in text.casefold() for word in words_of(finding["about"])):
        return False
    if error.code.value in FLAG_CODES and OF_FLAGS.search(f"{code} {finding['why']}"):
        return True
    own = set().union(*(mark.strip("-").split("-") for mark in at | its))
    one, other = (content(words) - own for words in (f"{code} {said}", f"{error.message} {error.remedy}"))
    return bool(one & other)


def content(text: str) -> set[str]:
    """Its numbers, and the beginnings of the words that say something."""
    words = re.findall(r"[a-z]{4,}|\d+", text.casefold())
    return {word[:6] for word in words if word not in COMMON}


def is_told(finding: dict[str, Any], problems: tuple[Problem, ...]) -> bool:
    """Whether what the shell does not read as meant is what was expected."""
    about = f"{finding['code']} {finding['about']} {finding['why']}".casefold()
    if finding["about"].startswith("#") and any(problem.code == "comment-in-command" for problem in problems):
        return True
    return any(
        re.search(rf"\b{word}", problem.message.casefold()) and re.search(rf"\b{word}", about)
        for problem in problems
        for word in ("backslash", "quote", "placeholder", "redirect", "continu", "conflict", "lines?", "cut", "yaml")
    )


def words_of(about: str) -> list[str]:
    return [word.replace("_", "-").casefold() for word in re.findall(r"[\w.-]{6,}", about)]


def report(folder: Path, totals: dict[str, list[float]], *, verbose: bool) -> None:
    expect = tomllib.loads((folder / "expect.toml").read_text(encoding="utf-8"))
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "expect.toml")
    files.sort(key=lambda path: not path.name.startswith(("input", "Dockerfile")))
    lines: list[str] = []
    began = time.perf_counter()
    try:
        script = read_files([(str(path), path.read_text(encoding="utf-8")) for path in files])
        judged = list(judge(script, Question(), tuple(calibrations())))
        view = explain_view(judged, script, 80, ascii_only=False) if judged else None
        explain_json(judged, script)
        instead = {id(other) for one in judged for other in one.alternatives}
        judged = [each for one in judged for each in (one, *one.alternatives)]
    except MoonpadError as error:
        judged, view, instead = [], None, set[int]()
        lines.append(f"not read: {error}")
    totals["seconds"].append(time.perf_counter() - began)
    if view is not None:
        from io import StringIO

        from rich.console import Console

        console = Console(file=StringIO(), width=80)
        console.print(view)
        totals["lines"].append(console.file.getvalue().count("\n"))  # type: ignore[attr-defined]
    wanted = [
        row
        for row in expect["deployments"]
        if row["kind"] not in ("client", "router") and row["engine"] not in ("dynamo", "litellm", "")
    ]
    shown = [one for one in judged if one.layout is not None or one.kind in ("serve", "prefill", "decode")]
    rows = [observed(one) for one in shown]
    differing = [row for row, one in zip(rows, shown, strict=True) if id(one) in instead]
    totals["read"].append(bool(rows) or not wanted)
    free, wrong = list(rows), 0
    for number, row in enumerate(wanted):
        best = min(free, key=lambda seen: len(differences(row, seen)), default=None)
        if best is None:
            lines.append(f"deployment {number} is not found: {row['engine']} tp{row['tp']} pp{row['pp']} dp{row['dp']}")
            wrong += 1
            continue
        free.remove(best)
        if found := differences(row, best):
            lines.append(f"deployment {number}: {'; '.join(found)}")
            wrong += 1
    for row in free:
        if row in differing:
            continue  # another branch, shown as the differences of the deployment
        lines.append(f"one too many: {row['engine']} {row['kind']} tp{row['tp']} pp{row['pp']} dp{row['dp']}")
        wrong += 1
    totals["right"].append(not wrong)
    findings = [finding for one in judged for finding in one.findings]
    must = [finding for finding in expect.get("findings", []) if finding["must"]]
    # What a later release mended stands at a flag without being about how it is written.
    placed = [finding for finding in findings if finding.code is not Code.MENDED_LATER]
    for finding in must:
        named = is_named(finding, placed) or (bool(judged) and is_told(finding, script.problems))
        if not named and "told_by" in finding:
            said = (*(one.message for one in findings), *(one.message for one in (script.problems if judged else ())))
            named = any(re.search(finding["told_by"], message) for message in said)
        totals["named"].append(named)
        if not named:
            lines.append(f"not named: {finding['code']} about {finding['about']}: {finding['why']}")
    for finding in findings:
        if finding.severity is Severity.ERROR:
            why = next((one for one in expect.get("findings", []) if is_expected(one, finding)), None)
            expected = why is not None
            totals["unexpected errors"].append(not expected)
            ERRORS.append((folder.name, finding, why))
            CODES[finding.code.value] += not expected
            if not expected:
                lines.append(f"error that nobody expected: {finding.code.value} {finding.where}: {finding.message}")
    if verbose and lines:
        print(f"\n{folder.name}")
        for line in lines:
            print("  " + line)


def main() -> None:
    words = sys.argv[1:]
    half = next((word for word in words if word in ("open", "apart", "all")), "open")
    numbers = {word for word in words if word.isdigit()}
    totals: dict[str, list[float]] = {
        name: [] for name in ("seconds", "lines", "read", "right", "named", "unexpected errors")
    }
    for folder in sorted(path for path in CORPUS.iterdir() if path.is_dir()):
        is_open = tomllib.loads((folder / "expect.toml").read_text())["half"] == "open"
        if (numbers and folder.name[:3] in numbers) or (
            not numbers and half in ("all", "open" if is_open else "apart")
        ):
            report(folder, totals, verbose="-v" in words)
    if "errors" in words:
        for name, finding, why in ERRORS:
            print(f"\n{name}\n  {finding.code.value} {finding.where}: {finding.message}")
            print(f"  expected: {why['about']}: {why['why']}" if why else "  NOBODY EXPECTED IT")
    print(f"\n{half}: {len(totals['seconds'])} inputs")
    for name in ("read", "right", "named", "unexpected errors"):
        values = totals[name]
        print(f"{name}: {int(sum(values))} of {len(values)}")
    print(f"  of these by code: {dict(CODES.most_common())}")
    if totals["lines"]:
        print(f"lines of a judgement: median {statistics.median(totals['lines'])}, most {max(totals['lines'])}")
    print(f"seconds: mean {statistics.mean(totals['seconds']):.2f}, most {max(totals['seconds']):.2f}")


if __name__ == "__main__":
    main()
