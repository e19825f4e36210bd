"""The question that a container asks itself: does one token come back? `/health` answers 200 on engines that die on
their first request, so it alone does not make an engine ready (values/deployment.py: HttpProbe)."""

from __future__ import annotations

import json
from typing import Final

# Python is in every image that runs these engines; curl is not. The key is MOONPAD_API_KEY in the environment.
_ASK: Final = (
    "import os,sys,urllib.request as r;"
    "q=r.Request('http://127.0.0.1:'+sys.argv[1]+'/v1/completions',sys.argv[2].encode(),"
    "{'Content-Type':'application/json','Authorization':'Bearer '+os.environ.get('MOONPAD_API_KEY','')});"
    "r.urlopen(q,timeout=float(sys.argv[3])).read()"
)


_HEALTH: Final = "import sys,urllib.request as r;r.urlopen(sys.argv[1],timeout=float(sys.argv[2])).read()"


def healthy(port: str, path: str, limit_s: float) -> tuple[str, ...]:
    """A command that ends with 0 where `path` answers 200, asked from inside."""
    return "python3", "-c", _HEALTH, f"http://127.0.0.1:{port}{path}", f"{limit_s:g}"


def one_token(port: str, served_name: str, limit_s: float) -> tuple[str, ...]:
    """A command that ends with 0 where the model has written one token."""
    body = {"model": served_name, "prompt": "1", "max_tokens": 1, "temperature": 0}
    return "python3", "-c", _ASK, port, json.dumps(body), f"{limit_s:g}"
