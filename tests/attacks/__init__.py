"""Hostile files, names and options: whatever they hold, a verb answers soon, in little memory, and in a sentence."""
