/** The applications of this lane: small ones that complete, one that fails, one that is deleted while it runs. */

import { sparkPi } from "../../../support/pi.ts";

export type Wanted = {
  readonly name: string;
  readonly slices: string;
  readonly executors: number;
  readonly restartPolicy: object;
};

const never = { type: "Never" };

export const completing: readonly Wanted[] = ["ant", "bee", "cat", "dog"].map((name, index) => ({
  name: `pi-${name}`,
  slices: String(20 + 20 * index),
  executors: 1 + (index % 2),
  restartPolicy: never,
}));

/** Its number of slices is not a number, so every attempt fails at once. */
export const failing: Wanted = {
  name: "pi-fails",
  slices: "not-a-number",
  executors: 1,
  restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 1 },
};

/** Created while another controller is at work. */
export const beside: Wanted = { name: "pi-beside", slices: "2", executors: 1, restartPolicy: never };

export const deleted: Wanted = { name: "pi-deleted", slices: "20000", executors: 1, restartPolicy: never };

export const manifestOf = ({ name, slices, executors, restartPolicy }: Wanted): object =>
  sparkPi(name, {
    arguments: [slices],
    restartPolicy,
    executor: { instances: executors, cores: 1, memory: "512m" },
  });
