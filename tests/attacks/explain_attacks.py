"""Inputs that were made to cost more than they look: each is built when it is called for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

SERVE: Final = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --max-model-len 262144"
LLAMA: Final = "llama-server -hf unsloth/Kimi-K2-Instruct-GGUF"
TENSORRT: Final = "trtllm-serve moonshotai/Kimi-K2-Thinking"


def numbered(row: str, count: int) -> str:
    """The row with N as 0, 1, 2 …, and M as the number before."""
    return "".join(row.replace("N", str(n)).replace("M", str(n - 1)) for n in range(1, count + 1))


ATTACKS: Final[dict[str, Callable[[], str]]] = {
    # Long words and lines.
    "a long word": lambda: "vllm serve " + "x" * 900_000,
    "a long flag": lambda: "vllm serve m --" + "x" * 900_000,
    "a long quoted word": lambda: "vllm serve m --a '" + "x y " * 225_000 + "'",
    "a long number": lambda: "vllm serve m --max-num-seqs " + "9" * 900_000,
    "a long list of hosts": lambda: "mpirun -H " + "a:8," * 200_000 + " trtllm-serve m",
    "a long cluster of switches": lambda: "docker run -" + "i" * 900_000 + " image vllm serve m",
    "a word of braces": lambda: "echo a" + "{1..999999}" * 80_000,
    "an open list with a comment": lambda: '["--a", # ' + "x /y " * 150_000,
    "a line of words": lambda: "vllm serve " + "a " * 450_000,
    "a line of switches": lambda: "docker run " + "-itdP " * 150_000 + " image vllm serve m",
    "a line of unknown flags": lambda: "vllm serve m " + numbered("--max-num-seqzN 1 ", 5_000),
    "a line of known flags": lambda: "vllm serve m " + "--max-num-seqs 8 " * 40_000,
    "a line of dotted flags": lambda: "vllm serve m " + numbered("--compilation-config.a.b.cN 1 ", 20_000),
    "a flag of many dots": lambda: "vllm serve m --compilation-config" + ".a" * 300_000 + " 1",
    "privileges": lambda: "docker run " + "--privileged " * 70_000 + " image vllm serve m",
    "mounts": lambda: "docker run " + "-v /:/ " * 100_000 + " image " + SERVE,
    "blank lines": lambda: "\n" * 900_000,
    "semicolons": lambda: ";" * 900_000,
    "assignments": lambda: "A=1 " * 220_000 + "x",
    "a word of many lines": lambda: "A=('" + "a\n" * 5_000 + "')\n" + "vllm serve ${A[@]}\n" * 400,
    # Quotes, substitutions, heredocs.
    "open quotes": lambda: "vllm serve " + "' \"\n" * 200_000,
    "an open quote": lambda: 'vllm serve "' + "a\n" * 400_000,
    "open defaults": lambda: '"${A:-' * 100_000,
    "open substitutions": lambda: "vllm serve " + "$(" * 400_000,
    "backticks": lambda: "vllm serve " + "` " * 450_000,
    "nested defaults": lambda: "vllm serve " + "${A:-" * 49 + "$b " * 200_000 + "}" * 49,
    "nested substitutions": lambda: "vllm serve " + '"$(' * 24 + "(x) " * 200_000 + ')"' * 24,
    "nested arithmetic": lambda: "vllm serve $((" + "$((" * 24 + "1+" * 400_000 + "1" + "))" * 24 + "))",
    "mixed nesting": lambda: "vllm serve " + "$(( $( ${A:-" * 1_000 + "1" + "} ) ))" * 1_000,
    "many substitutions": lambda: numbered("x $(N)\n", 90_000),
    "one word of substitutions": lambda: "vllm serve m " + numbered("$(aN)", 90_000),
    "words of substitutions": lambda: "vllm serve m " + numbered("$(aN) ", 15) * 2_000,
    "open heredocs": lambda: "cat <<E\n" * 100_000,
    "heredocs of one line": lambda: "cat " + "<<E " * 200_000 + "\n",
    "many heredocs": lambda: numbered("cat <<EN\nEN\n", 40_000),
    "a heredoc of commands": lambda: "bash <<E\n" + "vllm serve m\n" * 70_000 + "E\n",
    "files": lambda: numbered("cat > fN <<E\na: 1\nE\n", 20_000) + f"{TENSORRT} --extra_llm_api_options f1\n" * 480,
    "an option file": lambda: (
        "cat > f <<E\na: [" + "a," * 200_000 + f"]\nE\n{TENSORRT} --extra_llm_api_options f\n" * 2
    ),
    "an option file of aliases": lambda: (
        "cat > f <<'E'\na: &a ["
        + "a," * 30_000
        + "]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\ne: [*d,*d]\nE\n"
        + f"{TENSORRT} --extra_llm_api_options f\n"
    ),
    # What grows.
    "doubling arrays": lambda: "A=(a b)\n" + 'A=("${A[@]}" "${A[@]}")\n' * 60 + 'vllm serve "${A[@]}"',
    "doubling variables": lambda: "A=xxxx\n" + "A=$A$A\n" * 60 + "vllm serve $A\n",
    "growing variables": lambda: "A+=x\n" * 180_000,
    "growing exports": lambda: "export A+=x\n" * 60_000,
    "growing files": lambda: "printf %s '" + "x" * 1_000 + "' >> f\n" * 800,
    "arrays under conditions": lambda: "A=(" + "a " * 999 + ")\n" + "x || A[5]=x\n" * 60_000,
    "values under conditions": lambda: "A=" + "x" * 400_000 + "\n" + "y||export A\n" * 30_000,
    "braces": lambda: "vllm serve " + "{1..999999}{a,b}{c,d} " * 40_000,
    "loops in loops": lambda: "for i in 1 2 3 4 5 6 7 8; do " * 12 + "x $i; " + "done; " * 12,
    "many loops": lambda: "for i in 1 2 3 4 5 6 7 8; do x $i; done\n" * 20_000,
    "functions twice": lambda: "f0() { vllm serve; }\n" + numbered("fN() { fM; fM; }\n", 45) + "f45\n",
    "functions in blocks": lambda: (
        "f0() { x; }\n" + numbered("fN() { if a; then if b; then if c; then fM; fi; fi; fi; }\n", 45) + "f45\n"
    ),
    "recursion": lambda: "f() { f; g; }\ng() { f; g; }\nf\n" * 20_000,
    "evals": lambda: "eval " * 50_000 + SERVE,
    "shells": lambda: "bash -c 'ssh h \"x y z\"'\n" * 20_000,
    "comments of a shell": lambda: "# c\n" * 100_000 + "bash -c '" + "x\n" * 100_000 + "'",
    # Many commands.
    "engine commands": lambda: (SERVE + "\n") * 500,
    "engine commands on one line": lambda: "; ".join([SERVE] * 490),
    "ranks": lambda: numbered(f"# node N\n{SERVE} --node-rank N --nnodes 480\n", 480),
    "deployments": lambda: "# 8xH100\n" + numbered(SERVE.replace("262144", "10N") + "\nexport A=N\n", 490),
    "engines": lambda: "# 8xH100\n" + f"{SERVE}\n{TENSORRT}\n{LLAMA}\n" * 160,
    "commands of a container": lambda: (
        "docker run --name a " + "-e A=1 " * 3_000 + " image vllm serve m\n" + "docker exec a vllm serve m\n" * 490
    ),
    "other commands": lambda: "echo x\n" * 140_000,
    "pipes": lambda: "a|" * 450_000,
    "a large environment": lambda: numbered("export AN=" + "y" * 800 + "\n", 999) + (SERVE + "\n") * 200,
    "unknown variables": lambda: numbered("export VLLM_USE_TRITOM_FLASH_N=1\n", 990) + (SERVE + "\n") * 200,
    # Continuations, placeholders, invisible characters.
    "blanks in a line": lambda: f"{SERVE} a{' ' * 900_000}b\n",
    "continuations": lambda: "\\\n# c\n" * 150_000,
    "broken continuations": lambda: "\\ " * 450_000,
    "placeholders": lambda: "<aaaaaaaaa bbbbbbbb ccccccc ddddd " * 25_000,
    "escapes": lambda: "\x1b]" * 400_000,
    "invisible characters in fences": lambda: "```\n\u200b\u200b\n```\n" * 60_000,
    "typeset dashes": lambda: "vllm serve m " + "\u2013x " * 150_000,
    # Markdown.
    "fences": lambda: "```bash\nvllm serve m\n```\n" * 35_000,
    "fences of other commands": lambda: "```bash\nx\n```\n" * 60_000,
    "a table": lambda: "# x\n- `--a`\n" + "| a | b | c |\n" * 60_000,
    "a list of flags": lambda: "- `--a`\n" * 100_000,
    "lists of flags": lambda: "```bash\nvllm serve m " + "--xy " * 20_000 + "\n```\n" + "- `--ab`\ntext\n" * 20_000,
    "headings": lambda: "# x\n" * 100_000 + f"```bash\n{SERVE}\n```\n",
    "a quotation": lambda: ">" * 900_000,
    "a session": lambda: "```console\n" + "# A=b " * 100_000 + "\n```\n",
    "machines": lambda: numbered("NxH200\n", 9_999) + (SERVE + "\n") * 100,
    "kinds of devices": lambda: "H200 " * 150_000 + "\n" + (SERVE + "\n") * 100,
    "pins": lambda: "vllm==1.1 " * 90_000,
    # YAML.
    "nested YAML": lambda: "a: " + "[" * 400_000,
    "a list of YAML": lambda: "a: [" + "a," * 400_000 + "]",
    "a map of YAML": lambda: numbered("kN: v\n", 90_000),
    "billion laughs": lambda: "a0: &a0 [x, x]\n" + numbered("aN: &aN [*aM, *aM, *aM, *aM, *aM]\n", 35),
    "chained merges": lambda: "a0: &a0 {" + numbered("kN: v, ", 5_000) + "}\n" + numbered("aN: &aN {<<: *aM}\n", 190),
    "doubling variables of a pod": lambda: (
        "containers:\n- image: x\n  args: [vllm, serve, m]\n  env:\n"
        "  - {name: A0, value: xxxxxxxxxx}\n" + numbered("  - {name: AN, value: '$(AM)$(AM)'}\n", 60)
    ),
    "variables of a pod": lambda: (
        "containers:\n- image: x\n  args: [vllm, serve, m]\n  env:\n"
        + numbered("  - {name: AN, value: '$(A)$(B)'}\n", 20_000)
    ),
    "a command of a service": lambda: "services:\n a:\n  image: x\n  command: " + "--x " * 200_000,
    "services": lambda: (
        "services:\n"
        + numbered(" aN:\n  image: vllm/vllm-openai\n  command: --model moonshotai/Kimi-K2-Thinking\n", 490)
    ),
    "pods": lambda: (
        "leaderWorkerTemplate:\n  size: 499\n  workerTemplate:\n    containers:\n    - image: x\n"
        "      args: [vllm, serve, m, " + "a, " * 500 + "]\n"
    ),
    "a long substitution beside many words": lambda: (
        "# 8xH200\nvllm serve moonshotai/Kimi-K2-Thinking --served-model-name "
        + "w " * 4_000
        + "`"
        + "-" * 50_000
        + "`\n"
    ),
    # Values of flags.
    "nested JSON": lambda: "vllm serve m --compilation-config '" + '{"a":' * 100_000 + "1" + "}" * 100_000 + "'",
    "brackets in JSON": lambda: 'vllm serve m --compilation-config \'{"a": "' + '[\\"' * 200_000 + "'",
    "JSON": lambda: 'vllm serve m --compilation-config \'{"a": [' + "1," * 300_000 + "1]}'",
    "patterns that repeat": lambda: f"{LLAMA} -ot '{'.*' * 80}x=CPU'",
    "patterns that branch": lambda: f"{LLAMA} -ot '{'(.|.)' * 39}x=CPU'",
    "patterns of many commands": lambda: f"{LLAMA} -ot '.*.*x=CPU,.*.*y=CPU'\n" * 400,
    "a pattern that cannot be": lambda: f"{LLAMA} -ot 'a{{99999999999999999999}}=CPU,{'(' * 199}=CPU'",
    "not a number": lambda: (
        "vllm serve m --gpu-memory-utilization nan --hf-overrides '{\"a\": NaN}'\n"
        "trtllm-serve m --kv_cache_free_gpu_memory_fraction Infinity\n"
    ),
}

REFUSED: Final = frozenset(
    {
        *("a line of words", "a line of unknown flags", "doubling arrays", "doubling variables", "functions twice"),
        *("blank lines", "semicolons", "a large environment", "other commands", "fences", "a list of YAML"),
        *("billion laughs", "doubling variables of a pod", "nested YAML", "open defaults", "mixed nesting"),
        *("many heredocs", "growing variables", "recursion", "a word of many lines"),
    }
)
"""Those that cannot be judged whole."""
