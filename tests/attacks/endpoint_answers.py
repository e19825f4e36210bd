"""Hostile endpoints: answers of sound HTTP with wrong values in them."""

from __future__ import annotations

import json

from tests.attacks.hostile_server import (
    DEEP,
    JSON_HEAD,
    METRICS,
    MODEL,
    Attack,
    call,
    floods,
    plain,
    replaces,
    says,
    says_much,
    trickles,
    weather,
    with_choice,
    with_document,
    with_message,
    with_usage,
)

JSON_ATTACKS = (
    *(
        Attack(f"usage {value!r}"[:60], with_usage(value))
        for value in (
            -1,
            2**53,
            2**53 + 1,
            2**63 - 1,
            2**63,
            2**64 - 1,
            2**64,
            10**30,
            10**9,
            1.5,
            1e300,
            "7",
            None,
            True,
            [],
            {},
            "the whole",
            99_999_999,
        )
    ),
    *(
        Attack(f"usage {raw[:12].decode()}", with_usage("RAW", raw))
        for raw in (b"NaN", b"1e999", b"-1e999", b"9" * 10_000, b"Infinity", b"-0", b"0x10", b"12e0")
    ),
    Attack("choices an object", replaces(choices={"0": {}})),
    Attack("choices null", replaces(choices=None)),
    Attack("choices a number", replaces(choices=7)),
    Attack("choices a text", replaces(choices="choices")),
    Attack("choices of numbers", replaces(choices=[1, None, "a"])),
    Attack("choices nested", replaces(choices=[[{}]])),
    Attack("usage a list", replaces(usage=[1])),
    Attack("id null, created a text, model a number", replaces(id=None, created="now", model=3, object=[])),
    Attack("created huge", replaces(created=2**64)),
    *(
        Attack(f"finish_reason {value!r}"[:50], with_choice(finish_reason=value))
        for value in ([], ["stop"], {"a": 1}, 7, True, "s" * 1_000_000, "\ud800", "stop\x1b[2J")
    ),
    *(Attack(f"delta {value!r}", with_choice(delta=value, message=value)) for value in (None, [], "a", 7, [{}])),
    *(
        Attack(f"content {value!r}"[:50], with_message(content=value))
        for value in (
            None,
            7,
            [],
            ["a"],
            {"a": 1},
            True,
            [{"type": "text", "text": "a"}],
            "\ud800",
            "\0" * 9,
            "a" * 200_000,
        )
    ),
    *(Attack(f"reasoning {value!r}", with_message(reasoning=value)) for value in (7, [], ["a"], {"a": 1})),
    *(
        Attack(f"tool_calls {name}", with_message(tool_calls=value))
        for name, value in (
            ("a number", 7),
            ("a text", "a"),
            ("an object", {}),
            ("of a number", [7]),
            ("of null", [None]),
            ("of an empty object", [{}]),
            ("of a list", [[]]),
            ("an index of -1", [call(index=-1)]),
            ("an index of 2^63", [call(index=2**63)]),
            ("an index of 1.5", [call(index=1.5)]),
            ("an index of text", [call(index="0")]),
            ("an index of 10^30", [call(index=10**30)]),
            ("an id of null", [call(id=None)]),
            ("an id of a number", [call(id=7)]),
            ("a function of a list", [call(function=[])]),
            ("a function of null", [call(function=None)]),
            ("a name of a number", [call(function={"name": 7, "arguments": "{}"})]),
            ("arguments of an object", [call(function={"name": "f", "arguments": {"a": 1}})]),
            ("arguments of null", [call(function={"name": "f", "arguments": None})]),
            ("a number of 10000 digits", [weather('{"city": ' + "9" * 10_000 + "}")]),
            ("deep arguments", [weather("[" * 99_999)]),
            ("arguments with a lone surrogate", [weather('{"city": "\\ud800"}')]),
            (
                "an id of 10000 digits",
                [{**weather('{"city": "Paris"}'), "id": "functions.get_weather:" + "9" * 10_000}],
            ),
        )
    ),
    Attack("deep nesting", with_document(lambda document: DEEP)),
    Attack("a deep value", with_document(lambda d: json.dumps(d)[:-1].encode() + b', "x": ' + DEEP + b"}")),
    Attack(
        "duplicate keys",
        with_document(
            lambda document: json.dumps(document)[:-1].encode() + b', "choices": 1, "choices": [], "usage": 3}'
        ),
    ),
    Attack("invalid UTF-8", with_document(lambda document: json.dumps(document).encode().replace(b"one", b"\xff\xfe"))),
    Attack("a byte order mark", with_document(lambda document: b"\xef\xbb\xbf" + json.dumps(document).encode())),
    Attack("not JSON", with_document(lambda document: b"<html>")),
    Attack("a JSON list", with_document(lambda document: [document])),
    Attack("JSON null", with_document(lambda document: None)),
    Attack("a NUL in JSON", with_document(lambda document: json.dumps(document).encode() + b"\0")),
    Attack("an error object", replaces(error={"message": ["a"], "code": {}})),
    Attack("an error list", replaces(error=[[]] * 3)),
)
LOGPROBS = {
    "tokens": ["a", "b", "c"],
    "token_logprobs": [None, -1.0, -2.0],
    "top_logprobs": [None, {"b": -1.0}, {"c": -2.0}],
}
LOGPROB_ATTACKS = (
    *(
        Attack(f"logprobs {name} {value!r}"[:60], with_choice(logprobs={**LOGPROBS, name: value}))
        for name, value in (
            ("tokens", None),
            ("tokens", "abc"),
            ("tokens", {"0": 1}),
            ("tokens", [[], {}, 1]),
            ("token_logprobs", [None, "nan", "inf"]),
            ("token_logprobs", [None, 1e300, -1e300]),
            ("token_logprobs", [None, None, None]),
            ("token_logprobs", {}),
            ("token_logprobs", [None, 5.0, -1.0]),
            ("top_logprobs", [None, [], []]),
            ("top_logprobs", [None, {}, {}]),
            ("top_logprobs", [None, {"a": "b"}, {"a": None}]),
            ("top_logprobs", "abc"),
        )
    ),
    Attack("logprobs a list", with_choice(logprobs=[1])),
    Attack("logprobs null", with_choice(logprobs=None)),
    *(
        Attack(f"prompt_tokens {value!r} with logprobs", replaces(usage={"prompt_tokens": value}))
        for value in (0, 1, -3, 2**63, 1.0, "3", None)
    ),
)
MODELS_ATTACKS = tuple(
    Attack(name, says(plain(document), ""), ("/v1/models",))
    for name, document in (
        ("a million models", {"data": [{"id": f"m{number}"} for number in range(1_000_000)]}),
        (
            "ten thousand models of SGLang",
            {"data": [{"id": f"m{number}", "owned_by": "sglang"} for number in range(10_000)]},
        ),
        ("a model of 1 MB", {"data": [{"id": "m" * 1_000_000}]}),
        ("a model without a name", {"data": [{"id": ""}]}),
        ("models an object", {"data": {"id": "a"}}),
        ("a model that is a number", {"data": [{"id": 7}]}),
        ("models null", {"data": None}),
        ("models a list", [{"id": "a"}]),
        ("a context of 2^62", {"data": [{"id": MODEL, "max_model_len": 2**62}]}),
        ("a context of 10^8", {"data": [{"id": MODEL, "max_model_len": 10**8}]}),
        ("a context that is true", {"data": [{"id": MODEL, "max_model_len": True, "root": 7, "owned_by": []}]}),
        ("models nested", DEEP),
    )
)
MODELS_ATTACKS += (
    Attack(
        "models of 100 MB",
        says_much(JSON_HEAD + b'\r\n{"data": [{"id": "', 100, b"m" * 1_000_000, b'"}]}'),
        ("/v1/models",),
    ),
)
COUNT_ATTACKS = tuple(
    Attack(
        f"count {str(value)[:20]}", says(plain(b'{"count": %s, "tokens": %s}' % (value, tokens)), ""), ("/tokenize",)
    )
    for value, tokens in (
        (b"-1", b"[]"),
        (b"0", b"[]"),
        (b"9007199254740993", b"[-1]"),
        (b"18446744073709551616", b"{}"),
        (b"1e999", b"[1]"),
        (b'"7"', b"[[]]"),
        (b"99999999", b"null"),
        (b"1", b"[1e300]"),
        (b"9" * 9000, b"[1]"),
        (b"[]", b"7"),
        (b"12", b"[" + b"1," * 4_000_000 + b"1]"),
    )
)
METRICS_ATTACKS = (
    Attack("metrics without end", floods(JSON_HEAD + b"\r\n", METRICS * 500), ("/metrics",)),
    Attack(
        "a metrics line without end",
        floods(JSON_HEAD + b'\r\nvllm:num_requests_running{a="', b"a" * 65536),
        ("/metrics",),
    ),
    Attack("metrics that trickle", trickles(JSON_HEAD + b"\r\n", METRICS), ("/metrics",)),
    *(
        Attack(
            f"metrics {value[:30]!r}",
            says(plain(b'vllm:num_requests_running{engine="0"} ' + value + b"\n"), ""),
            ("/metrics",),
        )
        for value in (
            b"NaN",
            b"+Inf",
            b"-Inf",
            b"-1",
            b"1e999",
            b"1e300",
            b"1e18",
            b"abc",
            b"",
            b"1 2 3",
            b"0x7",
            b"1_0",
            b"\xff\xfe",
            b"9" * 9000,
            b'1 # {a="b"} 1',
        )
    ),
    *(
        Attack(
            f"metrics labels {labels[:20]!r}",
            says(plain(b"vllm:num_requests_running%s 1\n" % labels), ""),
            ("/metrics",),
        )
        for labels in (
            b"{",
            b"}",
            b"{a}",
            b'{a="}',
            b'{a="\\"}',
            b'{="b"}',
            b"{" + b'a="b",' * 1300 + b"}",
            b'{a="' + b'\\"' * 4000 + b'"}',
            b"{" + b"," * 8000 + b"}",
            b'{a="b"',
            b"{{{{",
            b'{"a"}',
            b"{" * 8000,
        )
    ),
    Attack("a million metrics", says(plain(METRICS * 40_000), ""), ("/metrics",)),
)
