"""The ssh client's command line: what is the user's is fenced, what is asked there is one word."""

from __future__ import annotations

import shlex

from moonpad.run.ssh_hosts import SshHost


def test_a_plain_host() -> None:
    words = SshHost("node-1", "far").words("true")
    assert words[0] == "ssh"
    assert words[-3:] == ("--", "far", "true")
    assert "BatchMode=yes" in words
    assert not [word for word in words if "StrictHostKeyChecking" in word or "UserKnownHostsFile" in word]


def test_another_port_and_a_jump_host() -> None:
    words = SshHost("node-1", "root@10.0.0.2", port=2222, jump="gate").words("true")
    assert words[words.index("-p") + 1] == "2222"
    assert words[words.index("-J") + 1] == "gate"
    assert words.index("-J") < words.index("--")


def test_an_option_as_a_name_is_none() -> None:
    """Behind `--` nothing is an option; the spec refuses it before."""
    words = SshHost("node-1", "-oProxyCommand=touch pwned").words(shlex.join(("echo", "$(touch pwned)")))
    assert words[words.index("--") + 1] == "-oProxyCommand=touch pwned"
    assert words[-1] == "echo '$(touch pwned)'"
