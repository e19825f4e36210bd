"""Whether an engine computes what a trusted one computes: log-probabilities of fixed texts, compared."""
