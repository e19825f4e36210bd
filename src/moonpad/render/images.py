"""What a reader must know of an image that is named in a file."""

from __future__ import annotations

from moonpad.values.deployment import Image, Process, Role


def image_note(process: Process) -> tuple[str, ...]:
    """A tag moves, a digest does not (fault 65)."""
    if not isinstance(process.runtime, Image):
        return ()
    reference = process.runtime.reference
    key = "[endpoint] front_image" if process.role is Role.ROUTER else "[engine] image"
    if "@sha256:" in reference:
        return ()
    return (
        f'{reference} is a tag, and a tag may move. Pin what you tried: {key} = "NAME@sha256:...", as',
        f"  docker pull {reference}  prints it.",
    )
