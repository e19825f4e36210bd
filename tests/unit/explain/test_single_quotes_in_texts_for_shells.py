"""Single quotes within a text that another shell makes: what that one puts between them, it has put there before."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

ROLE = 'case "$1" in a) ROLE=kv_producer;; b) ROLE=kv_consumer;; *) exit 1;; esac\n'
START = """vllm serve a/b --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"$ROLE"}'"""
FILE = ROLE + "cat > run.sh <<MARK\n" + START + "\nEOF\nbash run.sh\n"
KEPT = "single quotes"


def messages(text: str) -> list[str]:
    judged = [each.message for one in ask(text) for each in one.findings]
    return [*judged, *(problem.message for problem in read_script(text, markdown=False).problems)]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (FILE.replace("MARK", "EOF"), False),
        (FILE.replace("MARK", "'EOF'"), True),
        (FILE.replace("MARK", '"EOF"'), True),
        (FILE.replace("MARK", "EOF").replace("$ROLE", "\\$ROLE"), True),
        ("case $1 in a) P=8000;; b) P=8001;; esac\nbash -c \"vllm serve a/b --port '$P'\"\n", False),
        ("case $1 in a) P=8000;; b) P=8001;; esac\nssh host \"vllm serve a/b --port '$P'\"\n", False),
        ("case $1 in a) P=8000;; b) P=8001;; esac\nvllm serve a/b --port '$P'\n", True),
    ],
)
def test_quotes_keep_only_what_no_shell_has_put_there(text: str, kept: bool) -> None:
    assert any(KEPT in message for message in messages(text)) is kept


def test_a_variable_of_the_outer_shell_is_unknown_in_single_quotes_of_the_inner_one() -> None:
    (command,) = [each for each in read_script(FILE.replace("MARK", "EOF")).commands if each.program == "vllm serve"]
    assert command.argv[-1].unresolved == ("ROLE",)


def test_what_a_command_puts_there_is_unknown_as_well() -> None:
    (command,) = read_script("bash -c \"vllm serve a/b --host '$(hostname -i)'\"\n").commands
    assert command.argv[-1].unresolved == ("$(hostname -i)",)


def test_of_more_names_than_are_kept_each_is_unknown() -> None:
    exports = "".join(f"export N{at}=$N{at}\n" for at in range(30))
    text = f"cat > run.sh <<EOF\n{exports}vllm serve a/b --port '$N29'\nEOF\nbash run.sh\n"
    (command,) = [each for each in read_script(text).commands if each.program == "vllm serve"]
    assert command.argv[-1].unresolved == ("N29",)
