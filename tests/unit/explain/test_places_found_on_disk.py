"""A place that a script looks for on the disk, and finds elsewhere: what stood in the variable before is not judged."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

CACHE = "MODEL_PATH=/data/hf-cache/hub/models--moonshotai--Kimi-K2.5\n"
SERVE = 'vllm serve "$MODEL_PATH" --tensor-parallel-size 8\n'
NEWEST = '$(ls -td "$MODEL_PATH"/snapshots/*/ | head -1)'


def judged_path(text: str) -> tuple[bool, bool]:
    """Whether the folder of the cache is told, and whether it stands in the corrected command."""
    (judged,) = ask(text)
    told = any("nothing is found here" in finding.message for finding in judged.findings)
    return told, any("/data/hf-cache" in word for line in judged.corrected for word in line.argv)


@pytest.mark.parametrize(
    "between",
    [
        f'if [ ! -f "$MODEL_PATH/config.json" ]; then\n  MODEL_PATH={NEWEST}\nfi\n',
        f'if [[ -d "$MODEL_PATH/snapshots" ]]; then MODEL_PATH={NEWEST}; fi\n',
        f'[ -f "$MODEL_PATH/config.json" ] || MODEL_PATH={NEWEST}\n',
        'if [ ! -f "${MODEL_PATH}/config.json" ]; then\n  SNAP=$(ls -td "${MODEL_PATH}/snapshots/"*/ | head -1)\n'
        '  if [ -n "$SNAP" ]; then MODEL_PATH="${SNAP%/}"; fi\nfi\n',
    ],
)
def test_another_place_is_found(between: str) -> None:
    assert judged_path(CACHE + between + SERVE) == (False, False)


@pytest.mark.parametrize(
    "between",
    [
        "",
        'if [ ! -f "$MODEL_PATH/config.json" ]; then echo missing; exit 1; fi\n',
        f'if [ "$1" = x ]; then OTHER={NEWEST}; fi\n',
    ],
)
def test_nothing_else_is_set(between: str) -> None:
    assert judged_path(CACHE + between + SERVE)[0]


def test_a_count_beside_a_test_of_a_file_stays() -> None:
    text = "TP=8\nif [ -f /etc/gpus ]; then TP=$(cat /etc/gpus); fi\nvllm serve moonshotai/Kimi-K2.5 -tp $TP\n"
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
