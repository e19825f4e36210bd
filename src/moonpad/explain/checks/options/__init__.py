"""Words of a command line and of files of options, as their own reader takes them."""
