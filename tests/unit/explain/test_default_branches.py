"""Conditions that a script decides by its own defaults: what it starts as it is written, by bash and by us."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_json import explain_json
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask, ask_one

START = "vllm serve moonshotai/Kimi-K2.6 --trust-remote-code"
AS_BASH = {
    "a default in the test": r"""A=(-tp 8)
if [ "${SPREAD:-false}" = "true" ]; then A=(-dp 8); fi
vllm serve "${A[@]}"
""",
    "a default above the test": r"""S="${S:-1}"
A=()
if [[ "$S" == 1 ]]; then A+=(--seed "$S"); fi
vllm serve "${A[@]}"
""",
    "a value of the script": r"""ON=true
X=
if $NOTHING; then :; fi
[ $ON = true ] && X=--seed=3
vllm serve $X
""",
    "the other side": r"""M=${M:-tp}
if [ "$M" = dp ]; then A="-dp 8"; else A="-tp 8"; fi
vllm serve $A
""",
    "the second of three": r"""M=b
if [ $M = a ]; then A=1; elif [ $M = b ]; then A=2; else A=3; fi
vllm serve $A
""",
    "a case": r"""M="${1:-large}"
case "$M" in
 small|tiny) TP=1 ;;
 la*) TP=8 ;;
 *) exit 2 ;;
esac
vllm serve -tp $TP
""",
    "a case that has none": r"""TP=4
case "${M:-x}" in
 small) TP=1 ;;
esac
vllm serve -tp $TP
""",
    "a number": r"""EP=${EP:-1}
A=()
if [ "$EP" -gt 1 ]; then A=(--enable-expert-parallel); fi
vllm serve x "${A[@]}"
""",
    "no text": r"""D=""
if [ -n "$D" ]; then A="--draft $D"; else A="--plain"; fi
vllm serve $A
""",
    "three tests": r"""B="${B:-20}"
A=()
if [[ -n "$B" \
  && "$B" != "0" && "$B" != auto ]]; then A+=(-b $B); fi
vllm serve ${A[@]}
""",
    "one of two": r"""M=x
if [[ $M == y || $M == x ]]; then A=1; else A=2; fi
if [ $M = y -o $M = z ]; then B=1; else B=2; fi
vllm serve $A $B
""",
    "two lists": r"""M=x
N=y
if [ $M = x ] && [ $N = x ]; then A=1; else A=2; fi
vllm serve $A
""",
    "a negation": r"""M=x
if ! [ $M = y ]; then A=1; else A=2; fi
if [[ ! -z $M ]]; then B=1; else B=2; fi
vllm serve $A $B
""",
    "a pattern": r"""M=Kimi-K2.6
if [[ $M == Kimi* ]]; then A=1; else A=2; fi
if [[ $M == "Kimi*" ]]; then B=1; else B=2; fi
vllm serve $A $B
""",
    "or else": r"""M=x
[ $M = x ] || A=1
[ $M = y ] || B=2
vllm serve ${A:-none} $B
""",
    "a chain": r"""M=x
A=0
[ $M = x ] && [ $M = y ] && A=1
vllm serve $A
""",
    "exported": r"""L=${L:-0}
export MP_A=1
if [ $L = 1 ]; then export MP_B=1; else export MP_C=1; fi
vllm serve
""",
    "nested": r"""A=a
B=b
if [ $A = a ]; then if [ $B = c ]; then X=1; else X=2; fi; else X=3; fi
vllm serve $X
""",
    "rounds": r"""for i in 0 1 2; do
 X=
 [ $i -gt 0 ] && X=--headless
 vllm serve --rank $i $X
done
""",
    "printf": r"""M=m
printf -v J '{"model":"%s","n":%d}' "$M" 7
K=$(printf '%s-%%' $M)
vllm serve "$J" $K
""",
    "arguments": r"""M=tp
TP=8
while [ $# -gt 0 ]; do case $1 in --dp) M=dp; shift;; --tp) TP=$2; shift 2;; esac; done
if [ $M = dp ]; then A=(-dp $TP); else A=(-tp $TP); fi
vllm serve "${A[@]}"
""",
    "each argument": r"""M=tp
for a in "$@"; do case $a in --dp) M=dp ;; esac; done
if [ $M = dp ]; then A=1; else A=2; fi
vllm serve $A
""",
}
_PRELUDE = r"""vllm() { printf 'CALL\n'; printf '%s\n' "$@"; env | grep ^MP_ | sort; }
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
@pytest.mark.parametrize("script", AS_BASH.values(), ids=list(AS_BASH))
def test_the_start_is_the_one_of_bash(script: str) -> None:
    done = subprocess.run(
        ["bash", "-c", _PRELUDE + script], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    calls: list[str] = []
    for command in read_script(script, markdown=False).commands:
        if command.words and command.words[0].text == "vllm":
            assert not any(word.unresolved for word in command.words), command
            env = {name: word.text for name, word in command.env.items() if name.startswith("MP_")}
            calls += ["CALL", *(word.text for word in command.words[1:])]
            calls += [f"{name}={env[name]}" for name in sorted(env)]
    assert calls == done.stdout.splitlines()


UNKNOWN = [
    'A=(-tp 8)\nif [ "$SPREAD" = true ]; then A=(-dp 8); fi\n',
    "A=(-tp 8)\nif some_program --asks; then A=(-dp 8); fi\n",
    'A=(-tp 8)\nif [[ "$(uname -m)" = aarch64 ]]; then A=(-dp 8); fi\n',
    'N=$(nvidia-smi -L | wc -l)\nA=(-tp 8)\nif [ "$N" -lt 8 ]; then A=(-tp 4); fi\n',
    'A=(-tp 8)\nif [ "${NODE_RANK:-0}" = 0 ]; then A=(-dp 8); fi\n',
    "i=0\nwhile read line; do\nA=(-tp 8)\n[ $i = 1 ] && A=(-dp 8)\ni=$((i+1))\n",
    'read -r M\nA=(-tp 8)\nif [ "$M" = dp ]; then A=(-dp 8); fi\n',
    'A=(-tp 8)\nif [ "$1" = dp ]; then A=(-dp 8); fi\n',
    'A=(-tp 8)\nM=${M:-dp}\nif [[ "$M" =~ ^d.$ ]]; then A=(-dp 8); fi\n',
]


@pytest.mark.parametrize("text", UNKNOWN)
def test_without_a_default_both_branches_may_run(text: str) -> None:
    judged = ask_one(f'{text}{START} "${{A[@]}}"\n')
    assert "tp" in judged.unknown


OTHERS = f"""LAYOUT=(--tensor-parallel-size 8)
SHARE=0.90
EXTRA=()
if [ "${{DP_ATTENTION:-false}}" = "true" ]; then
  LAYOUT=(--tensor-parallel-size 1 --data-parallel-size 8)
  SHARE=0.85
  EXTRA=(--seed 3)
fi
{START} "${{LAYOUT[@]}}" --gpu-memory-utilization $SHARE "${{EXTRA[@]}}"
"""


def test_the_other_branch_is_named_with_what_switches_it() -> None:
    (judged,) = ask(OTHERS, "8xH200")
    assert not judged.unknown
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.dp) == (8, 1)
    shown = " ".join(explain_view((judged,), read_script(OTHERS), 200).plain.split())
    assert (
        "Judged by the script's own defaults; with DP_ATTENTION=true: --tensor-parallel-size 1 --data-parallel-size 8 "
        "(LAYOUT, line 5), SHARE=0.85 (line 6)"
    ) in shown
    assert "Judged without what conditions add: --seed 3 (EXTRA, line 7)" in shown
    (row,) = explain_json((judged,), read_script(OTHERS))["deployments"]
    assert [(each["name"], each["switch"]) for each in row["otherwise"]] == [
        ("LAYOUT", "DP_ATTENTION=true"),
        ("SHARE", "DP_ATTENTION=true"),
    ]


@pytest.mark.parametrize(("default", "lines"), [("dp", [5, 3]), ("tp", [3, 5]), ("", [5, 3])])
def test_the_start_of_the_default_stands_for_the_others(default: str, lines: list[int]) -> None:
    text = f"""{f'MODE="${{1:-{default}}}"' if default else ""}
case "$MODE" in
  tp) {START} --tensor-parallel-size 8 ;;
  *)
    {START} --data-parallel-size 8 ;;
esac
"""
    (judged,) = ask(text, "8xH200")
    assert [each.sources[0].line for each in (judged, *judged.alternatives)] == lines


@pytest.mark.parametrize("default", ["0", "1"])
def test_variables_of_the_environment_follow_the_default(default: str) -> None:
    text = f'if [ "${{OLD:-{default}}}" = 1 ]; then export VLLM_FLASH_ATTN_VERSION=2; fi\n{START} -tp 8\n'
    (judged,) = ask(text, "8xH200")
    assert ("VLLM_FLASH_ATTN_VERSION" in judged.sources[0].env) == (default == "1")
