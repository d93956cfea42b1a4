"""Install, uninstall and doctor."""
