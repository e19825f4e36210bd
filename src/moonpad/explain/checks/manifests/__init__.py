"""Objects of Kubernetes, and the charts that they come from."""
