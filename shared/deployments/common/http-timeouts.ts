/** How long the HTTP servers wait for a slow sender, ms: whoever sends a letter a second holds a connection, and not for long. */
export const patience = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
} as const;
