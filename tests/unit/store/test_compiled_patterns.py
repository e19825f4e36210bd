"""What `re.compile` made of the patterns of modules is kept, and read back as the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import moonpad
from moonpad.store import compiled_patterns
from moonpad.store.compiled_patterns import Arguments, Compiler, Kept, patterns_file, patterns_kept

TEXTS = ("vllm serve x --tp 8", "8xH200", "\ud800 é 中", "", "a" * 50 + "\n b")
PATTERNS = (
    (r"(?P<count>\d+)x(?P<label>[A-Z]\d+)", 0),
    (r"(?<![\w-])--(tp|pp)[ =](\d+)", re.IGNORECASE),
    (r"^\s+b$", re.MULTILINE | re.VERBOSE),
    (r"[^\x00-\x7f]+|(?:a{2,}?)++", re.DOTALL),
    (r"[一-鿿]", 0),
)


def make(pattern: str, flags: int) -> re.Pattern[str]:
    """As a module does: compiled by the body of one, anew."""
    space: dict[str, re.Pattern[str]] = {}
    re.purge()
    exec(compile(f"import re\nmade = re.compile({pattern!r}, {int(flags)})", "module", "exec"), space)  # noqa: S102
    return space["made"]


def same(one: re.Pattern[str], other: re.Pattern[str]) -> bool:
    found = [[[m.span(), m.groupdict()] for m in each.finditer(text)] for each in (one, other) for text in TEXTS]
    half = len(found) // 2
    about = [(each.pattern, each.flags, each.groups, dict(each.groupindex)) for each in (one, other)]
    return found[:half] == found[half:] and about[0] == about[1]


def spoilt(code: bytes) -> bytes:
    """A file that has this as what the pattern `a` is compiled to."""
    return msgspec.msgpack.encode([Kept(0, Arguments("a", 32, code, 0, {}, ()))])


@pytest.mark.parametrize(("pattern", "flags"), PATTERNS)
def test_a_kept_pattern_is_the_one_that_was_written(
    pattern: str, flags: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    written = make(pattern, flags)
    with patterns_kept():
        assert same(make(pattern, flags), written)
    assert patterns_file().stat().st_mode & 0o777 == 0o600
    compiled: list[str] = []
    monkeypatch.setattr(Compiler, "_compiled", lambda *_: compiled.append("anew"))
    with patterns_kept():
        assert same(make(pattern, flags), written)
    assert not compiled


@pytest.mark.parametrize("key", ["sk-secret"])
def test_what_a_user_passed_is_not_kept(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with patterns_kept():
        re.purge()
        assert re.compile(f"{key}-[0-9]+").search("sk-secret-1")
        assert [re.search(each, "sk-secret-1") for each in (key, f"(?:{key})")]
    assert not patterns_file().exists()


def test_what_a_function_has_as_it_is_written_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with patterns_kept():
        re.purge()
        assert re.search("x{2,3}y?", "axxb")
    assert b"x{2,3}y?" in patterns_file().read_bytes()


@pytest.mark.parametrize("content", [b"", b"[[", spoilt(b"\1\0\0\0\2\0\0\0\3\0\0\0"), spoilt(b"\1\0"), b"\xff" * 100])
def test_a_spoilt_file_is_as_good_as_none(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A code that no pattern is compiled to is refused by the interpreter, which then compiles the pattern itself."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    patterns_file().parent.mkdir()
    patterns_file().write_bytes(content)
    with patterns_kept():
        assert make("a", 0).search("bab")


def test_a_file_that_others_may_write_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with patterns_kept():
        make("a", 0)
    patterns_file().chmod(0o666)
    assert compiled_patterns._read(patterns_file()) == []


def test_no_folder_to_write_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    with patterns_kept():
        assert make("b+", 0).search("abb")


def test_the_file_has_room_for_all_that_modules_and_rows_have() -> None:
    """One that is full is emptied, and each run compiles again what the one before it had."""
    sources = [path.read_text() for path in Path(moonpad.__file__).parent.rglob("*.py")]
    rows = [path.read_text() for path in Path(moonpad.__file__).parent.rglob("*.toml")]
    written = sum(len(re.findall(r"\bre\.\w+\(", text)) for text in sources)
    of_rows = sum(len(re.findall(r"""^\w+ = (?:'|\"{3}|'{3})""", text, re.MULTILINE)) for text in rows)
    assert 3_000 < written + of_rows < compiled_patterns._MOST_PATTERNS


def test_explain_says_the_same_with_and_without_it(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8\n")
    command = [sys.executable, "-m", "moonpad", "explain", "--file", str(script), "--json"]
    said = [
        subprocess.run(command, capture_output=True, check=False, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
        for _ in range(2)
    ]
    assert said[0].stdout == said[1].stdout != b""
    assert list((tmp_path / ".cache" / "moonpad").glob("patterns-*.msgpack"))
