"""Several machines, their ranks, and what starts them."""
