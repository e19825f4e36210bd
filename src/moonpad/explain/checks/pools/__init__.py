"""Servers for prefill and for decode, and the routers in front of servers."""
