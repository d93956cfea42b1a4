"""Records of what was injected into sessions."""
