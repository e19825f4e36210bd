"""Links in the items of a list of Markdown are no brackets of a shell."""

from moonpad.explain.script import read_script


def test_links_of_a_page_without_code() -> None:
    again = "vllm serve was spoken of"
    items = "\n".join(f"- [**#kimi-{n}**](https://example.org/{n}): {again}{' again' * n}" for n in range(4))
    assert read_script(f"# Summary\n\n{items}\n").problems == ()


def test_a_link_as_a_value() -> None:
    text = "model=[Qwen/Qwen3.5](https://huggingface.co/Qwen/Qwen3.5) # x\nvllm serve $model --port 8001\n"
    assert [each.code for each in read_script(text).problems] == ["syntax"]
