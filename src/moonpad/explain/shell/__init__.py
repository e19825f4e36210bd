"""What a shell makes of a script: words, expansion, control flow, and what stands before the program."""
