"""How accurate the answers of an endpoint are, with the uncertainty of that number."""
