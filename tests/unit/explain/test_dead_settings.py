"""Lines of a launcher that cannot have their effect."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

RUN = 'python -m sglang.launch_server --model-path "$MODEL" --attention-backend "$BACKEND" --context-length "$CTX"\n'


def said(text: str, words: str) -> list[str]:
    return [each.message for judged in ask(text) for each in judged.findings if words in each.message]


DEFAULTS = """\
BACKEND="${BACKEND:-triton}"
preset() {
    case "$1" in
        gemma) MODEL=gemma
            BACKEND="${BACKEND:-torch_native}"
            ;;
    esac
}
preset "$1"
"""


def test_a_default_behind_a_value_is_never_taken() -> None:
    assert said(DEFAULTS + RUN, "is never taken") == [
        "line 5: BACKEND has a value from line 1 on (triton), so the default torch_native is never taken"
    ]
    assert said(DEFAULTS.replace('"${BACKEND:-triton}"', "triton") + RUN, "is never taken")


@pytest.mark.parametrize(
    "text",
    [
        DEFAULTS.replace("torch_native", "triton"),
        DEFAULTS.replace("${BACKEND:-triton}", "${BACKEND:-}"),
        DEFAULTS.replace("${BACKEND:-torch_native}", "torch_native"),
        DEFAULTS.replace("    case", "    unset BACKEND\n    case"),
        DEFAULTS.replace("    case", '    BACKEND=""\n    case'),
        DEFAULTS.replace('BACKEND="${BACKEND:-triton}"', '[ -n "$X" ] && BACKEND="${BACKEND:-triton}"'),
        "`/etc/run.env`\n```\nBACKEND=triton\n```\n```\n" + DEFAULTS.replace('BACKEND="${BACKEND:-triton}"\n', "", 1),
        "cat > run.sh <<'EOF'\nBACKEND=triton\nEOF\n" + DEFAULTS,
    ],
)
def test_other_defaults_are_taken(text: str) -> None:
    assert not said(text + RUN, "is never taken")


PRESETS = """\
CTX=32768; MEM=0.85
preset() {
    case "$1" in
        small) CTX=4096; MEM=0.90 ;;
        large) CTX=262144; MEM=0.80 ;;
    esac
}
NAME=""
while [[ $# -gt 0 ]]; do
    case "$1" in
        --context-length) CTX="$2"; shift 2 ;;
        --mem-fraction) MEM="$2"; shift 2 ;;
        *) NAME="$1"; shift ;;
    esac
done
preset "$NAME"
"""


def test_presets_behind_the_options_set_them_again() -> None:
    (message,) = said(PRESETS + RUN, "have no effect")
    assert message.startswith("--context-length, --mem-fraction of the command line (line 11)")


@pytest.mark.parametrize(
    "text",
    [
        PRESETS.replace('CTX="$2"', 'CLI_CTX="$2"').replace('MEM="$2"', 'CLI_MEM="$2"'),
        PRESETS.replace('preset "$NAME"\n', "").replace("NAME=", "preset small\nNAME=", 1),
        PRESETS.replace("CTX=4096; MEM=0.90", 'CTX="${CTX:-4096}"').replace("CTX=262144; MEM=0.80", "X=1"),
    ],
)
def test_options_that_are_kept(text: str) -> None:
    assert not said(text + RUN, "have no effect")


HELD = 'TEMPLATE=""\ncase "$1" in\n  a) TEMPLATE="--chat-template a.jinja" ;;\nesac\nCMD=(sglang serve)\n'


def test_a_variable_holds_the_option_already() -> None:
    told = HELD + '[[ -n "$TEMPLATE" ]] && CMD+=(--chat-template "$TEMPLATE")\n' + RUN
    assert len(said(told, "holds --chat-template already")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "CMD+=($TEMPLATE)",
        'CMD+=(--chat-template "${TEMPLATE#--chat-template }")',
        'CMD+=(--tokenizer-path "$TEMPLATE")',
        'CMD+=(--chat-template "$OTHER")',
        '# CMD+=(--chat-template "$TEMPLATE")',
    ],
)
def test_it_is_used_as_it_is_meant(line: str) -> None:
    assert not said(f"{HELD}{line}\n{RUN}", "holds --chat-template already")


CALLED = "#!/bin/bash\n# PORT=9000 bash run.sh\nPORT=8000\nsglang serve --model-path Qwen/Qwen3-32B --port $PORT\n"


def test_a_call_whose_variable_is_set_again() -> None:
    assert said(CALLED, "the call has no effect on it") == [
        "line 2 shows a call with PORT=9000, and line 3 sets it to 8000 whatever it was: the call has no effect on it"
    ]


@pytest.mark.parametrize(
    "text",
    [
        CALLED.replace("=8000", "=${PORT:-8000}"),
        CALLED.replace("=8000", '="${PORT:-8000}"'),
        CALLED.replace("=9000", "=8000"),
        CALLED.replace("PORT=8000\n", 'if [ -z "$PORT" ]; then\nPORT=8000\nfi\n'),
        CALLED.replace("PORT=8000\n", '[ -n "$PORT" ] || PORT=8000\n'),
        CALLED.replace("PORT=8000\n", ": ${PORT:=8000}\n"),
        CALLED.replace("PORT=8000\n", "f() {\nPORT=8000\n}\n"),
    ],
)
def test_a_call_that_has_its_effect(text: str) -> None:
    assert not said(text, "the call has no effect on it")
