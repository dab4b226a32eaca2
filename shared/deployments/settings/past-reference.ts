/** The documentation of the settings for what is kept of runs that are over. */
import type { Reference } from "./absence.ts";

export const pastReference = {
  keepRuns: { form: "count", unit: "runs", text: "ended runs kept in an application's record" },
  keepRunsForMs: { form: "duration", text: "maximum age of those runs" },
  keepDriverLogsMs: {
    form: "duration",
    text: "time for which the last 64 KiB of a driver's log are kept once Rekindle deletes its pod, of the last 3 attempts of an application, until a user deletes it; needs `rekindle manifests --features kept-logs`; 0s: none are kept. Logs may hold secrets, and callers that may read Checkpoints of a namespace, or the table, can then read them",
  },
} as const satisfies Readonly<Record<string, Reference>>;
