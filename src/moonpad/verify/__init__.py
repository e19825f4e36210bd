"""Proves by questions that an endpoint answers correctly, whoever serves it."""
