"""The oracle is bash itself: what it passes to a program is what the reader says, word for word."""

from __future__ import annotations

import re
import shlex
import shutil
import string
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from moonpad.explain.script import read_script
from moonpad.explain.shell.powershell import is_powershell
from moonpad.explain.shell.sentences import OF_SENTENCES

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="no bash on this machine")

# Prints each call of `vllm` with its arguments and with the exported variables whose names begin with MP_.
PRELUDE = r"""
vllm() {
  local name
  printf 'CALL\0'
  printf '%s\0' "$@"
  while IFS= read -r name; do printf 'ENV %s=%s\0' "$name" "${!name}"; done < <(compgen -e MP_ | sort)
}
"""


def said_by_bash(script: str) -> list[list[str]]:
    """The calls of `vllm`, each with its arguments and `ENV NAME=value`."""
    assert BASH is not None
    done = subprocess.run(
        (BASH, "--norc", "--noprofile", "-c", PRELUDE + script),
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    words = done.stdout.decode().split("\0")[:-1]
    calls: list[list[str]] = []
    for word in words:
        if word == "CALL":
            calls.append([])
        else:
            calls[-1].append(word)
    return calls


def said_by_moonpad(script: str) -> list[list[str]]:
    read = read_script(script, markdown=False)
    calls = []
    for command in read.commands:
        if command.words and command.words[0].text == "vllm":
            assert not any(word.unresolved for word in command.words), command
            env = sorted(f"ENV {name}={word.text}" for name, word in command.env.items() if name.startswith("MP_"))
            calls.append([*(word.text for word in command.words[1:]), *env])
    return calls


# Characters that a shell takes as they are in any quotes; `$` and the others get their own treatment below.
PRINTABLE = string.ascii_letters + string.digits + " \t%+,-./:=@^_!#&()*;<>?[]{|}~'\"\\$`éλ中"
BARE = string.ascii_letters + string.digits + "%+,-./:=@_é中"


def single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def double(text: str) -> str:
    return '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'


def escaped(text: str) -> str:
    return "".join(f"\\{character}" for character in text)


def ansi_c(text: str) -> str:
    return "$'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\t", "\\t") + "'"


TEXT = st.text(PRINTABLE, max_size=8)
PIECE = st.one_of(
    st.text(BARE, min_size=1, max_size=8),
    TEXT.map(single),
    TEXT.map(double),
    st.text(PRINTABLE, min_size=1, max_size=3).map(escaped),
    TEXT.map(ansi_c),
    TEXT.map(shlex.quote),
)
WORD = st.lists(PIECE, min_size=1, max_size=4).map("".join)
BETWEEN = st.sampled_from([" ", "  ", "\t", " \\\n", " \\\n   "])
LINES = st.lists(st.tuples(BETWEEN, WORD), min_size=1, max_size=6).map(lambda row: "".join(a + b for a, b in row))


SKETCHED = re.compile(r"[/–—-]|:?=+|[0-9]+(?:\.[0-9]+)+")
"""`vllm serve / sglang serve`, `vllm serve = x`, `vllm serve - starts it`, `vllm serve 0.25 and` are sentences."""


def speaks(text: str) -> bool:
    """Whether words are drawn that make a sentence of a command: they are among the program's own constants too."""
    return bool(OF_SENTENCES & set(re.findall(r"[a-z]+", text)))


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=8))
def test_any_quoting(lines: list[str]) -> None:
    """`serve` stands first so that no word is taken for an assignment or a comment at the beginning."""
    script = "\n".join(f"vllm serve{line} end" for line in lines)
    assume(not is_powershell(script))  # hypothesis takes `.exe` from the program's own constants
    assume(not speaks(script))
    firsts = (line.replace("\\\n", "").split() for line in lines)
    assume(not any(SKETCHED.fullmatch(words[0].strip("'\"\\$")) for words in firsts if words))
    assert said_by_moonpad(script) == said_by_bash(script)


@settings(max_examples=100, deadline=None)
@given(st.lists(WORD, min_size=1, max_size=6))
def test_places_of_words(words: list[str]) -> None:
    """What stands at a word's place is the word as it was written."""
    assume(not speaks(" ".join(words)))
    assume(SKETCHED.fullmatch(words[0].strip("'\"\\$")) is None)
    words = [*words, "end"]  # a backslash and a space at the end of a line are a mistyped continuation
    script = read_script("vllm serve " + " ".join(words), markdown=False)
    (command,) = script.commands
    written = [script.lines[w.line - 1][w.column : w.end_column] for w in command.argv]
    assert written == words


VALUES = st.lists(st.text(string.ascii_letters + string.digits + " =-", max_size=10), min_size=3, max_size=3)
BUILD = re.compile(r"[ ]*b\d+\b.*|[ ]*(?:main|master|nightly)[ ]*")
"""`vllm serve b1000 plain`: a heading that names a build, and no command."""


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_variables_are_split_as_by_bash(values: list[str]) -> None:
    assume(not any(BUILD.fullmatch(value) for value in values))
    first, second, third = values
    assume(not speaks(f"a{first} {' '.join(values)}"))
    script = f"""
A={single(first)}
B={double(second)}
LIST=({single(first)} "$B" plain)
LIST+=({single(third)})
export MP_ONE="$A$B"
vllm serve $A "$A" $A$B x$A$B"y" "${{A}}z" ${{NONE:-$B}} "${{NONE:-$B}}" ${{A:+given}} ${{NONE-none}} "${{LIST[@]}}" end
vllm serve "${{LIST[*]}}" ${{LIST[1]}} "${{LIST[0]}}" "${{NOTHING[@]:-}}" end
MP_TWO=$A vllm serve "a${{LIST[@]}}b" end
"""
    assert said_by_moonpad(script) == said_by_bash(script)


SCRIPTS = {
    "defaults": """
TP=${TP:-8}
: "${PORT:=8000}"
MODEL="moonshotai/Kimi-K2-Thinking"
if [ -z "$CONTEXT" ]; then CONTEXT=32768; fi
[ -n "$SEQS" ] || SEQS=4
vllm serve "$MODEL" --tensor-parallel-size $TP --port "$PORT" --max-model-len=$CONTEXT --max-num-seqs $SEQS
""",
    "exports": """
set -euo pipefail
export MP_A=1 MP_B="two words"
MP_C=not-exported
export MP_D; MP_D=4
declare -x MP_E=5
MP_A=11
vllm serve a
MP_F=6 MP_B= vllm serve b
X=1 Y=$X
Y=2 MP_H=$Y MP_I=$MP_H$X vllm serve b $Y
unset MP_NONE
vllm serve c
(export MP_G=7; vllm serve d)
vllm serve e
""",
    "arrays": """
ARGS=(
  --tensor-parallel-size 8   # eight
  --served-model-name "kimi k2"
)
ARGS+=(--port 8000)
ARGS[1]=16
vllm serve model "${ARGS[@]}" ${ARGS[0]}
""",
    "functions": """
start() {
  local rank=$1 port="$2"
  shift 2
  vllm serve model --node-rank "$rank" --port $port
}
function twice { start "$1" 8000; start "$1" 8001; }
twice 0
start 1 9000
""",
    "loops": """
for RANK in 0 1 2; do
  for ROLE in prefill decode; do vllm serve $ROLE-$RANK --port $((8000 + RANK * 10)); done
done
for i in {3..5}; do
  vllm serve $i
done
for word in "a b" c; do vllm serve "$word" $word; done
""",
    "arithmetic": """
N=3
vllm serve $((N * 2 + 1)) $(( (N + 1) * -2 )) $((7 / 2)) $((-7 / 2)) $((-7 % 3)) $(( $N - 5 )) end
""",
    "operators": """
true && vllm serve a || false; vllm serve b &
wait
{ vllm serve c; } ; (vllm serve d) | cat ; vllm serve e | cat
! true || vllm serve f; vllm serve g <<< text 2>/dev/null
vllm serve h;vllm serve i&&vllm serve j
""",
    "comments and quotes": """
# vllm serve no
vllm serve a#b # vllm serve no
vllm serve '# no comment' "#" \\# it\\'s "a \\
b" $'tab\\there' "$""{x}" 'x'"y"z \\
  last
""",
    "heredoc": """
NAME=k2
cat > /dev/null <<EOF
vllm serve no $NAME
EOF
vllm serve before <<-'END'
	$NAME vllm serve no
	END
vllm serve after
""",
    "conditions": """
A=1
if [ "$A" = 1 ]; then B=3; else B=3; fi
if [[ ! -v C ]]; then C=one; fi
[ "${D:-}" = "" ] && D=4
case "$A" in
  1) E=$1 ;;
esac
vllm serve ${B} ${C} $D "${E:-five}"
""",
    "strings of flags": """
FLAGS="--a 1 --b"
FLAGS="$FLAGS 2"
FLAGS+=" --c"
vllm serve $FLAGS
set -a
MP_ALL=1
set +a
MP_NOT=1
vllm serve x
""",
    "no arguments": """
vllm serve "${@:-none}" end "${1:-first}" ${2-second}
""",
    "nothing": """
EMPTY=
BLANKS='  a b '
vllm serve $EMPTY "$EMPTY" ''"" x$EMPTY x$BLANKS"y" $BLANKS$BLANKS x$EMPTY$BLANKS end
""",
    "eval": """
MODEL=m
eval "vllm serve $MODEL --a 'b c'"
eval vllm serve '$MODEL'
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts(name: str) -> None:
    calls = said_by_bash(SCRIPTS[name])
    assert calls
    assert said_by_moonpad(SCRIPTS[name]) == calls


def test_a_heredoc_is_the_file_that_bash_writes(tmp_path: Path) -> None:
    script = f"""
NAME=k2
cat > {tmp_path}/a.yml <<EOF
name: $NAME \\$NAME "quoted" 'single' \\\\ x\\
y
EOF
cat <<'EOF' > {tmp_path}/b.yml
raw: $NAME \\
EOF
cat <<-END | tee {tmp_path}/c.yml >/dev/null
	tab: ${{NAME}}
	END
echo more >/dev/null; cat >> {tmp_path}/a.yml <<EOF
appended: true
EOF
"""
    files = read_script(script).files
    said_by_bash(script)
    for name in ("a.yml", "b.yml", "c.yml"):
        path = tmp_path / name
        assert files[str(path)].text == path.read_text()
