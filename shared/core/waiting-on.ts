/** The reason why a key waits, as a value; `waitingText` is the one place that words it for people. */
import { counted } from "./text.ts";
import { timeText } from "./time.ts";

/** The states that a key waits for, each as people read it, with the text before and after the reason. */
const states = {
  accepted: ["to be accepted by the server", ": ", ""],
  acknowledged: ["to be acknowledged", ": ", ""],
  admitted: ["to be admitted", ": ", ""],
  admittedByScheduler: ["to be admitted by the scheduler", ": ", ""],
  answering: ["to answer", " (", ")"],
  complete: ["to be complete", ": ", ""],
  corrected: ["to be corrected", ": ", ""],
  created: ["to be created", ": ", ""],
  createdAgain: ["to be created again", ": ", ""],
  deleted: ["to be deleted", ": ", ""],
  deletedByUser: ["to be deleted by a user", ": ", ""],
  ended: ["to end", " (", ")"],
  existing: ["to exist", ": ", ""],
  finished: ["to finish", ": ", ""],
  listening: ["to accept executors", ": ", ""],
  replaceable: ["to be replaceable", ": ", ""],
  settled: ["to settle", ": ", ""],
  shown: ["to be shown", ": ", ""],
  started: ["to start", " (", ")"],
  there: ["to be there", ": ", ""],
} as const;

export type AwaitedState = keyof typeof states;

export type WaitingOn =
  /** A thing or several, as people name them, must come into a state; `why`: the reason why they are not in it. */
  | { readonly on: "state"; readonly of: string; readonly is: AwaitedState; readonly why?: string | undefined }
  /** Objects of an earlier run must end; `stranded`: those that no node will end. */
  | { readonly on: "leftovers"; readonly objects: number; readonly stranded?: string | undefined }
  /** Objects that are missing after a recovery, until an instant, epoch ms. */
  | { readonly on: "return"; readonly of: string; readonly until: number }
  /** The node of a driver, silent since an instant, epoch ms; `endedBy`: the annotation that would end the wait. */
  | { readonly on: "node"; readonly name?: string; readonly silentSince?: number; readonly endedBy?: string }
  /** A pod does not start; `besides`: what the key waits for apart from that. */
  | { readonly on: "podStart"; readonly pod: string; readonly why: string; readonly besides: WaitingOn }
  /** Too few pods of a task pass a probe. */
  | {
      readonly on: "pods";
      readonly there: number;
      readonly least: number;
      readonly task: string;
      readonly job: string;
      readonly that: string;
    }
  /** More executors than wanted, which end when they are idle. */
  | { readonly on: "surplus"; readonly executors: number }
  /** A quota or a queue grants fewer executors than are wanted; `why`: in its words. */
  | { readonly on: "grant"; readonly wanted: number; readonly granted: number; readonly why: string }
  /** The run has no executor ids left. */
  | { readonly on: "executorIds"; readonly short: number; readonly most: number }
  /** Executors are created more slowly, because so many have crashed in a row. */
  | { readonly on: "crashes"; readonly count: number }
  /** The next time of a schedule; `after`: another run must end first; `note`: why the last time started no run. */
  | { readonly on: "time"; readonly of: "run" | "time"; readonly after?: string; readonly note?: string }
  | { readonly on: "retry"; readonly after: string }
  /** The queues must have room for PodGroups. */
  | { readonly on: "room"; readonly groups: number }
  /** The user must set a field of the object's spec to this value. */
  | { readonly on: "field"; readonly path: string; readonly value: string }
  | { readonly on: "deletion" | "clients" | "resumption" }
  /** A trouble; `mistake`: the user must correct something. */
  | { readonly on: "trouble" | "mistake"; readonly message: string };

/** Returns the text of a wait for the platform, as it follows "waits for". */
export const platformText = ({ reason, message }: { readonly reason: string; readonly message: string }): string =>
  `the platform (${reason}): ${message}`;

/** The ends of texts about a wait in which nothing is in the way: of a start, of the work itself, of idleness. */
const usualEnds: readonly string[] = [states.started[0], states.finished[0], "to become idle"];
const usualTexts: readonly string[] = ["clients", "its next run", "its next time"];

/** The reasons of a start that goes its usual course. */
const usualReasons = / \((?:ContainerCreating|PodInitializing)\)$/;

/** True of the text of a wait that is the usual course: nothing is in the way, and the text gives no other reason. */
export const isUsual = (given: string): boolean => {
  const text = given.replace(usualReasons, "");
  return usualTexts.includes(text) || usualEnds.some((end) => text.endsWith(` ${end}`));
};

/** Returns a wait for a thing to come into a state. */
export const until = (of: string, is: AwaitedState, why?: string): WaitingOn => ({ on: "state", of, is, why });

const nodeText = ({ name, silentSince, endedBy }: Extract<WaitingOn, { on: "node" }>): string => {
  const node = name === undefined ? "the driver's node" : `the driver's node ${name}`;
  const since = silentSince === undefined ? "" : `: silent since ${timeText(silentSince)}`;
  return `${node} to answer again, or to be gone${since}${endedBy === undefined ? "" : `; ${endedBy} would end the wait`}`;
};

const stateText = ({ of, is, why }: Extract<WaitingOn, { on: "state" }>): string => {
  const [text, before, after] = states[is];
  return `${of} ${text}${why === undefined ? "" : `${before}${why}${after}`}`;
};

const timeTextOf = ({ of, after, note }: Extract<WaitingOn, { on: "time" }>): string =>
  `${after === undefined ? "" : `${after} to end (concurrencyPolicy Forbid), then for `}its next ${of}${note === undefined ? "" : `. ${note}`}`;

/** Returns the text that follows "waits for". */
export const waitingText = (waiting: WaitingOn): string => {
  switch (waiting.on) {
    case "state":
      return stateText(waiting);
    case "leftovers": {
      const among = waiting.stranded === undefined ? "" : `, ${waiting.stranded} among them`;
      return `${counted(waiting.objects, "object")} of the last run to end${among}`;
    }
    case "return":
      return `${waiting.of} to come back, until ${timeText(waiting.until)}`;
    case "node":
      return nodeText(waiting);
    case "podStart":
      return `${waitingText(waiting.besides)}; ${waiting.pod} does not start (${waiting.why})`;
    case "pods":
      return `${waiting.there} of ${waiting.least} pods of task ${waiting.task} of job ${waiting.job} ${waiting.that}`;
    case "surplus":
      return `the driver to finish, and ${counted(waiting.executors, "surplus executor")} to become idle`;
    case "grant":
      return `more executors to be granted: ${waiting.wanted} are wanted, ${waiting.granted} granted (${waiting.why})`;
    case "executorIds":
      return `${counted(waiting.short, "executor")} that cannot be created: spark.kubernetes.allocation.maximum allows one run ${waiting.most}`;
    case "crashes":
      return `its next executors: they are delayed because ${waiting.count} crashed one after the other`;
    case "time":
      return timeTextOf(waiting);
    case "retry":
      return `its next try after: ${waiting.after}`;
    case "room":
      return `room in their queues for ${counted(waiting.groups, "group")}`;
    case "field":
      return `${waiting.path} to become ${waiting.value}`;
    case "deletion":
      return "its deletion";
    case "clients":
      return "clients";
    case "resumption":
      return "its resumption";
    case "trouble":
    case "mistake":
      return waiting.message;
  }
};
