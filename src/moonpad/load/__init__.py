"""Sending requests and timing the answers: schedule, streaming client, SSE parser, one record a request."""
