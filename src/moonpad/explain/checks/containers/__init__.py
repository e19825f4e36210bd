"""Images, and what a container is given."""
