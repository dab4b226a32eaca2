/** The setting that says who admits groups; apart from the search for a scheduler, which readers of settings do not load. */

/**
 * `auto` looks for signs of Volcano's scheduler; `scheduler` and `none` state that there is one, or none; with `builtin`
 * there is none, and a group is admitted only when its whole minimum fits the nodes.
 */
export const gangModes = ["auto", "scheduler", "none", "builtin"] as const;

export type GangMode = (typeof gangModes)[number];
