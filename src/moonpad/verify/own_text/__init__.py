"""The model's own text: what it writes after the rendered prompt, against which the server's answers are judged."""
