"""Starting, watching and stopping: the keeper, and what `up`, `status` and `down` do."""
