"""Which lines of a script never run together with another one."""

from __future__ import annotations

import pytest

from moonpad.explain.shell.other_arms import other_arms

SCRIPT = """start
if a; then
  one
  if b; then
    inner
  fi
elif c; then
  two
  if d; then x; else y; fi
else
  three
fi
case "$m" in
  p) four ;;
  q)
    five
    ;;
  # else
  *) six ;;
esac
end
""".splitlines()
LINES = dict(enumerate(SCRIPT, 1))


@pytest.mark.parametrize(
    ("line", "others"),
    [
        (1, ()),
        (3, (7, 8, 9, 10, 11)),
        (5, (7, 8, 9, 10, 11)),
        (8, (2, 3, 4, 5, 6, 10, 11)),
        (11, (2, 3, 4, 5, 6, 7, 8, 9)),
        (14, (15, 16, 17, 18, 19)),
        (16, (14, 18, 19)),
        (19, (14, 15, 16, 17)),
        (21, ()),
    ],
)
def test_lines_of_other_arms(line: int, others: tuple[int, ...]) -> None:
    got = other_arms(LINES, line)
    code = {at for at in got if not LINES[at].strip().startswith(("#", "if a", "case"))}
    assert code == {at for at in others if not LINES[at].strip().startswith(("#", "if a"))}
