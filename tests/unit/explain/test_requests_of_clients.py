"""What a text's clients send to its only server: told where it is refused or misread, else nothing."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

K25 = "```bash\nvllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --reasoning-parser kimi_k2{}\n```\n"
TOOLS = " --tool-call-parser kimi_k2 --enable-auto-tool-choice"
SGLANG = "```bash\nsglang serve --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code{}\n```\n"
CURL = "```bash\ncurl http://localhost:8000/v1/chat/completions -H 'Content-Type: application/json' -d '{}'\n```\n"
BODY = '{"model":"moonshotai/Kimi-K2.5","messages":[{"role":"user","content":"hi"}]%s}'
CLIENT = '```python\nclient = OpenAI(base_url="{}", api_key="{}")\n```\n'
CREATE = "```python\nr = client.chat.completions.create(\n    model={}, messages=messages{})\n```\n"
MODEL = "moonshotai/Kimi-K2.5"
NAME = f'"{MODEL}"'
IMAGE = '{"type":"image_url","image_url":{"url":"%s"}}'
LITELLM = (
    "```yaml\nmodel_list:\n  - model_name: kimi\n    litellm_params:\n      model: {}\n      api_base: {}\n"
    "      api_key: {}\n```\n"
)
NGINX = "```nginx\nupstream kimi {{ server 127.0.0.1:{}; }}\nserver {{\n  location /v1/ {{ proxy_pass {}; }}\n}}\n```\n"


def messages(text: str, version: str = "") -> list[str]:
    return [f"{finding.where}: {finding.message}" for each in ask(text, "", version) for finding in each.findings]


def server(more: str = TOOLS) -> str:
    return K25.format(more)


def curl(field: str = "") -> str:
    return CURL.format(BODY % field)


def pictures(*addresses: str) -> str:
    parts = ",".join(IMAGE % address for address in addresses)
    return CURL.format(BODY.replace('"hi"', f"[{parts}]") % "")


HERE = "http://localhost:8000/v1"
TOLD = {
    "key of the library": (server(" --api-key sk-moon"), CLIENT.format(HERE, "EMPTY"), "answers 401"),
    "key of curl": (server(" --api-key sk-moon"), curl().replace("-d", "-H 'Authorization: Bearer x1' -d"), "401"),
    "key of a variable": ("```bash\nexport VLLM_API_KEY=k1\n```\n" + server(), curl(), "has no key"),
    "key of a proxy": (server(" --api-key sk1"), LITELLM.format(f"openai/{MODEL}", HERE, "EMPTY"), "answers 401"),
    "https": (server(), CLIENT.format(HERE.replace("http", "https"), "x"), "speaks https"),
    "http": (server(" --ssl-certfile /c --ssl-keyfile /k"), curl(), "speaks http, and the server has"),
    "no version": (server(), CLIENT.format(HERE[:-3], "x").replace("= OpenAI", "= ChatOpenAI"), "without /v1"),
    "whole path": (server(), CLIENT.format(f"{HERE}/chat/completions", "x"), "puts the path of each request"),
    "tokens": (server(" --max-model-len 32768"), curl(',"max_tokens":40000'), "wants 40,000 tokens"),
    "tokens of the library": (server(" --max-model-len 32768"), CREATE.format(NAME, ", max_tokens=65536"), "65,536"),
    "few tokens": (server(), curl(',"max_tokens":329'), "329 are often spent before the answer begins"),
    "few tokens of the library": (server(), CREATE.format(NAME, ", max_tokens=200"), "200 are often spent"),
    "logprobs": (server(), curl(',"logprobs":true,"top_logprobs":50'), "more than the 20"),
    "tools": (server(""), curl(',"tools":[{"type":"function"}]'), "--enable-auto-tool-choice: it answers 400"),
    "tools of the library": (server(""), CREATE.format(NAME, ", tools=tools"), "it answers 400"),
    "image": (server().replace("K2.5", "K2-Thinking"), pictures("https://x/y.png"), "reads text alone"),
    "no images": (server(" --language-model-only"), pictures("https://x/y.png"), "takes none"),
    "two images": (
        server(""" --limit-mm-per-prompt '{"image":1}'"""),
        pictures("https://x/y.png", "https://x/z.png"),
        "grants 1",
    ),
    "file": (server(), pictures("file:///data/y.png"), "refuses it without"),
    "argument": (server(), CREATE.format(NAME, ", top_k=20"), "no argument top_k"),
    "form": (server(), curl().replace("-H 'Content-Type: application/json' ", ""), "as a form"),
    "kept variable": (server(), curl().replace("moonshotai/Kimi-K2.5", "$MODEL"), "single quotes keep $MODEL"),
    "text": (server(), CURL.format('{"model":"moonshotai/Kimi-K2.5","messages":"hi"}'), "a list is wanted"),
    "stream options": (server(), curl(',"stream_options":{"include_usage":true}'), "without stream"),
    "top alone": (server(), curl(',"top_logprobs":5'), "without logprobs"),
    "top_p": (server(), curl(',"top_p":0'), "above 0"),
    "format": (server(), curl(',"response_format":{"type":"json"}'), "has no type json"),
    "format of the library": (
        server(),
        CREATE.format(NAME, ", response_format={'type': 'json_mode'}"),
        "type json_mode",
    ),
    "extra_body": (server(), curl(',"extra_body":{"top_k":2}'), "passes over a field"),
    "thinking": (server(), CREATE.format(NAME, ', extra_body={"thinking": {"type": "disabled"}}'), "publisher's own"),
    "posted": (server(), "```bash\ncurl -X POST http://localhost:8000/v1/models\n```\n", "GET alone"),
    "proxy: name": (server(), LITELLM.format("openai/kimi", HERE, "x"), "asks for kimi"),
    "proxy: base": (server(), LITELLM.format(f"openai/{MODEL}", HERE[:-3], "x"), "without /v1 before"),
    "proxy: port": (server(), LITELLM.format(f"openai/{MODEL}", HERE.replace("8000", "8001"), "x"), "port 8001"),
    "proxy: provider": (server(" --served-model-name kimi"), LITELLM.format("kimi", HERE, "x"), "no provider"),
    "sleep": (server(), "```bash\ncurl -X POST localhost:8000/sleep?level=1\n```\n", "no /sleep without"),
    "profile": (server(), "```bash\ncurl -X POST http://localhost:8000/start_profile\n```\n", "without a profiler"),
    "generate": (server(), "```bash\ncurl http://localhost:8000/generate -d '{}'\n```\n", "another engine"),
    "health": (server(), "```bash\ncurl http://localhost:8000/v1/health\n```\n", "/v1/health is not a path"),
    "embeddings": (
        server(),
        curl().replace("chat/completions", "embeddings"),
        "wants a model of embeddings",
    ),
    "metrics": (SGLANG.format(""), "```bash\ncurl http://localhost:30000/metrics\n```\n", "without --enable-metrics"),
    "scraped": (
        SGLANG.format(""),
        "```yaml\nscrape_configs:\n  - static_configs:\n      - targets: ['127.0.0.1:30000']\n```\n",
        "Prometheus asks",
    ),
    "model": (server(" --served-model-name kimi"), CREATE.format(NAME, ""), "is called kimi"),
    "generator: port": (server(), "```bash\naiperf profile -m x --url http://localhost:8080\n```\n", "port 8080"),
    "generator: name": (server(), "```bash\ngenai-perf profile -m kimi \\\n  --url localhost:8000\n```\n", "for kimi"),
    "messages": (server(), "```bash\nexport ANTHROPIC_BASE_URL=http://localhost:8000/v1\n```\n", "/v1/messages behind"),
    "evaluation": (
        server(),
        f"```bash\nlm_eval --model local-completions --tasks gsm8k --model_args model={MODEL},base_url={HERE}\n```\n",
        "without /v1/completions",
    ),
    "template": (
        server(),
        "```bash\nlm_eval --model local-chat-completions --tasks gsm8k "
        f"--model_args model={MODEL},base_url={HERE}/chat/completions\n```\n",
        "with --apply_chat_template alone",
    ),
    "nginx: port": (server(), NGINX.format("8001", "http://kimi"), "passes requests on to port 8001"),
    "nginx: path": (server(), NGINX.format("8000", "http://127.0.0.1:8000/"), "cuts /v1 off"),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_refused_or_misread(name: str) -> None:
    first, second, words = TOLD[name]
    assert any(words in text for text in messages(first + second)), messages(first + second)
    shown = ("nginx", "proxy", "key of a proxy", "evaluation", "template", "scraped", "generator", "key of a variable")
    shown = (*shown, "few tokens")
    for other in (first, first + "The next request fails with an error:\n" + second):
        if name.startswith(shown):
            break
        assert not any(words in text for text in messages(other))


QUIET = {
    "same key": server(" --api-key sk-moon") + CLIENT.format(HERE, "sk-moon"),
    "placeholder": server(" --api-key sk-moon") + CLIENT.format(HERE, "<your key>"),
    "another server": server(" --api-key sk-moon") + CLIENT.format("http://localhost:9000/v1", "EMPTY"),
    "two servers": server(" --api-key sk-moon") + server(" --port 8002") + CLIENT.format(HERE, "EMPTY"),
    "nginx has the certificate": server()
    + "nginx stands before it\n"
    + CLIENT.format("https://localhost:8000/v1", "x"),
    "within the context": server(" --max-model-len 32768") + curl(',"max_tokens":32768'),
    "few tokens without thoughts": server() + curl(',"max_tokens":200,"chat_template_kwargs":{"thinking":false}'),
    "few tokens of a model that does not think": server().replace("K2.5", "K2-Instruct")
    + curl(',"max_tokens":200').replace("K2.5", "K2-Instruct"),
    "several thousand tokens": server() + curl(',"max_tokens":4096'),
    "more logprobs": server(" --max-logprobs 50") + curl(',"logprobs":true,"top_logprobs":50'),
    "tools": server() + curl(',"tools":[{"type":"function"}]'),
    "named tool": server("") + curl(',"tools":[{"type":"function"}],"tool_choice":"none"'),
    "option in prose": server("") + "Add --enable-auto-tool-choice for tools.\n" + CREATE.format(NAME, ", tools=tools"),
    "image": server() + pictures("https://x/y.png"),
    "file": server(" --allowed-local-media-path /data") + pictures("file:///data/y.png"),
    "in extra_body": server() + CREATE.format(NAME, ', extra_body={"top_k": 20}'),
    "stream": server() + curl(',"stream":true,"stream_options":{"include_usage":true}'),
    "closed quotes": server() + curl().replace("moonshotai/Kimi-K2.5", "'\"$MODEL\"'"),
    "top_p": server() + curl(',"top_p":1.0') + curl(',"top_p":0.95'),
    "format": server()
    + curl(',"response_format":{"type":"json_object"}')
    + curl(',"response_format":{"type":"$TYPE"}'),
    "sleep": "```bash\nexport VLLM_SERVER_DEV_MODE=1\n```\n"
    + server(" --enable-sleep-mode")
    + "```bash\ncurl localhost:8000/sleep\n```\n",
    "metrics": SGLANG.format(" --enable-metrics") + "```bash\ncurl http://localhost:30000/metrics\n```\n",
    "a hosted service": server(" --served-model-name kimi")
    + CLIENT.format("https://api.moonshot.ai/v1", "x")
    + CREATE.format('"kimi-k2.5"', ""),
    "proxy": server() + LITELLM.format(f"openai/{MODEL}", HERE, "x"),
    "generator": server() + "```bash\naiperf profile -m moonshotai/Kimi-K2.5 --url http://localhost:8000\n```\n",
    "messages": server() + "```bash\nexport ANTHROPIC_BASE_URL=http://localhost:8000\n```\n",
    "nginx": server() + NGINX.format("8000", "http://kimi") + NGINX.format("8000", "http://127.0.0.1:8000"),
}
WORDS = (*{words for _, _, words in TOLD.values()}, "answers 401", "answers 404", "answers 400", "refused")
OF_THE_SERVER = "--tool-call-parser: requests with tools are refused"
"""A note of each server of such a model without a parser, whatever its clients send."""


@pytest.mark.parametrize("name", QUIET)
def test_what_may_be_right(name: str) -> None:
    told = [text for text in messages(QUIET[name]) if text != OF_THE_SERVER]
    assert not [text for text in told if any(word in text for word in WORDS)]


def test_fields_of_releases() -> None:
    guided = server() + CREATE.format(NAME, ', extra_body={"guided_json": schema}')
    outputs = server() + CREATE.format(NAME, ', extra_body={"structured_outputs": {"json": schema}}')
    thoughts = server() + "```python\nprint(r.choices[0].message.reasoning_content)\n```\n"
    for text, version, told in (
        (guided, "0.19.0", True),
        (guided, "0.11.0", False),
        (guided, "", False),
        (outputs, "0.10.1", True),
        (outputs, "0.19.0", False),
        (thoughts, "0.19.0", True),
        (thoughts, "0.15.0", False),
        (thoughts.replace("print(", "print(r.choices[0].message.reasoning or "), "0.19.0", False),
    ):
        words = ("is gone since", "not a field of this release", "is called reasoning since")
        found = [each for each in messages(text, version) if any(word in each for word in words)]
        assert bool(found) is told, (text, version)


def test_a_context_that_is_asked_for_whole() -> None:
    text = server(" --max-model-len 32768") + curl(',"max_tokens":32768')
    assert any("wants 32,768" in each for each in messages(text, "0.19.0"))
