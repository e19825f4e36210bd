"""Known secrets, and how a text or a document leaves this program without them.

Whatever is printed or written passes through `redact` (a text) or `redacted` (a JSON document, value by value, so that
it stays JSON and numbers stay numbers). Known are the values of every `Secret`, of environment variables that are named
like keys, of options like `--api-key`, and the password of a URL; each also JSON-, HTML- and percent-encoded, in base64
at every alignment, and in hexadecimal.

A key shorter than SHORTEST, or one that is a word of our own output, would ruin every text: it is replaced only where
its place shows that it is a key (`Bearer KEY`, `--api-key KEY`, `user:KEY@host`), and `unhidden` counts it.

Standard library only, Python ≥ 3.9: the keeper takes this file to other hosts.
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

REDACTED = "***"
SHORTEST = 6
MOST_KEYS = 200
CUT = 10
"""Of a secret that was cut, as many characters, and at least half of it, are recognised where a word ends."""

_OUR_WORDS = (
    " openai vllm sglang ktransformers tensorrt-llm llama.cpp kimi-k2 model python status passed failed "
    "skipped stopped running endpoint content message choices object string number password secret api-key api_key "
    "apikey bearer local default engine health moonpad "
)
_PLACES = (("bearer ", ""), (":", "@"), ("api-key ", ""), ("api-key=", ""), ("api_key=", ""), ('api_key": "', ""))

# Each pattern begins where a word begins, and a word is at most so long: the time stays linear whatever the text.
_NAME = r"[A-Z0-9_]{0,64}(?<![A-Z0-9])(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PAT)"
_FLAG = (
    r"(?<![\w-])--?(?:[\w-]{0,64}api[-_]?key|(?:[\w-]{0,64}(?:hf|api|auth|access|bearer)[-_])?token"
    r"|[\w-]{0,64}password)"
)
_VALUE = r"""(?:"([^"\n]*)"|'([^'\n]*)'|([^\s'"\\;|&,<>(){}\]]+))"""
_KEY_NAME = re.compile(_NAME, re.ASCII)
_KEY_FLAG = re.compile(rf"{_FLAG}(?==|$)", re.ASCII | re.IGNORECASE)
_NO_VALUE = ("$", "<", "{", "-")
"""What begins a reference, a placeholder or the next option."""
_TO_FILL_IN = re.compile(
    r"(?:(?:YOUR|INSERT|ENTER|REPLACE)(?:[_-][A-Z]+){0,8}[_-](?:KEY|TOKEN|SECRET|PASSWORD|HERE|ME)"
    r"|(?:(?:MY|API|AUTH|ACCESS|HF|KEY|TOKEN|SECRET|PASSWORD)[_-]){1,8}HERE|CHANGE[_-]?ME|REPLACE[_-]?ME"
    r"|(?:SK[_-])?(?:X{2,40}|(?:EMPTY|NONE|DUMMY|FAKE|PLACEHOLDER|UNUSED|NOT?[_-]?(?:NEEDED|USED|REQUIRED))"
    r"(?:[_-](?:API[_-]?)?KEY)?|(?:NO|DUMMY)[_-]?(?:API[_-]?)?(?:KEY|TOKEN)))",
    re.ASCII | re.IGNORECASE,
)
"""What stands in the place of a key, `YOUR_API_KEY_HERE`, `dummy`, `sk-xxx`: whoever reads it has to replace it."""
_LABELLED = tuple(
    re.compile(pattern + _VALUE, flags | re.ASCII)
    for pattern, flags in (
        (rf"{_FLAG}(?:\s*=\s*|\s+|[\"']\s*,\s*)", re.IGNORECASE),
        (rf"\b{_NAME}\s*[=:]\s*", 0),
        (rf"name[\"']?\s*:\s*[\"']?{_NAME}[\"']?\s*,?\s*[\"']?value[\"']?\s*:\s*", 0),
        (r"authorization[\"']?\s*:\s*[\"']?(?:bearer|basic)\s+", re.IGNORECASE),
    )
)
_SHAPED = re.compile(
    r"""(?:bearer\s+|\bbasic\s+|(?:api[-_]key|password|secret)["']?\s*[:=]\s*["']?)(?=[^\s"']*\d)([^\s"',;<>${}]{8,})"""
    # In small letters, and of letters and digits alone: `HF_HUB_ENABLE_HF_TRANSFER` is the name of a variable.
    r"|\b((?-i:sk-|eyJ)[A-Za-z0-9_.\-]{16,}|(?-i:hf_|ghp_)[A-Za-z0-9]{16,})",
    re.ASCII | re.IGNORECASE,
)
_USERINFO = re.compile(r"://([^/?#\s'\"\\]*)@")
_DIGITS = frozenset("0123456789.")
_NUMBER = re.compile(r"[0-9.]+", re.ASCII)
_WORD = re.compile(r"[\w-]")
_JOINABLE = re.compile("[^\x00-\x7f][\u200c\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*$")
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")


class _Form(NamedTuple):
    """One spelling of a secret, in lower case, and the ends by which a cut one is found. `before` and `after` are
    the characters around it that make it recognisable, and stay."""

    text: str
    head: str
    tail: str
    before: int = 0
    after: int = 0
    digits: bool = False


class TooManyKeys(ValueError):
    """What others wrote holds over MOST_KEYS keys: each would be looked for in all that is printed."""

    def __str__(self) -> str:
        return f"it holds over {MOST_KEYS} keys or passwords"


_NO_KEY = re.compile(
    r"(?:null|true|false|~)|os\.environ\[|(?:[a-z_]{1,40}\.){0,4}(?:[a-z]{2,10}_)?(?:api_key|(?:hf|auth|access)_token)"
    r"|[a-z_]{2,20}=(?:None|True|False|str|(?:[a-z_]{1,40}\.){1,4}[a-z_]{1,40}\[?)?",
    re.IGNORECASE,
)
"""What stands in that place and is no key: YAML's nothing, the next argument of a call in Python, `help="…"`, with what
it gives there, `default=os.environ["KEY"]`, or a variable, `["--api-key", api_key]`."""
_CALLED = re.compile(
    r"(?:[A-Za-z_]{1,40}\.){1,4}[A-Za-z_]{1,40}|(?:get)?env|getpass|[a-z]{2,20}(?:_[a-z]{2,20}){1,4}", re.ASCII
)
"""Before a bracket, the name of what gives the key: `api_key=os.getenv("K")`, `HF_TOKEN = load_token()`."""
_forms: dict[str, tuple[_Form, ...]] = {}
_foreign: set[str] = set()
_unhidden: set[str] = set()


def remember(secret: str) -> None:
    """From now on no text that leaves the program holds it."""
    secret = secret.strip()
    if not secret or secret in _forms or secret.upper() in ("EMPTY", "NONE"):  # what clients send where no key is asked
        return
    if _is_weak(secret):
        _unhidden.add(secret)
        low = secret.lower()
        places = (_Form(f"{a}{low}{b}", f"{a}{low}{b}", "", len(a), len(b)) for a, b in _PLACES)
        basic = (_whole(form) for form in _base64(f":{secret}".encode(errors="replace"), whole=True))
        _forms[secret] = (*places, *(form for form in basic if len(form.text) >= SHORTEST))
    else:
        _forms[secret] = tuple(map(_whole, dict.fromkeys(form.lower() for form in _spellings(secret))))


def _is_weak(secret: str) -> bool:
    return len(secret) < SHORTEST or f" {secret.lower()} " in _OUR_WORDS


def forget_all() -> None:
    """For tests."""
    _forms.clear()
    _foreign.clear()
    _unhidden.clear()


def unhidden() -> int:
    """How many secrets are too short or too common to be replaced wherever they stand."""
    return len(_unhidden)


def remember_environment(environ: Mapping[str, str], exists: Callable[[str], bool] = lambda text: False) -> None:
    """The variables that are named like keys, and the passwords of URLs (PIP_INDEX_URL, HTTPS_PROXY). A value that
    names a file is a place, not a key."""
    for key in _keys_of_environment(environ, exists):
        remember(key)


def _keys_of_environment(environ: Mapping[str, str], exists: Callable[[str], bool]) -> Iterator[str]:
    for name, value in environ.items():
        if _KEY_NAME.fullmatch(name.upper()) and len(value) >= SHORTEST and not exists(value):
            yield value
        elif "://" in value:
            yield from _passwords_in(value)


def remember_urls(text: str) -> None:
    """The password of each URL in the text, or the user's name where it stands alone and is long, as a token is."""
    for password in _passwords_in(text):
        remember(password)


def _passwords_in(text: str) -> Iterator[str]:
    for match in _USERINFO.finditer(text):
        user, colon, password = match[1].partition(":")
        for secret in (password,) if colon else (user,) if len(user) >= 16 else ():
            yield secret
            data = _ESCAPED.sub(lambda digits: chr(int(digits[1], 16)), secret).encode("latin-1", "replace")
            yield data.decode("utf-8", "replace")


def remember_labelled(text: str) -> None:
    """What stands in a script or a spec as the value of an option, a variable or a header that is named like a key, or
    has the shape of one. Raises TooManyKeys."""
    _remember_foreign(_keys_in(text))


def remember_command(words: Sequence[str], environ: Mapping[str, str]) -> None:
    """As `remember_labelled`, of a command line that somebody else wrote, with its environment."""
    _remember_foreign(chain(_keys_of_words(words), _keys_of_environment(environ, lambda text: False)))


def remember_words(words: Sequence[str]) -> None:
    """As `remember_labelled`, of a command line of this machine."""
    for key in islice(_keys_of_words(words), MOST_KEYS):
        remember(key)


def _remember_foreign(keys: Iterable[str]) -> None:
    for key in keys:
        if _TO_FILL_IN.fullmatch(key.strip()) or _NO_KEY.fullmatch(key.strip()):
            continue
        _foreign.add(key)
        if len(_foreign) > MOST_KEYS:
            raise TooManyKeys
        remember(key)


def _keys_of_words(words: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        if flag := _KEY_FLAG.match(word):
            value = word[flag.end() + 1 :] or "".join(words[at + 1 : at + 2])
            yield "" if value.startswith(_NO_VALUE) else value
        else:
            yield from _keys_in(word)


def _keys_in(text: str) -> Iterator[str]:
    yield from _passwords_in(text)
    for pattern in _LABELLED:
        for match in pattern.finditer(text):
            value = next((group for group in match.groups() if group), "")
            if value.startswith("?") and text.endswith("${", 0, match.start()):
                continue  # what a shell says of a variable that is not set: `${API_KEY:?set it first}`
            if not value.startswith(_NO_VALUE) and not (_CALLED.fullmatch(value) and text.startswith("(", match.end())):
                yield value
    for match in _SHAPED.finditer(text):
        yield match[1] or match[2]


def redact(text: str) -> str:
    """The text with each known secret as `***`."""
    if not _forms:
        return text
    pieces: list[str] = []
    at = 0
    for start, end in secret_spans(text):
        pieces += (text[at:start], REDACTED)
        at = end
    return "".join((*pieces, text[at:])) if at else text


def redact_bytes(data: bytes) -> bytes:
    return redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") if _forms else data


def redacted(document: Any) -> Any:
    """The JSON document with the secrets out of its texts and keys. Any other value stays what it is."""
    if not _forms:
        return document
    if isinstance(document, str):
        return redact(document)
    if isinstance(document, Mapping):
        return {redact(key) if isinstance(key, str) else key: redacted(value) for key, value in document.items()}
    if isinstance(document, (list, tuple, set, frozenset)):
        return [redacted(value) for value in document]
    return document


def redacted_line(line: bytes) -> bytes:
    """A JSON document as bytes, which is read again only if it holds a secret: for what is written a thousand times a
    second."""
    if not _forms or not secret_spans(line.decode("utf-8", "replace")):
        return line
    return json.dumps(redacted(json.loads(line)), ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )


def secret_spans(text: str) -> list[tuple[int, int]]:
    """Where the text holds a secret, or most of one that was cut; in order, none in another."""
    low = _lower(text)
    found: list[tuple[int, int]] = []
    for form in (form for forms in _forms.values() for form in forms):
        at = low.find(form.text)
        while at >= 0:
            end = at + len(form.text)
            stands = _stands(form, low, at, end)
            if stands:
                found.append((at + form.before, end - form.after))
            if form.digits and not stands:  # a part of a number: so is whatever else lies in it
                number = _NUMBER.match(low, at)
                end = number.end() if number else at + 1
            at = low.find(form.text, end if stands or form.digits else at + 1)
        if form.tail:
            found += _cut_spans(form, low)
    return _joined(text, found) if found else found


def _cut_spans(form: _Form, low: str) -> Iterator[tuple[int, int]]:
    """Where the beginning or the end of a secret stands alone. What was compared is not compared again, so that the
    time is linear where text and secret are one letter a thousand times."""
    at = low.find(form.head)
    while at >= 0:
        end = at + len(form.head)
        while end - at < len(form.text) and end < len(low) and low[end] == form.text[end - at]:
            end += 1
        if _stands(form, low, at, end):
            yield at + form.before, end - form.after
        at = low.find(form.head, end - len(form.head) + 1)
    at = low.find(form.tail)
    while at >= 0:
        start, left = at, len(form.text) - len(form.tail)
        while left and start and low[start - 1] == form.text[left - 1]:
            start, left = start - 1, left - 1
        if _stands(form, low, start, at + len(form.tail)):
            yield start, at + len(form.tail)
        at = low.find(form.tail, 2 * at - start + 1)


def _joined(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that overlap as one. An escape before a span (`\\n`) keeps its letter, so that JSON stays JSON."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            backslashes = start - len(text[:start].rstrip("\\"))
            joined.append((start + backslashes % 2 if text[start] in 'nrtbfu"/\\' else start, end))
    return joined


def _lower(text: str) -> str:
    """As long as the text."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(char.lower() if char < "\x80" else char for char in text)


def _stands(form: _Form, text: str, start: int, end: int) -> bool:
    """Whether it is a secret: one of digits alone is not a part of a number, and one that was cut ends its word."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if form.digits and (before in _DIGITS or after in _DIGITS):
        return False
    whole = end - start == len(form.text)
    return whole or not _WORD.match(after if text.startswith(form.head, start) else before)


def _whole(form: str) -> _Form:
    form = form.lower()
    kept = max(CUT, (len(form) + 1) // 2)
    whole = kept >= len(form)
    return _Form(form, form[:kept], "" if whole else form[-kept:], digits=form.isdigit())


def _spellings(secret: str) -> Iterator[str]:
    data = secret.encode("utf-8", "surrogatepass")
    yield secret
    for ascii_only in (True, False):
        yield json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
    yield json.dumps(json.dumps(secret))[3:-3]  # JSON in JSON: a tool call's arguments
    yield repr(secret)[1:-1]
    markup = secret.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    yield markup
    yield from (
        markup.replace('"', quote).replace("'", other) for quote, other in (("&quot;", "&#x27;"), ("&#34;", "&#39;"))
    )
    for plain in (b"_.-~", b"_.-~/", b"_.-~/:@!$&'()*+,;="):
        yield "".join(
            chr(byte) if byte in plain or (chr(byte).isalnum() and byte < 128) else f"%{byte:02x}" for byte in data
        )
    yield "".join(f"%{byte:02x}" for byte in data)
    yield "".join(f"\\x{byte:02x}" for byte in data)
    yield "".join(f"\\u{ord(char):04x}" for char in secret)
    yield data.hex()
    yield from _base64(data)
    yield from _base64(data, whole=True)


def _base64(data: bytes, *, whole: bool = False) -> Iterator[str]:
    """How the bytes stand in a longer text in base64, behind 0, 1 or 2 other bytes. `whole`: nothing follows."""
    for shift in range(3):
        text = binascii.b2a_base64(bytes(shift) + data, newline=False).decode().rstrip("=")
        inside = text[(0, 2, 3)[shift] : None if whole else (shift + len(data)) * 8 // 6]
        yield inside
        yield inside.replace("+", "-").replace("/", "_")


class SafePieces:
    """A text that comes in pieces, without a secret that is split between two of them: what may be the beginning of
    one is held back until the next piece decides, as is a symbol that a joiner may follow."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown now. An empty piece: another text stands between, and only what may be the beginning of a
        secret is held back further."""
        text = self._held + piece
        begin = self._undecided(_lower(text)) if _forms else len(text)
        if piece and begin == len(text) and (joinable := _JOINABLE.search(text)):
            begin = joinable.start()
        self._held = text[begin:]
        return redact(text[:begin])

    def flush(self) -> str:
        """What was held back, at the end of the text."""
        text, self._held = self._held, ""
        return redact(text)

    def _undecided(self, low: str) -> int:
        """From where the text is a beginning of a secret; never inside of a whole one."""
        begin = len(low)
        for form in (form for forms in _forms.values() for form in forms):
            for at in range(max(0, len(low) - len(form.text) + 1), begin):
                if low[at] == form.text[0] and form.text.startswith(low[at:]):
                    begin = at
                    break
        return next((end for start, end in secret_spans(low) if start < begin < end), begin)
