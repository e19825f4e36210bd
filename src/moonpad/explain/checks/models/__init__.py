"""What the model that is served cannot have, or needs: its sizes, formats, parsers, drafts and names."""
