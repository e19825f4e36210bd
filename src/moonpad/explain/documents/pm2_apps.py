"""Applications of pm2: `ecosystem.config.js`, in which `script` and `args` are one command.

Source: https://pm2.keymetrics.io/docs/usage/application-declaration/.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from moonpad.explain.commands import Piece, Word
from moonpad.explain.shell.interpreter import ScriptState, Shell, words_of
from moonpad.explain.shell.scope import Scope
from moonpad.explain.source_text import Source

_APPS: Final = re.compile(r"^[ \t]*[\"']?apps[\"']?[ \t]*:[ \t]*\[", re.MULTILINE)
_APP: Final = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
_SCRIPT: Final = re.compile(r"[\"']?\bscript[\"']?[ \t]*:[ \t]*(?P<quote>[\"'`])(?P<text>[^\"'`\n]{1,400})(?P=quote)")
_ARGS: Final = re.compile(
    r"[\"']?\bargs[\"']?[ \t]*:[ \t]*(?:(?P<quote>[\"'`])(?P<text>(?:(?!(?P=quote))[^\n]){1,4000})(?P=quote)"
    r"|\[(?P<list>[^\]]{1,4000})\])"
)
_ITEM: Final = re.compile(r"([\"'])(?P<text>(?:(?!\1)[^\n])*)\1")
_ENV: Final = re.compile(r"\benv[\"']?[ \t]*:[ \t]*\{(?P<body>[^{}]*)\}")
_PAIR: Final = re.compile(
    r"[\"']?(?P<name>[A-Za-z_]\w*)[\"']?[ \t]*:[ \t]*(?P<quote>[\"'])(?P<value>[^\"'\n]*)(?P=quote)"
)
_MOST: Final = 20


def is_of_pm2(text: str) -> bool:
    return _APPS.search(text) is not None and _SCRIPT.search(text) is not None and "```" not in text


def read_apps(text: str, start: int, state: ScriptState) -> bool:
    """Adds the command of each application. Whether one of them starts an engine."""
    before = state.budget.commands
    apps = _APPS.search(text)
    for app in islice(_APP.finditer(text, apps.end()) if apps else (), _MOST):
        state.budget.work(20 + len(app[0]) // 10, "its applications")
        script, args = _SCRIPT.search(app[0]), _ARGS.search(app[0])
        if script is None:
            continue
        at = start + app.start()
        words = [_word(script["text"], at + script.start("text"), state)]
        if args is not None and args["text"] is not None:
            given = _word(args["text"], at + args.start("text"), state)
            words += words_of(Source.inside(given, state.text), state)
        elif args is not None:
            first = at + args.start("list")
            words += [_word(item["text"], first + item.start("text"), state) for item in _ITEM.finditer(args["list"])]
        env = _ENV.search(app[0])
        pairs = _PAIR.finditer(env["body"]) if env is not None else ()
        body = at + env.start("body") if env is not None else at
        variables = {pair["name"]: _word(pair["value"], body + pair.start("value"), state) for pair in pairs}
        shell = Shell(state, Source.block(state.text, start, text), Scope({}))
        for name, value in variables.items():
            shell.scope.set(name, value, export=True)
        shell.command(words)
    return state.budget.commands > before


def _word(text: str, at: int, state: ScriptState) -> Word:
    return state.text.word(text, at, at + len(text), (Piece(0, len(text), at, at + len(text)),))
