/** The setting that says who admits groups; apart from the search for a scheduler, which readers of settings do not load. */

/** `auto` looks for signs of Volcano's scheduler; `scheduler` and `none` state that there is one, or none. */
export const gangModes = ["auto", "scheduler", "none"] as const;

export type GangMode = (typeof gangModes)[number];
