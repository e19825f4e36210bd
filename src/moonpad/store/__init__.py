"""Run folders, readable with `cat`: lines are appended, files are replaced by rename."""
