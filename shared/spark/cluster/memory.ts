/**
 * The memory of a SparkCluster: its states in the form of its status, and how often in a row the API server has refused an
 * object of it; and its recovery. The status is upstream's, with two differences: a state is not entered again and again,
 * and the message of the present state says what of the cluster is ready. Pure.
 */
import * as z from "zod";
import type { Key } from "../../core/key.ts";
import { readerOf, salvage } from "../../core/operator.ts";
import type { OwnedObjects, Recovery } from "../../core/plan.ts";
import { instant } from "../../kube/schema.ts";
import { historyOf, messageOf, recordedState, type Shown, stateOf, statesShown } from "../apache/status/history.ts";
import { clusterLabel, parts } from "./parts.ts";

/** The states of a cluster. Rekindle never shows Failed, because it retries, and ResourceReleased after a cleanup alone. */
export const clusterStates = [
  "Submitted",
  "SchedulingFailure",
  "RunningHealthy",
  "Failed",
  "ResourceReleased",
] as const;

export type ClusterState = (typeof clusterStates)[number];

export const isClusterState = (text: unknown): text is ClusterState =>
  typeof text === "string" && clusterStates.some((one) => one === text);

export type Entry = Shown<ClusterState>;

export type States = readonly [Entry, ...Entry[]];

export const submitted = (now: number): States => [
  {
    number: 0,
    summary: "Submitted",
    at: new Date(now).toISOString(),
    message: "Spark cluster has been submitted to Kubernetes Cluster.",
  },
];

export const newestOf = (states: States): Entry => states.at(-1) ?? states[0];

/** True after a cleanup: nothing begins again. */
export const hasEnded = (states: States | undefined): boolean =>
  states !== undefined && newestOf(states).summary === "ResourceReleased";

/** The most states that are kept: the newest, and the first. */
const mostStates = 50;

/** The states with this one as the present: a state that lasts changes its message alone. */
export const entered = (states: States, summary: ClusterState, said: string, now: number): States => {
  const message = messageOf(said);
  const [first, ...others] = states;
  const newest = newestOf(states);
  if (newest.summary === summary) {
    const present = { ...newest, message };
    return others.length === 0 ? [present] : [first, ...others.slice(0, -1), present];
  }
  const next = { number: newest.number + 1, summary, at: new Date(now).toISOString(), message };
  return [first, ...others.slice(-(mostStates - 2)), next];
};

/** The whole `status`. */
export const statusOf = (states: States) => ({
  currentState: stateOf(newestOf(states)),
  stateTransitionHistory: historyOf(states),
  currentAttemptSummary: { attemptInfo: { id: 0, restartCounter: 0 } },
});

/** The states that a status shows, whoever wrote it; undefined where it shows none. */
export const statesIn = (status: unknown): States | undefined => statesShown(status, isClusterState);

const shownState = recordedState(isClusterState);

const count = z.int().nonnegative();

const memory = z.object({
  /** The whole status: a status that others wrote changes no decision. */
  status: z
    .object({
      currentState: shownState,
      stateTransitionHistory: z.record(z.string(), shownState),
      currentAttemptSummary: z.object({ attemptInfo: z.object({ id: count, restartCounter: count }) }),
    })
    .refine((given) => statesIn(given) !== undefined, "it shows no state"),
  /** Refusals of the API server in a row, of one generation of the spec, and when the object is sent again, epoch ms. */
  refused: z.object({ times: z.int().positive(), generation: z.int(), retryAt: instant }).optional(),
});

export type Memory = z.infer<typeof memory>;

export const parseMemory = readerOf("SparkCluster", memory);

export const remembered = (states: States, refused?: Memory["refused"]): Memory => ({
  status: statusOf(states),
  ...(refused === undefined ? {} : { refused }),
});

const ownedObjects = ({ namespace, name }: Key, uid: string): OwnedObjects => ({
  queries: parts.map((resource) => ({ do: "list", resource, namespace, labels: { [clusterLabel]: name } })),
  owners: [uid],
});

/** A record that cannot be read is rebuilt from the status, which shows all states. */
export const recovery: Recovery<Memory> = {
  ownedObjects,
  isLive: ({ status }) => !hasEnded(statesIn(status)),
  rebuild: ({ object, stored, now }) => {
    const { kept, problems } = salvage(memory, memory.partial(), stored);
    const states = statesIn(kept.status ?? object.status) ?? submitted(now);
    return { memory: remembered(states, kept.refused), kept: Object.keys(kept), problems };
  },
  voided: ({ status }) => ({ status }),
  ended: (kept, now, message) =>
    remembered(entered(statesIn(kept.status) ?? submitted(now), "ResourceReleased", message, now)),
};
