"""Proves with questions that an endpoint answers correctly, whatever serves it."""
