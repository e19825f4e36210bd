"""A Deployment → files, one file of this folder a target. Pure, and the same bytes each time."""
