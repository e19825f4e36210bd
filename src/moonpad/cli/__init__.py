"""One file a verb: parse, call, print."""

import gc

# Before the first import: modules and tables of the catalogue make many values and no rubbish.
gc.set_threshold(50_000)
