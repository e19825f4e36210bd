"""Readiness, progress and logs, as values."""
