"""Checkpoints on disk: found, and read as far as their headers. Bytes of tensors are never touched here."""
