"""What a reader must know of an image that is named in a file."""

from __future__ import annotations


def image_note(reference: str) -> tuple[str, ...]:
    """A tag moves, a digest does not (fault 65)."""
    if "@sha256:" in reference:
        return ()
    return (
        f'{reference} is a tag, and a tag may move. Pin what you tried: [engine] image = "NAME@sha256:...", as',
        f"  docker pull {reference}  prints it.",
    )
