"""Commands and facts in texts for people: Markdown, logs, sentences, names of devices."""
