"""Requests, measurements and programs that ask the server."""
