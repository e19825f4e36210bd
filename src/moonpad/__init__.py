"""moonpad: from the hardware that you have to a verified, measured, tuned Kimi endpoint."""

__version__ = "0.1.0"
