"""What the devices and the host have room for."""
