"""What is wrong with a command that is read: one file a kind of mistake."""
