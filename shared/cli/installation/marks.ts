/** Labels on everything that an installation makes; how it is found again. */

export const ours = { "app.kubernetes.io/name": "rekindle", "app.kubernetes.io/managed-by": "rekindle" } as const;

/** Additionally on what Spark's drivers run with: it stays as long as there may be drivers. */
export const ofDrivers = { "app.kubernetes.io/component": "driver" } as const;
