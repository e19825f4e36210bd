"""Engines, each in an environment of its own: moonpad never shares its own environment with one."""
