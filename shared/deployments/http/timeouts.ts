/** Timeouts of the HTTP servers, ms: a client that sends slowly cannot hold a connection for long. */
export const httpTimeouts = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
} as const;
