/** Labels on all objects of an installation, by which commands find them. */

export const ours = { "app.kubernetes.io/name": "rekindle", "app.kubernetes.io/managed-by": "rekindle" } as const;

/** Additional label of the accounts and roles of Spark's drivers: they stay while there may be drivers. */
export const ofDrivers = { "app.kubernetes.io/component": "driver" } as const;
