"""Templates of commands: filled from a mapping of the same file, unknown where nothing fills them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one, at, layout, refused

RECIPE = """\
name: coder
model: org/Big-Coder
{table}:
  port: 9000
  host: 127.0.0.1
  tp: 4
  max_len: 65536
command: |
  vllm serve org/Big-Coder \\
    --host {{host}} \\
    --port {{port}} \\
    --max-model-len {{max_len}} \\
    -tp {{tp}} \\
    --compilation-config '{{{{"cudagraph_mode": "PIECEWISE", "pass_config": {{{{"enable_fusion": true}}}}}}}}'
"""


@pytest.mark.parametrize("table", ["defaults", "params", "variables", "vars", "env"])
def test_a_mapping_beside_the_command_fills_it(table: str) -> None:
    (judged,) = ask(RECIPE.format(table=table))
    assert layout(judged) == (4, 1, 1)
    assert judged.settings is not None
    assert judged.settings.max_model_len == 65536
    assert not judged.unknown
    assert not refused(judged)


def test_without_such_a_mapping_the_values_are_unknown() -> None:
    text = RECIPE.format(table="notes").replace("notes:", "notes: &n\n  deep:").replace("\n  ", "\n    ")
    (judged,) = ask(text)
    assert "tp" in judged.unknown
    assert not refused(judged)


def test_a_name_that_the_mapping_lacks_stays_unknown() -> None:
    (judged,) = ask(RECIPE.format(table="defaults").replace("  tp: 4\n", ""))
    assert judged.unknown == {"tp"}
    assert not refused(judged)


def test_what_stands_beside_the_command_fills_it_too() -> None:
    text = "size: 2\nmodel: org/Small\nvars: {port: 7000}\ncommand: vllm serve {model} --port {port} -tp {size}\n"
    (judged,) = ask(text)
    assert (judged.model_written, layout(judged)) == ("org/Small", (2, 1, 1))


def test_the_braces_of_jinja_are_filled_too() -> None:
    text = (
        'defaults:\n  size: 8\ncommand: |\n  vllm serve org/Big --tensor-parallel-size {{ size }} --port "{{ port }}"\n'
    )
    (judged,) = ask(text)
    assert layout(judged) == (8, 1, 1)
    assert not judged.unknown


def test_arguments_of_a_container_are_filled() -> None:
    text = (
        "vars: {size: 8}\nserver:\n  image: vllm/vllm-openai:v0.11.0\n"
        "  args: [--model, org/Big, --tensor-parallel-size, '{size}']\n"
    )
    (judged,) = ask(text)
    assert layout(judged) == (8, 1, 1)


@pytest.mark.parametrize(
    "spelled",
    [
        *("{name}", "{args.name}", "{args[name]}", "{name:d}", "<name>", "[name]", "[[name]]", "%name%", "!name!"),
        *("{{name}}", "{{ name }}", "{{ .Values.name }}", "{{ vars['name'] }}"),
        *("__NAME__", "@NAME@", "@@NAME@@", "YOUR_NAME", "your-name", "${{ inputs.name }}"),
    ],
)
def test_a_template_is_no_wrong_value(spelled: str) -> None:
    judged = ask_one(f"vllm serve org/Big --port {spelled} --tensor-parallel-size {spelled} --max-num-seqs 8", on="")
    assert "tp" in judged.unknown
    assert not refused(judged)
    assert judged.settings is not None
    assert judged.settings.max_num_seqs == 8


def test_a_template_alone_may_be_any_options() -> None:
    judged = ask_one("vllm serve org/Big --port 8000 {extra_args}", on="")
    assert {"tp", "max_model_len"} <= judged.unknown
    assert not refused(judged)


@pytest.mark.parametrize("value", ["eight", "8x", "%8", "{8}", "[8]", "_8_", "@", "no-name"])
def test_other_words_are_wrong_values_still(value: str) -> None:
    assert at(ask_one(f"vllm serve org/Big --tensor-parallel-size '{value}'", on=""), "invalid-value")


@pytest.mark.parametrize("json", ['{"image":5}', "[image]", "{image:5}"])
def test_json_that_lost_its_quotes_is_told_still(json: str) -> None:
    assert at(ask_one(f"vllm serve org/Big --limit-mm-per-prompt {json}", on=""), "invalid-value")


def test_braces_of_json_are_not_those_of_a_template() -> None:
    text = (
        "vars: {tp: 4}\ncommand: |\n  vllm serve org/Big -tp 4 "
        """--speculative-config '{"method": "mtp", "num_speculative_tokens": 1, "moe": {"a": {"b": 1}}}'\n"""
    )
    (judged,) = ask(text)
    assert layout(judged) == (4, 1, 1)
    assert not [where for where in at(judged, "invalid-value") if where.startswith("--speculative-config")]
