"""What there is: a fact is a command (or a file of the kernel), a pure parser and a deadline; failure is `Unknown`."""
