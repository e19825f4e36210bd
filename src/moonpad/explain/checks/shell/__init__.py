"""What a shell makes of lines, quotes and variables."""
