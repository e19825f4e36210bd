"""What tree-sitter's grammar of bash takes for hostile and everyday texts, beside the lexer of `explain`.

    python benchmarks/explain/tree_sitter_bash.py --grammar-python ENV/bin/python \\
        --out benchmarks/results/tree_sitter_bash.json

ENV is an environment of its own with tree-sitter 0.26.1 and tree-sitter-bash 0.25.1. Each text is read by a process of
its own, of which the seconds and the most memory are taken. The last texts are read by a person as one command, but for
the quote that is not closed, where they are two: how many commands and errors the tree has.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PIECES = {
    "pipes": "a|",
    "options": "--opt value \\\n",
    "parameters": "${",
    "heredocs": "<<E ",
    "quotes": '"',
}
COUNTS = (5_000, 10_000, 20_000)
COMMANDS = {
    "a line that is continued": "vllm serve m \\\n --tp 8\n",
    "a blank behind the backslash": "vllm serve m \\ \n --tp 8\n",
    "a comment in the middle": "vllm serve m \\\n # the ranks\n --tp 8\n",
    "a value to be filled in": "vllm serve <MODEL> --tp 8\n",
    "a quote that is not closed": 'vllm serve "m --tp 8\n\nvllm serve b --tp 4\n',
    "a word of two quoted pieces": 'vllm serve "{"\\:\\G\\ \\Y"H " -tp 8\n',
}
MEASURED = """
import json, resource, sys, time
text = sys.stdin.read()
{imports}
begun = time.perf_counter()
{read}
taken = time.perf_counter() - begun
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({{"seconds": round(taken, 2), "peak_mib": round(most), **found}}))
"""
GRAMMAR = MEASURED.format(
    imports="import tree_sitter_bash\nfrom tree_sitter import Language, Parser\n"
    "parser = Parser(Language(tree_sitter_bash.language()))",
    read="root = parser.parse(text.encode()).root_node\n"
    "found = {'commands': str(root).count('(command name'), 'errors': str(root).count('ERROR')}",
)
OWN = MEASURED.format(
    imports="from moonpad.explain.script import read_script\nfrom moonpad.values.errors import MoonpadError",
    read="try:\n    script = read_script(text)\n    found = {'commands': len(script.commands)}\n"
    "except MoonpadError as error:\n    found = {'refused': error.message}",
)


def measured(python: str, program: str, text: str) -> dict[str, Any]:
    done = subprocess.run((python, "-c", program), input=text, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"exit_code": done.returncode}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--grammar-python", required=True)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    texts = [(f"{name} × {count:,}", piece * count) for name, piece in PIECES.items() for count in COUNTS]
    rows = []
    for name, text in [*texts, *COMMANDS.items()]:
        grammar, own = measured(args.grammar_python, GRAMMAR, text), measured(sys.executable, OWN, text)
        rows.append({"text": name, "characters": len(text), "grammar": grammar, "own": own})
        print(json.dumps(rows[-1]))
    result = {
        "what": "tree-sitter 0.26.1 with tree-sitter-bash 0.25.1, and the lexer and parser of explain",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "rows": rows,
    }
    if args.out:
        args.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
