/** What scripted pods do: plain JSON, given by application name or in an annotation of the pod. */
import { isFields, parsed, textAt } from "./json.ts";
import type { Item } from "./metadata.ts";

/** How one pod lives. Times in ms; what is left out has a default. */
export type PodScript = {
  /** From being bound to Running. */
  readonly startMs?: number;
  /** From Running to the end of its process, by itself. Without it, it runs until it is told. */
  readonly runMs?: number;
  readonly exitCode?: number;
  /** Of the terminated container: OOMKilled. */
  readonly reason?: string;
  readonly pull?: "fails";
  /** From SIGTERM to the end of the process. */
  readonly stopMs?: number;
  /** What it exits with on SIGTERM; 143 if it does not say. A server that ends gracefully exits with 0. */
  readonly stopCode?: number;
  readonly log?: string;
  /** Of an executor: from its start on it works on a task for so long, and then on none, as its driver tells. */
  readonly busyMs?: number;
};

/** How one driver lives. With `runMs` its process dies that long after it came up, and cleans nothing. */
export type DriverScript = PodScript & {
  /** From Running to asking for executors. */
  readonly bootMs?: number;
  /** From the first running executor to the end of the job; the driver then exits with `exitCode`. */
  readonly jobMs?: number;
  /** From the first running executor to more tasks than it can have worked on, where executors are allocated dynamically. */
  readonly backlogMs?: number;
  /** The job never ends. */
  readonly hangs?: boolean;
  /** Per executor id; "*" is for those not named. */
  readonly executors?: Readonly<Record<string, PodScript>>;
};

/** One script per driver attempt; the last goes for all later ones. */
export type Scripts = Readonly<Record<string, readonly DriverScript[]>>;

export const scriptAnnotation = "simulator.rekindle.dev/script";

const isScript = (value: unknown): value is DriverScript => isFields(value);

const annotated = (pod: Item): readonly DriverScript[] => {
  const value = parsed(textAt(pod, "metadata", "annotations", scriptAnnotation) ?? "");
  const list = Array.isArray(value) ? value : [value];
  return list.filter(isScript);
};

/** The script of the n-th pod of a name, counted from 1. */
export const scriptFor = (scripts: Scripts, name: string, nth: number, pod: Item): DriverScript => {
  const own = annotated(pod);
  const list = own.length > 0 ? own : (scripts[name] ?? scripts["*"] ?? []);
  return list[nth - 1] ?? list.at(-1) ?? {};
};
