"""A small server of ours with the process shape of the real engine: API server → engine core → workers that leave the
process group and session, double-fork and rename themselves. Every fault is a switch of the environment.

vllm.py is what is run; switches.py lists the faults; api.py, wire.py and answers.py are the API server; core.py is the
scheduler, workers.py what it starts; loop.py, titles.py and say.py are what they share. docker.py is no part of it.
"""
