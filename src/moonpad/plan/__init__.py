"""From what the user asked for to one way to serve it: defaults, legality, memory."""
