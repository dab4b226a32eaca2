/** Machines that never answer again: with the driver, or with pods of a run that is to begin anew. */
import { appName, base, bothRun, type Scenario, type UserAction } from "./scenario.ts";

const executor = { pod: /-exec-\d+$/, nth: 1 } as const;

const silent = (which: { readonly pod: RegExp; readonly nth?: number }): UserAction => ({
  says: "a machine stands still for ever",
  when: bothRun,
  afterMs: 1_500,
  do: { type: "freeze", ...which },
});

const common = {
  spec: { ...base, restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 } },
  scripts: { [appName]: [{ hangs: true }, { jobMs: 2_000 }] },
  machines: ["node-1", "node-2", "node-3"],
  ends: "COMPLETED",
  breadth: "sparse",
} as const;

export const strands: readonly Scenario[] = [
  {
    ...common,
    name: "driver-machine-silent",
    what: "the driver's machine stands still for ever, and its user would not wait for that",
    annotations: { "rekindle.dev/driver-node-timeout": "60s" },
    userActions: [silent({ pod: /-driver$/ })],
  },
  {
    ...common,
    name: "retry-beside-silent-machine",
    what: "an executor's machine stands still for ever, and the driver dies: its executor keeps nobody from trying again",
    userActions: [
      silent(executor),
      { says: "the driver dies", when: bothRun, afterMs: 3_000, do: { type: "kill", pod: /-driver$/, code: 137 } },
    ],
  },
];
