"""Commands in Python programs, which are read and never run."""
