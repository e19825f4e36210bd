"""Looks at hosts before a start, and at logs after one: what is wrong, with its number and what to do."""
