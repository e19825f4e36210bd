"""Data with source, date and standing, and the loaders that give it types."""
