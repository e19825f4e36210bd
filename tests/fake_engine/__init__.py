"""A small server of ours with the process shape of the real engine: API server → engine core → workers that leave the
process group and session, double-fork and rename themselves. Every fault is a switch of the environment."""
