"""What a script does otherwise than its own lines say, and JSON that is none for one slip."""

from __future__ import annotations

import pytest

from moonpad.explain.checks.shell.json_slips import slip_in
from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 16"


def said(text: str, words: str, name: str = "run.sh") -> list[str]:
    found = [finding for each in judge(read_files([(name, text)]), Question()) for finding in each.findings]
    return [finding.message for finding in found if words in finding.message]


def test_used_before_it_is_set() -> None:
    (message,) = said(f"LOG=$LOG_DIR/a.log\nLOG_DIR=/var/log\n{SERVE} > $LOG", "is empty there")
    assert message == "line 1 uses LOG_DIR before line 2 sets it: it is empty there, unless it was exported"


@pytest.mark.parametrize(
    "text",
    [
        f"LOG_DIR=/var/log\nLOG=$LOG_DIR/a.log\n{SERVE}",
        f"LOG=$LOG_DIR/a.log\nLOG_DIR=${{LOG_DIR:-/var/log}}\n{SERVE}",
        f"source env.sh\nLOG=$LOG_DIR/a.log\nLOG_DIR=/var/log\n{SERVE}",
        f"LOG=${{LOG_DIR:-/tmp}}/a.log\nLOG_DIR=/var/log\n{SERVE}",
        f"if [ -d x ]; then\n  LOG_DIR=x\nfi\nLOG=$LOG_DIR/a.log\nLOG_DIR=/var/log\n{SERVE}",
        f"f() {{\n  echo $LOG_DIR\n}}\nLOG_DIR=/var/log\nf\n{SERVE}",
        f"LOG=$HOME/a.log\n{SERVE}",
    ],
)
def test_set_in_time_or_elsewhere(text: str) -> None:
    assert not said(text, "is empty there")


def test_a_call_sets_what_is_not_read() -> None:
    script = '# TP=8 DCP=2 bash run.sh\nDCP_SIZE="${DCP_SIZE:-1}"\nTP="${TP:-8}"\n' + SERVE + " -dcp $DCP_SIZE"
    assert said(script, "it has no effect") == [
        "the call in line 1 sets DCP, but the script reads DCP_SIZE: it has no effect"
    ]
    assert not said(script.replace("DCP=2", "DCP_SIZE=2"), "it has no effect")
    assert not said(script + "\necho $DCP", "it has no effect")


def test_an_option_becomes_the_argument() -> None:
    script = f'# Usage: ./run.sh [--port PORT]\nPORT="${{1:-8000}}"\n{SERVE} --port $PORT'
    assert said(script, "$1 is the word --port")
    assert not said(script.replace("[--port PORT]", "[PORT]"), "is the word")
    assert not said(
        script.replace("PORT=", "while [ $# -gt 0 ]; do case $1 in *) shift;; esac; done\nPORT=", 1), "word"
    )


def test_an_option_in_a_comment() -> None:
    script = f'SPEC=\'{{"method": "eagle3"}}\'\n# --speculative-config "$SPEC" \\\n{SERVE}'
    assert said(script, "commented out") == [
        "SPEC is set, but --speculative-config that would use it is commented out (line 2)"
    ]
    assert not said(script + ' --speculative-config "$SPEC"', "commented out")
    assert not said(f"# --port $PORT\n{SERVE}", "commented out")
    assert not said(f"export PORT=1\n# --port $PORT\n{SERVE}", "commented out")


def test_export_without_a_name() -> None:
    assert said(f"export    # later\n{SERVE}", "export without a name")
    assert not said(f"export A=1\n{SERVE}", "export without a name")
    assert not said(f"MODEL := K2\nexport\nserve:\n\t{SERVE}", "export without a name")


@pytest.mark.parametrize(
    ("text", "slip"),
    [
        ('{\n "a": 1,  # new\n "b": 2\n}', (1, "comment")),
        ('{\n "a": 1 // new\n}', (1, "comment")),
        ('{"a": [1, 2,], "b": {}}', (0, "comma")),
        ('{\n "a": {\n  "b": true,\n }\n}', (2, "comma")),
        ('{"a": "x # y", "b": "http://c"}', None),
        ('{"a": 1, ...}', None),
        ("{'a': 1,}", None),
        ('{"a": "x,}"}', None),
        ('{"a": 1', None),
        ("not JSON", None),
    ],
)
def test_one_slip(text: str, slip: tuple[int, str] | None) -> None:
    found = slip_in(text)
    assert (found and (found[0], found[1].kind)) == slip


def test_json_in_bodies_fences_and_files() -> None:
    body = f'{SERVE}\ncurl http://x/v1 -d \'{{\n  "a": 1,  # new\n  "b": 2\n}}\''
    assert said(body, "JSON") == ["JSON allows no comments: parsers reject # new"]
    fence = f'# K2\n\n```json\n{{\n  "a": true,\n}}\n```\n\n```bash\n{SERVE}\n```\n'
    assert said(fence, "JSON allows no comma", "k2.md")
    file = f'cat > c.json <<EOF\n{{"a": 1,}}\nEOF\n{SERVE}'
    assert said(file, "JSON allows no comma")
    assert not said(fence.replace("```json", "```jsonc"), "JSON allows no", "k2.md")
    assert not said(fence.replace("true,", "true"), "JSON allows no", "k2.md")


def test_a_value_broken_by_its_line() -> None:
    long = "sglang serve --host 0.0.0.0 --port 30000 --tp-size 8 --trust-remote-code --model-path /data/cache/huggingf"
    (message,) = said(f"{long}\nace/hub/models--moonshotai--Kimi-K2-Instruct", "is cut off by")
    assert message.startswith("/data/cache/huggingf is cut off")
    env = "NCCL_P2P_LEVEL=NVL NCCL_IB_DISABLE=0 NCCL_IB_HCA=mlx5 NCCL_DEBUG=INFO NCCL_SOCKET_IFNAME=ens"
    assert said(f"{env}\n12f0 NCCL_DEBUG=INFO {SERVE}", "NCCL_SOCKET_IFNAME=ens is cut off")
    assert not said(f"{long} \\\n --context-length 8192", "is cut off by")
    assert not said(f"{long}\n./next.sh", "is cut off by")
    assert not said(f"{long}\nbin/next", "is cut off by")
    assert not said(f"{long}\nscripts/next.sh", "is cut off by")


def test_a_merge_that_is_not_resolved() -> None:
    text = f"{SERVE} \\\n<<<<<<< HEAD\n  --port 8000\n=======\n  --port 9000\n>>>>>>> other\n"
    assert said(text, "merge conflict") == ["line 2 to 6: an unresolved merge conflict, both halves of which are here"]
    assert not said(f"cat <<<<<<< x\n{SERVE}", "merge conflict")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('KW="${KW:-{\\"thinking\\": true, \\"effort\\": \\"high\\"}}"', True),
        ('export KW=${KW:-{"thinking": true}}', True),
        ('KW="${KW:-$DEFAULT}"', False),
        ("KW=${KW:-'{\"thinking\": true}'}", False),
        ('KW="${KW:-{\\"thinking\\": true\\}}"', False),
        ('KW="${KW:-${OTHER}}"', False),
        ('KW="${KW:-{a,b}}"', False),
    ],
)
def test_a_brace_that_ends_a_default(line: str, told: bool) -> None:
    assert bool(said(f"{line}\n{SERVE}", "gets one } too many")) is told
