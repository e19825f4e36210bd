"""What is asked, in which order: random words, conversations, and what others have recorded."""
