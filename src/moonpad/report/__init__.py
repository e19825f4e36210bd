"""What people read: pure functions from plain values to text."""
