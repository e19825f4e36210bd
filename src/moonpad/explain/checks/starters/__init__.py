"""The checks of what starts a server on a machine: make, pipelines, playbooks, supervisors, the first boot."""
