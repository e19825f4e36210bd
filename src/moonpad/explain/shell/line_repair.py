"""Lines that a paste has broken, as they were meant: of the same length, so that places hold.

A terminal cuts a long command at its width, in the middle of a word; some write the backslash at the beginning of the
next line.
"""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.engines.start_names import BEHIND_A_SENTENCE
from moonpad.explain.shell.command_slips import with_commands
from moonpad.explain.shell.joined_lines import with_lines_apart
from moonpad.explain.shell.lost_lines import with_images
from moonpad.explain.source_text import IGNORED, Problems
from moonpad.explain.template_defaults import with_defaults

_SPACED: Final = re.compile(r"\\[ \t]*\n[ \t]*\n(?=[ \t]*-)")
"""A paste that doubled the ends of lines: the empty one behind a backslash would end the command."""
_SET_IN_A_ROW: Final = re.compile(r"(?<=[\w\"'./-])[，、；][ \t]*(?=(?:export[ \t]+)[A-Za-z_]\w*=)")
"""`export A=0，export B=1`: settings that a sentence lists."""
_LAST: Final = re.compile(r"(?<=[\"'\w\]}])\\(?=\s*\Z)")
"""A backslash that hangs on the last word of all."""
_ARROWS: Final = re.compile(r"(\\[ \t]*\n)>(?=[ \t])(?![ \t]+[^\s>-]\S*(?:[ \t]+2>&1|\.(?:log|out|txt)\b))")
"""What a shell shows in front of a line that goes on: to another it would be a file to write to."""
_AND_SO_ON: Final = re.compile(r"(?<=[^\s#])((?:[ \t]*\\\n)?[ \t]+)#[ \t]*(?:\.{3}|…)[^\n]*")
"""`# ... other options` at the end of a command: it has more than is written."""
_SPAN: Final = re.compile(r"(?<=\n\n)`(?=[A-Za-z][\w.-]*[= ][^`\n]*$)", re.MULTILINE)
"""A tick in front of the first line of code, as a sentence marks it, whose fellow is cut off or far below."""
_LEAST_WORDS: Final = 6
_NARROWEST: Final = 60
_LEADING: Final = re.compile(r"\n[ \t]*\\[ \t]+(?=-)")
"""`\\ --reasoning-parser deepseek_r1` behind a line without a backslash."""
_TORN: Final = re.compile(r"(?<=[ \t=])(/[\w./-]{8,200})\n(?=([\w.-]{1,80}/[\w./-]{3,200})(?:[ \t\\]|\n|$))")
"""A path that goes on in the next line."""
_GLUED: Final = re.compile(r"(?<=[ \t])(?P<word>[^\s#\\][^\s\\]*)\\\n(?P<option>--[a-z][\w-]*)")
r"""`--trust-remote-code\` with an option at the very beginning of the next line: to a shell the two are one word."""
_TEMPLATE: Final = re.compile(
    r"\{\{-?(?=[^\n{}]*[ \t|(])[ \t]*[.$]{0,2}[A-Za-z_](?:[^\n{}\"':]|\[[\"']\w+[\"']\]"
    r"|(?<=\()(?:'[^\n{}\"']{0,80}'|\"[^\n{}\"']{0,80}\")(?=\))){0,200}\}\}"
)
_NOT_OF_NAME: Final = re.compile(r"(?<=[\w\]])[ \t]*[|(,].*(?=\}\})|[ \t$-]")
"""`{{ port }}`, `{{ port | default(8000) }}`: to a shell several words, which what fills templates leaves as one."""
_EITHER: Final = re.compile(
    r"\{\{-?[ \t]*(?P<quote>['\"])(?P<first>[^'\"\n{}]{0,200})(?P=quote)[ \t]+if[ \t][^\n{}]{1,200}[ \t]else[ \t]+"
    r"(?P<mark>['\"])(?P<second>[^'\"\n{}]{0,200})(?P=mark)[ \t]*-?\}\}"
)
"""`{{ '--enable-x' if x else '--no-enable-x' }}`, of which one is filled in."""
_TAG: Final = r"\{%-?[ \t]*(?:if|elif|else|endif|for|endfor|set)\b[^\n%]{0,200}%\}"
_BRANCHES: Final = re.compile(
    rf"(?<=\\\n)(?:[ \t]*(?=\{{%-?[ \t]*el){_TAG}[ \t]*\n(?:[ \t]*-[^\n%]{{0,300}}\n){{0,20}}(?=[ \t]*\{{%)"
    rf"|[ \t]*{_TAG}[ \t]*\n)+"
)
"""Lines of Jinja inside of a command, below one that ends with a backslash; of branches, the first is read."""
_GO_TAG: Final = r"\{\{-?[ \t]*(?:if|else|end|with|range|define|template|block)\b[^\n{}]{0,300}\}\}"
_GO_BRANCHES: Final = re.compile(
    rf"(?<=\\\n)(?:[ \t]*(?=\{{\{{-?[ \t]*else){_GO_TAG}[ \t]*\n(?:[ \t]*-[^\n]{{0,300}}\n){{0,20}}(?=[ \t]*\{{\{{)"
    rf"|[ \t]*{_GO_TAG}[ \t]*\n)+"
)
"""The same of a chart."""
_GO_LINE: Final = re.compile(rf"^[ \t]*{_GO_TAG}[ \t]*$", re.MULTILINE)
_GO_COMMENT: Final = re.compile(r"\{\{-?[ \t\n]*/\*.{0,5000}?\*/[ \t\n]*-?\}\}", re.DOTALL)
_GO_MAKES: Final = re.compile(
    r"(?<!\\\n)^[ \t]*\{\{-?[ \t]*(?:(?:default|fail|printf|include|toYaml|required|lookup|tpl)\b|\$\w+[ \t]*:?=)"
    r"[^\n]{0,400}\}\}[ \t]*$",
    re.MULTILINE,
)
"""A line of a chart that is no part of a command: what a helper gives, and its variables."""
_GO_END: Final = re.compile(r"\{\{-?[ \t]*end[ \t]*-?\}\}(?=[ \t\\]*$)", re.MULTILINE)
_GO_ITEM: Final = re.compile(r"\{\{-?[ \t]*\.(?:[ \t]*\|[^\n{}\"']{0,80})?[ \t]*-?\}\}")
_CLOSE_UP: Final = re.compile(rf"\n[ \t]*(?=\{{%-){_TAG}")
_TAG_LINE: Final = re.compile(r"^[ \t]*\{%-?[ \t]*[a-z][^\n]{0,400}%\}[ \t]*$", re.MULTILINE)
"""`{%- if eager %} \\` takes the end of the line above away."""
_IN_LINE: Final = re.compile(rf"(?=\{{%-?[ \t]*el){_TAG}[^\n{{}}]{{0,200}}(?=\{{%-?[ \t]*(?:el|endif))|{_TAG}")
_CHOICE: Final = re.compile(
    r"(?<=[ \t=])(?:\[(?P<one>[A-Za-z][\w-]{0,40}(?:\|[A-Za-z][\w-]{0,40}){1,8})\]"
    r"|\{(?P<of>\w[\w.-]{0,40}(?:\|\w[\w.-]{0,40}){1,8})\})(?=\s|\Z)"
)
"""`--grammar-backend [xgrammar|outlines]` and `--max-num-seqs {64|128}`, of which a reader takes one."""
_SENTENCE: Final = re.compile(
    r"^(?P<command>[^#\n，。；（]*[\w'\"\])}/.%])(?P<prose>[，。；（].*(?<![\\ \t]))$", re.MULTILINE
)
_ASKED: Final = re.compile(
    r"(?P<option>[ \t]--?[A-Za-z][\w-]*(?:[ =][\w./:@-]+)?)(?P<prose>[，。；！？][^\n'\"]*)$", re.MULTILINE
)
"""`--tool-call-parser kimi_k2，…？` at the end of a line that is a sentence from its beginning."""
_COUNTED: Final = re.compile(
    r"(?P<option>[ \t]--?[A-Za-z][\w-]*[ =]\d{1,9})"
    r"(?P<prose>[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3][^\n'\"\\]*)$",
    re.MULTILINE,
)
"""`--port 8000启动后报错` at the end of a line: what is said right behind a number."""
_SAID: Final = re.compile(
    r"^[ \t]{0,12}"
    r"[^\n'\"`$\\=|;&<>{}]*(?:[A-Za-z]'(?:[mstd]|re|ve|ll)\b[^\n'\"`$\\=|;&<>{}]*)+$",
    re.MULTILINE,
)
"""`I'm trying to serve it on eight cards`: a sentence, in which an apostrophe opens no quote."""
_LEAD: Final = re.compile(
    r"^(?=[^\n]*[\u4e00-\u9fff])[^\n'\"`$=|;&<>]*[，。；：！？]"
    rf"(?=[ \t]*{BEHIND_A_SENTENCE})",
    re.MULTILINE,
)
"""`单机 8 卡，python3 -m …`: what a sentence says in front of its command, without a blank."""
_LABEL: Final = re.compile(
    r"^(?:[ \t]{0,8}(?:[-*+] )?(?P<bold>\*\*|__)[^*_\n`$=|;&<>]{1,40}(?P=bold)[ ]?[:：]?|(?:[A-Za-z]{2,12}[ ]){0,3}"
    r"(?i:command(?:[ -]?line)?|cmd(?:[ -]?line)?)[ ]?[:：]"
    r"|[ \t]{0,8}(?:[-*+•][ ]|[（(]?\d{1,2}[.、)）][ ]?)?[\w、 ]{0,20}"
    r"(?:命令|指令|脚本|语句|方式|步骤|启动|运行|部署|执行|复现)[\u4e00-\u9fff]{0,6}[ ]?[:：])"
    rf"(?=[ \t]*(?:{BEHIND_A_SENTENCE}|[A-Z][A-Z0-9_]+=\S|[A-Za-z./][\w./-]*[ ](?:[\w./-]+[ ]){{0,4}}--?[a-z]))",
    re.MULTILINE,
)
"""`**command line**: vllm serve …`, `my launch command: …`, `4.启动命令行：python …`: what a person calls the
command."""
_CALLED: Final = re.compile(
    r"^(?:(?:[-*+•]|\d{1,2}[.)])[ ]+)?(?:(?!\w*(?:INFO|WARN|ERROR|DEBUG))[A-Za-z][A-Za-z0-9'’()_-]{0,19}"
    r"(?:[ ](?:[A-Za-z(][A-Za-z0-9'’()_-]{0,19}|#?\d{1,3})){1,5}[ ]?[:：]"
    rf"|[A-Za-z]{{2,12}}[-_ ]?\d{{1,3}}[ ]?[:：]|(?<=[-*+•][ ]))"
    r"(?=[ \t]*(?:(?:[A-Z][A-Z0-9_]{2,60}=\S{1,200}|nohup|sudo|time|env)[ ]+){0,8}"
    rf"{BEHIND_A_SENTENCE})",
    re.MULTILINE,
)
"""`decode node: vllm serve …`, `node1: vllm serve …` and `- vllm serve …`: which of the starts of a text it is."""
_ASIDE: Final = re.compile(
    r"^[ \t]{0,12}(?:[A-Z][a-z]+[:,]?"
    r"|[a-z]{2,20}(?=[ ][^\n(]{0,120}[ ](?:of|on|with|for|from|the|in|and|after|under)[ ])(?![^\n]*[ ]--?[a-z]))"
    r"(?:[ ]+(?:[^\s'\"`$\\=|;&<>{}()]|\((?=[^()\n]*\))|\))+){3,}[ ]*$",
    re.MULTILINE,
)
"""`Trying it on two machines (96 GB each)`: a sentence, in which brackets start no shell; also one that begins small,
where a word is in it that sentences have, and no option."""
_IN_A_SENTENCE: Final = re.compile(
    r"^(?P<before>[^\n(（`'\"$=|&;<{]{2,300})[(（]"
    rf"(?P<command>(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*(?:python[0-9.]* (?:-m )?)?(?:{SPEAKING.pattern})[^\n()（）]*)[)）]"
    r"[^\n]*$",
    re.MULTILINE,
)
"""`It is slow (vllm serve m --port 8000), and then …`."""
_BEFORE_SHELLS: Final = re.compile(r"(?:\b(?:then|do|else|time|if|elif|while|until)|!|\\)[ \t]*\Z")
_FEW_WORDS: Final = 1
_SENTENCE_BEGINS: Final = re.compile(
    r"[ \t]*(?:[*_]{1,3}(?=\w)|[A-Z]|[a-z]+'|(?:the|this|that|these|when|but|so|and|because|after|before|my|our|we|you"
    r"|there|here|also|now|not|it)[ ])"
)
"""With a capital or marks of bold print, with a word that has the apostrophe, or with one that no program is called."""
_CJK: Final = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
"""Of a sentence that goes on behind a command without a blank."""
_OPENS: Final = re.compile(
    r"#|export\b|[A-Za-z_]\w*=|\$ |(?:docker|podman|python3?|curl|ssh|srun|mpirun|kubectl|echo|if|for|done|fi)\b"
)
"""How a line begins that is a command of its own."""


_IN_BRACES: Final = re.compile(
    r"((?<![\w-])--[a-z][\w-]*[ =])\{(?=[ ]|\w+[ ])([ ]?)([A-Za-z][\w-]*(?:[ ][\w-]+){0,4})([ ]?)\}"
    r"(?=[ \t]*(?:\\|$|--))",
    re.MULTILINE,
)
"""`--data-parallel-address { node0 ip }`: words in place of a value."""
_OVER_LINES: Final = re.compile(
    r"(?P<option>(?<![\w-])--[a-z][\w-]*[ =])\{(?P<first>[A-Za-z][\w-]*(?:[ ][\w-]+){0,4})[ ]?\n[ ]?"
    r"(?P<second>(?:[A-Za-z][\w-]*[ ]){0,4}[A-Za-z][\w-]*)[ ]?\}"
    r"(?=[ \t]*(?:\\?$|[ \t]--))",
    re.MULTILINE,
)
"""`--dist-init-addr {my`, and `pod ip} --port 8000` on the next line: a post has broken it."""
_IN_BRACKETS: Final = re.compile(r"(?<=[ \t])\[([A-Z]\w*(?: \w+){1,8})\](?=\s|$)")
"""`[YOUR MODEL or PATH]`, which a person replaces."""

_MORE_IN_BRACKETS: Final = re.compile(
    r"(?<=[ \t])[\[<](?:your|other|more|additional|extra|same|usual|normal|any|rest)\b[^\[\]<>\n]{0,60}"
    r"\b(?:options|param(?:eter)?s|arg(?:ument)?s|flags|settings)[^\[\]<>\n]{0,20}[\]>](?=\s|$)",
    re.IGNORECASE,
)
"""`[your usual SGLang parameters]`: options that are not written."""


def _as_stand_in(match: re.Match[str]) -> str:
    """`{ node0 ip }` as `<node0_ip>`, of the same length."""
    option, before, words, behind = match.groups()
    return f"{option}<{words.replace(' ', '_')}>{' ' * len(before + behind)}"


def _in_one_line(match: re.Match[str]) -> str:
    words = f"<{match['first']}_{match['second']}>".replace(" ", "_")
    return f"{match['option']}{words}".ljust(len(match[0]))


_LONGEST_LEAD: Final = 200
_ITEM: Final = re.compile(
    r"\A(?:[ \t]*\n)*(?P<lead>[ ]*- )[^\s#][^\n]*\n"
    r"(?P<rest>(?:[ ]+(?:[^\s#-]|--?[A-Za-z])[^\n]*(?:\n|\Z))+)\s*\Z"
)
_OF_LINES: Final = re.compile(r"(?:\\|: ?[|>][-+]?|^[ ]*[\w.-]+:)[ \t]*$|<<", re.MULTILINE)
"""What makes lines of their own: a backslash, a block of YAML, a key, a heredoc."""


def _folded(text: str) -> str:
    """With the one item of a YAML list whose text goes on in deeper lines in one line, as YAML reads it, and of the
    same length."""
    item = _ITEM.match(text) if "- " in text[:_LONGEST_LEAD] else None
    if item is None or _OF_LINES.search(item[0]) or " -" not in item["rest"]:
        return text
    if any(len(line) - len(line.lstrip(" ")) < len(item["lead"]) for line in item["rest"].splitlines() if line):
        return text
    lead, end = item.start("lead"), len(item[0].rstrip())
    own = text[lead + len(item["lead"]) : end].replace("\n", " ")
    return f"{text[:lead]}{' ' * len(item['lead'])}{own}{text[end:]}"


def repaired(text: str, start: int, problems: Problems) -> str:
    """`text` begins at the offset `start` of the whole text."""
    text = _folded(text)
    if len(_ARROWS.findall(text)) > 1:
        text = _ARROWS.sub(lambda match: f"{match[1]} ", text)
    if "#" in text:
        text = _AND_SO_ON.sub(lambda match: f"{match[1]}...".ljust(len(match[0])), text)
    if len(_SPACED.findall(text)) > 2:
        text = _SPACED.sub(lambda lines: lines[0][:-1] + IGNORED, text)
    text = _SET_IN_A_ROW.sub(lambda match: ";".ljust(len(match[0])), text)
    if not text.startswith("#!"):
        text = _ASKED.sub(_without_question, _SENTENCE.sub(_without_sentence, text))
        text = _COUNTED.sub(_without_question, text)
        if "(" in text or "（" in text:
            text = _IN_A_SENTENCE.sub(_command_alone, text)
        text = _ASIDE.sub(
            _aside, _SAID.sub(_said, _LEAD.sub(_ignored, _CALLED.sub(_ignored, _LABEL.sub(_ignored, text))))
        )
    if text.count("`") % 2:
        text = _SPAN.sub(IGNORED, text, count=1)
    text = _LAST.sub(IGNORED, text)
    text = _CHOICE.sub(lambda match: f"<{match[0][1:-1].replace('|', '_')}>", text)
    text = _MORE_IN_BRACKETS.sub(lambda match: "...".ljust(len(match[0])), text)
    text = _OVER_LINES.sub(_in_one_line, text)
    text = _IN_BRACES.sub(_as_stand_in, text)
    text = _IN_BRACKETS.sub(lambda match: f"<{match[1].replace(' ', '_')}>", text)
    text = _EITHER.sub(_one_of_two, text)
    if "{{" in text:
        text = _GO_COMMENT.sub(_ignored_lines, text)
        text = _GO_MAKES.sub(_ignored, _GO_LINE.sub(_ignored, _GO_BRANCHES.sub(_ignored, text)))
        text = _GO_ITEM.sub(lambda match: f"{{{{.{IGNORED * (len(match[0]) - 5)}}}}}", _GO_END.sub(_ignored, text))
    text = with_whole_templates(text)
    if "{%" in text:
        text = _CLOSE_UP.sub(_ignored, _BRANCHES.sub(_ignored, text))
        text = _IN_LINE.sub(_outside_of_quotes, _TAG_LINE.sub(_ignored, text))
    text = _LEADING.sub(lambda match: _led(match, start, problems), text)
    text = _GLUED.sub(lambda match: _apart(match, start, problems), text)
    text = with_lines_apart(text, start, problems)
    text = _TORN.sub(lambda match: _mended(match, start, problems), text)
    text = with_commands(_unwrapped(text, start, problems), start, problems)
    return with_images(text, start, problems)


def with_whole_templates(text: str) -> str:
    """With each `{{ name }}` as one word of the same length."""
    text = with_defaults(text, IGNORED)
    return _TEMPLATE.sub(lambda match: _NOT_OF_NAME.sub(lambda part: IGNORED * len(part[0]), match[0]), text)


def _said(match: re.Match[str]) -> str:
    begins = _SENTENCE_BEGINS.match(match[0]) is not None and match[0].count(" ") >= _FEW_WORDS
    return match[0].replace("'", "\u2019") if begins else match[0]


def _aside(match: re.Match[str]) -> str:
    return match[0].replace("(", "\uff08").replace(")", "\uff09")


def _command_alone(match: re.Match[str]) -> str:
    if _BEFORE_SHELLS.search(match["before"]) or " -" not in match["command"]:
        return match[0]
    begin, end = (each - match.start() for each in match.span("command"))
    return f"{IGNORED * begin}{match['command']}{IGNORED * (len(match[0]) - end)}"


def _ignored(match: re.Match[str]) -> str:
    return IGNORED * len(match[0])


def _one_of_two(match: re.Match[str]) -> str:
    """The options of the first branch that has some, as of other branches; of other words, that they are not known."""
    which = next((name for name in ("first", "second") if match[name].startswith("-")), "")
    if not which:
        return "{{" + IGNORED * (len(match[0]) - len("{{x}}")) + "x}}"
    before, behind = match.start(which) - match.start(), match.end() - match.end(which)
    return IGNORED * before + match[which] + IGNORED * behind


def _ignored_lines(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", IGNORED, match[0])


def _outside_of_quotes(match: re.Match[str]) -> str:
    """A chat template in quotes keeps its tags."""
    before = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    return match[0] if before.count("'") % 2 or before.count('"') % 2 else _ignored(match)


def words_of_lines(text: str) -> list[tuple[int, str]]:
    """The arguments of a process, one on each line, as a manifest or a tool lists them, with their offsets; none where
    it is another text."""
    lines, start = [], 0
    for line in text.split("\n"):
        if word := line.lstrip(" \t\0").rstrip(" \t"):
            lines.append((start + len(line) - len(line.lstrip(" \t\0")), word))
        start += len(line) + 1
    if len(lines) < _LEAST_WORDS or any(len(line.split()) > 1 and line[:1] not in "{['\"" for _, line in lines):
        return []
    return lines if SPEAKING.match(" ".join(line for _, line in lines)) else []


def words_of_options(text: str) -> list[tuple[int, str]]:
    """Of a text that is not for a shell: the arguments, where a program stands in the first line and an option in each
    line below, without backslashes. What is behind an option is its value as it is, quotes with it."""
    lines = [line for line in re.finditer(r"[^\n]+", text) if line[0].strip(" \t\0")]
    below = [line[0].strip(" \t\0") for line in lines[1:]]
    if len(below) < 2 or not all(line.startswith("--") and not line.endswith("\\") for line in below):
        return []
    words = [(lines[0].start() + word.start(), word[0]) for word in re.finditer(r"[^\s\0]+", lines[0][0])]
    for line in lines[1:]:
        parts = re.finditer(r"--[^\s\0=]+(?:=[^\0]*[^\s\0])?|[^\s\0](?:[^\0]*[^\s\0])?", line[0])
        words += [(line.start() + part.start(), part[0].strip("'")) for part in parts]
    return words if SPEAKING.match(" ".join(word for _, word in words)) else []


def _without_sentence(match: re.Match[str]) -> str:
    """The line without its prose, where an option or a model to serve stands before it and no quote is open."""
    command, prose = match["command"], match["prose"]
    spoken = re.search(r"(?:^|[ \t])--?[A-Za-z]|serve[ \t]+[\w.-]+/[\w.-]+$", command) and not re.match(
        r"[ \t]*(?:echo|printf)\b", command
    )
    if not spoken or not _CJK.search(prose) or command.count("'") % 2 or command.count('"') % 2:
        return match[0]
    return command + IGNORED * len(prose)


def _without_question(match: re.Match[str]) -> str:
    prose = match["prose"]
    if not _CJK.search(prose) or re.search(r"[ \t]--?[A-Za-z]", prose):
        return match[0]
    return match["option"] + IGNORED * len(prose)


def _mended(match: re.Match[str], start: int, problems: Problems) -> str:
    """The two as one path where the text has it whole in another place."""
    if not problems.has_in_text(match[1] + match[2].rstrip("/")):
        return match[0]
    at = start + match.end(1) - 1
    message = "the line was cut inside a path: typed so, the shell ends the command here"
    problems.add("missing-backslash", at, at + 1, message, "join the two lines")
    return match[1] + IGNORED


def _led(match: re.Match[str], start: int, problems: Problems) -> str:
    at = start + match.start() + match.group().index("\\")
    message = "a backslash goes on at the end of a line: here the shell ends the command in the line above"
    problems.add("missing-backslash", at, at + 1, message, "write it at the end of the line above")
    return " " * len(match.group())


def _apart(match: re.Match[str], start: int, problems: Problems) -> str:
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    if line.lstrip().startswith("#"):
        return match[0]
    at = start + match.end("word")
    glued = f"{match['word'][-40:]}{match['option'][:40]}"
    message = f"no blank in front of this backslash, and none below: the shell makes one word of the lines, {glued}"
    problems.add("missing-blank", at, at + 1, message, "write a blank in front of the backslash")
    return f"{match['word']}  {match['option']}"


def _unwrapped(text: str, start: int, problems: Problems) -> str:
    """Two or more lines of one and the same width, cut in the middle of a word, and the rest behind them are one."""
    lines = text.split("\n")
    width = max(map(len, lines))
    if width < _NARROWEST or sum(len(line) == width for line in lines) < 2:
        return text
    first = next(number for number, line in enumerate(lines) if len(line) == width)
    last = first
    while last + 1 < len(lines) and len(lines[last]) == width and _goes_on(lines[last], lines[last + 1]):
        last += 1
    if last - first < 2 or not SPEAKING.search("".join(lines[: last + 1])):
        return text
    at = start + sum(len(line) + 1 for line in lines[:first]) + width - 1
    which = f"this line and the {last - first - 1} below it were each"
    message = f"{which} cut after {width} characters: typed so, the shell ends the command here"
    problems.add("missing-backslash", at, at + 1, message, "join the lines again")
    whole = lines[first]
    for line in lines[first + 1 : last + 1]:
        whole += (" " if line.startswith("-") and not whole.endswith("-") else IGNORED) + line
    return "\n".join((*lines[:first], whole, *lines[last + 1 :]))


def _goes_on(line: str, below: str) -> bool:
    ends = line[-1:] in (" ", "\t", "\\", "`", ";", "&", "|")
    return not ends and below[:1].strip() != "" and not _OPENS.match(below) and not SPEAKING.match(below)
