"""Records the engines' command-line options as data for `moonpad.catalog.options`. See record.py."""
