"""`moonpad.toml`: its schema, its loader, and messages that name the line and the nearest right key."""
