"""What a loop fills that cannot be followed is unknown behind it, not empty; the rest stays what it was."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

START = '\nexport NCCL_IB_HCA="$H"\nvllm serve a/b --host "$H"\n'


def host(text: str) -> tuple[str, tuple[str, ...]]:
    (command,) = [each for each in read_script(text + START, markdown=False).commands if each.program == "vllm serve"]
    assert command.env["NCCL_IB_HCA"].text == command.argv[-1].text
    return command.argv[-1].text, command.argv[-1].unresolved


@pytest.mark.parametrize(
    "loop",
    [
        'for d in /sys/class/net/*; do H+="$(basename $d),"; done',
        'for d in /sys/class/net/*; do case "$(cat $d/state)" in *UP*) H+="${H:+,}$(basename $d)";; esac; done',
        'for d in $(ls /sys/class/net); do if grep -q up $d/state; then H="$H,$d"; fi; done',
        'for d in /sys/class/net/*; do if [ -e $d/x ]; then H="$d"; break; fi; done',
        'while read -r d; do [ -n "$d" ] && H="${H:+$H,}$d"; done < <(ls /sys/class/net)',
        'while [ -z "$H" ]; do H=$(curl -s http://head/address); done',
        'for i in $(seq 0 $N); do H="$H,node$i"; done',
    ],
)
def test_what_a_loop_over_unknown_things_fills_is_unknown(loop: str) -> None:
    assert host(f'H=""\n{loop}') == ("$H", ("H",))


@pytest.mark.parametrize(
    ("loop", "left"),
    [
        ('for i in 0 1 2; do H="$H,node$i"; done', ",node0,node1,node2"),
        ('for a in "$@"; do case "$a" in --host=*) H="${a#*=}";; esac; done', ""),
        ('while [ $# -gt 0 ]; do case "$1" in --host) H="$2"; shift 2;; esac; done', ""),
        ('while :; do case "$1" in --host) H="$2"; shift 2;; *) break;; esac; done', ""),
        ("for f in conf/*.txt; do echo $f; done", ""),
    ],
)
def test_what_can_be_followed_and_what_the_caller_gives_stays_what_it_was(loop: str, left: str) -> None:
    assert host(f'H=""\n{loop}') == (left, ())


def test_the_value_before_a_loop_stays_where_there_is_one() -> None:
    assert host("H=0.0.0.0\nfor i in /sys/*; do [ -e $i/up ] && H=$(cat $i/ip); done") == ("0.0.0.0", ())
