"""The best settings for a workload on this machine, found by measuring little: `moonpad tune`."""
