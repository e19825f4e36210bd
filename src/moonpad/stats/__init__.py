"""Numbers from numbers. Pure."""
