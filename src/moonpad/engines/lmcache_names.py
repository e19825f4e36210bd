"""How a server asks LMCache for its KV cache, and where LMCache's own settings and its release stand in a text."""

from __future__ import annotations

import re
from typing import Final

CONNECTOR: Final = re.compile(r"LMCacheConnector(?:V1)?(?:Dynamic)?\b")
"""Of those that read the settings in the server's own process."""
FILE: Final = "LMCACHE_CONFIG_FILE"
PREFIX: Final = "LMCACHE_"
INSIDE: Final = "lmcache."
"""In front of its keys among the connector's own."""
RELEASE: Final = re.compile(
    r"\blmcache(?:/vllm-openai:|[-_ ]?(?:version)?[ :=@v]{1,4})v?(?P<release>\d+\.\d+\.\d+)", re.IGNORECASE
)
WITHOUT_LATENT: Final = "VLLM_MLA_DISABLE"
"""Set to 1, models with latent attention are served without it."""
SEED: Final = "PYTHONHASHSEED"
"""What the hashes of tokens begin with."""
APART: Final = "LMCacheMPConnector"
"""The connector whose cache is kept by a server of its own on the same machine."""
SERVER: Final = re.compile(r"(?:^|[\s/\"'`;&|(])lmcache[ ]+server(?=[ ]+(?:--\w|\\$))")
"""How that server is started (LMCache from 0.4.4 on)."""
STORE: Final = re.compile(r"(?:^|[\s/\"'`;&|(])lmcache_server[ ]+\S|-m[ ]+lmcache\.(?:v1|experimental)\.server\b")
"""How the store is started that `remote_url` names (`lm://`)."""
OF_SERVER: Final = "lmcache.mp."
SERVER_KEYS: Final = ("lmcache.mp.host", "lmcache.mp.port")
SERVER_LISTS: Final = ("lmcache.mp.server_urls",)
"""Keys of the connector that say where its server is (LMCache 0.5.3, integration/vllm/lmcache_mp_connector.py)."""
SERVER_HOST: Final = "tcp://localhost"
SERVER_PORT: Final = "5555"
"""Where the server listens and the connector asks, where neither is told (LMCache 0.5.3, v1/multiprocess/config.py)."""
INSTALLED: Final = re.compile(
    r"^[^#\n]{0,200}\b(?:pip3?|uv)[ ](?:install|add)[ ](?:[^#\n]{0,400}[ \"'])?lmcache(?![\w/.-])"
)
SWITCHED_ON: Final = re.compile(
    r"kv[-_]?transfer|kv[-_]?offload|kv[-_]connector|LMCache\w*Connector|LMCacheMP|lmcache[ ]server"
    r"|lmcache[-_.](?:server|vllm|sglang|v1)|enable[-_]lmcache|LMCACHE_|lmcache\.\w|--config\b",
    re.IGNORECASE,
)
"""What a text says in which a server, this or another one, is told to use it."""
