"""ezra over the network: REST and MCP. The surfaces hold no logic: handles do what they say."""
