/** Describes changes in the API to a person. Pure: the reader's observations are the only input. */
import * as z from "zod";
import { checkpointResource } from "../../adapters/checkpoints/kubernetes.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import { counted } from "../../core/text.ts";
import type { Change } from "../../forward/keys.ts";
import { kindOf } from "../../inspection/kinds/all.ts";
import type { Kind } from "../../inspection/kinds/kind.ts";
import type { ObjectState } from "../../kube/object-state.ts";
import { labelOf } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import {
  type ApplicationView,
  applicationNamed,
  applications,
  applicationView,
  events,
  namesIn,
  type ObservedCluster,
  otherKinds,
  type PodView,
  podsOf,
  podView,
  recordView,
} from "./observed-cluster.ts";

export type Lane = "demo" | "application" | "checkpoint" | "driver" | "executor" | "pod" | "event" | "function";
export type Tone = "plain" | "good" | "bad" | "faint";

/**
 * One line of the timeline. Those of `demo` and `function` come from the demo itself; all others were read from the
 * API.
 */
export type NarrationLine = { readonly lane: Lane; readonly tone: Tone; readonly text: string };

const states: Readonly<Record<string, { readonly tone: Tone; readonly means: string }>> = {
  SUBMITTED: { tone: "plain", means: "its driver pod is created" },
  RUNNING: { tone: "plain", means: "its driver runs" },
  SUCCEEDING: { tone: "plain", means: "its driver exited with 0" },
  COMPLETED: { tone: "good", means: "" },
  FAILING: { tone: "bad", means: "its driver failed" },
  FAILED: { tone: "bad", means: "no further attempt" },
  SUBMISSION_FAILED: { tone: "bad", means: "its driver pod could not be created" },
  PENDING_RERUN: { tone: "plain", means: "another attempt follows" },
  INVALIDATING: { tone: "plain", means: "its spec changed" },
};

const stateSaid = ({ state, error }: ApplicationView, name: string): NarrationLine => {
  const { tone, means } = states[state] ?? { tone: "plain", means: "" };
  const text = [means, error].filter((part) => part !== "").join(": ");
  return { lane: "application", tone, text: `${name} is ${state}${text === "" ? "" : ` (${text})`}` };
};

const applicationSaid = ({ before, after }: Change): readonly NarrationLine[] => {
  const { name } = (after ?? before)?.metadata ?? { name: "" };
  if (after === undefined) return [{ lane: "application", tone: "plain", text: `${name} is deleted` }];
  const now = applicationView(after);
  const text = `${name} is created and requests ${counted(now.wants, "executor")}`;
  const arrival: readonly NarrationLine[] = before === undefined ? [{ lane: "application", tone: "plain", text }] : [];
  const changed = now.state !== (before === undefined ? "" : applicationView(before).state);
  return [...arrival, ...(changed ? [stateSaid(now, name)] : [])];
};

/** Returns the name of the application as a suffix, where there are several. */
const ofWhom = (observed: ObservedCluster, app: string): string => (namesIn(observed).length > 1 ? ` of ${app}` : "");

const checkpointSaid = ({ before, after }: Change, observed: ObservedCluster): readonly NarrationLine[] => {
  const now = after === undefined ? undefined : recordView(after);
  if (now === undefined) return [];
  const was = before === undefined ? undefined : recordView(before);
  const whose = ofWhom(observed, now.app);
  if (now.attempt !== was?.attempt) {
    const text = `the record of attempt ${now.attempt}${whose} is saved before its driver is created`;
    return [{ lane: "checkpoint", tone: "plain", text }];
  }
  if (now.phase === was.phase) return [];
  return [{ lane: "checkpoint", tone: "faint", text: `${now.phase}${whose} is saved in the record` }];
};

/**
 * Returns the id of the lost executor that a new one replaces; undefined for one of the first, which were requested.
 */
const replacedBy = (observed: ObservedCluster, pod: Stored, { id, app }: PodView): number | undefined => {
  const application = applicationNamed(observed, app);
  const wants = application === undefined ? Number.POSITIVE_INFINITY : applicationView(application).wants;
  const lost = podsOf(observed, labelOf(pod, "rekindle.dev/app-uid") ?? "")
    .filter((other) => other.owner === podView(pod).owner && other.id < id && (other.exit ?? 0) !== 0)
    .map((other) => other.id)
    .sort((a, b) => a - b);
  return lost[id - wants - 1];
};

const causes: Readonly<Record<number, string>> = { 137: "SIGKILL", 143: "SIGTERM" };

const exitSaid = (who: string, lane: Lane, code: number): NarrationLine => {
  const cause = causes[code] === undefined ? "" : ` (${causes[code]})`;
  const text = code === 0 ? `${who} exited with 0` : `${who} failed: exit code ${code}${cause}`;
  return { lane, tone: code === 0 ? (lane === "driver" ? "good" : "faint") : "bad", text };
};

const bornSaid = (observed: ObservedCluster, pod: Stored, view: PodView): NarrationLine => {
  if (view.role === "driver")
    return { lane: "driver", tone: "plain", text: `pod ${view.name} is created for attempt ${view.attempt}` };
  if (view.role === "other") return { lane: "pod", tone: "faint", text: `${view.name} is created` };
  const lost = replacedBy(observed, pod, view);
  const by = view.owner === undefined ? "" : ` by ${view.owner}`;
  const text = `executor ${view.id} is created${by}${lost === undefined ? "" : `, in place of executor ${lost}`}`;
  return { lane: "executor", tone: lost === undefined ? "faint" : "good", text };
};

const podSaid = ({ before, after }: Change, observed: ObservedCluster): readonly NarrationLine[] => {
  const pod = after ?? before;
  if (pod === undefined) return [];
  const now = podView(pod);
  const lane = now.role === "other" ? "pod" : now.role;
  const who = lane === "executor" ? `executor ${now.id}${ofWhom(observed, now.app)}` : now.name;
  if (after === undefined) return [{ lane, tone: "faint", text: `${who} is deleted` }];
  if (before === undefined) return [bornSaid(observed, pod, now)];
  const was = podView(before);
  if (now.exit !== undefined && was.exit === undefined) return [exitSaid(who, lane, now.exit)];
  if (now.phase === "Running" && was.phase !== "Running")
    return [{ lane, tone: "good", text: `${who} runs on ${now.node}` }];
  if (now.waits !== was.waits && now.waits !== "") return [{ lane, tone: "plain", text: `${who} waits: ${now.waits}` }];
  return [];
};

/** Describes the state of an object of another kind, with its wait or its final message. */
const stateSentence = (name: string, { state, ended, message, what }: ObjectState): NarrationLine => {
  const more = ended === undefined ? `waits for ${what.waitsFor}` : (message ?? "");
  const tone = ended === undefined ? "plain" : ended === "well" ? "good" : "bad";
  return { lane: "application", tone, text: `${name} is ${state}${more === "" ? "" : ` (${more})`}` };
};

/** Describes an object of another kind: its creation, each of its states, and its deletion. */
const otherSaid =
  ({ resource, stateOf: standingOf }: Kind) =>
  ({ before, after }: Change): readonly NarrationLine[] => {
    const said = (name: string, text: string): NarrationLine => ({
      lane: "application",
      tone: "plain",
      text: `${resource.kind} ${name} ${text}`,
    });
    if (after === undefined) return [said(before.metadata.name, "is deleted")];
    const now = standingOf(after);
    const was = before === undefined ? "NEW" : standingOf(before).state;
    const { name } = after.metadata;
    return [
      ...(before === undefined ? [said(name, "is created")] : []),
      ...(now.state === was ? [] : [stateSentence(`${resource.kind} ${name}`, now)]),
    ];
  };

/**
 * Events about objects that Rekindle runs. Those about pods are left out, because they repeat the pods' own changes.
 */
const event = z.looseObject({
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  involvedObject: z
    .looseObject({ apiVersion: z.string(), kind: z.string() })
    .refine((object) => kindOf(object) !== undefined, "an object of a kind that people are shown"),
});

const eventSaid = ({ before, after }: Change): readonly NarrationLine[] => {
  const read = event.safeParse(after);
  if (!read.success || before !== undefined) return [];
  const { type, reason, message } = read.data;
  return [{ lane: "event", tone: type === "Warning" ? "bad" : "faint", text: `${reason}: ${message}` }];
};

const typeOf = ({ apiVersion, kind }: Pick<Obj, "apiVersion" | "kind">): string => `${apiVersion}/${kind}`;

type Teller = (change: Change, observed: ObservedCluster) => readonly NarrationLine[];

const tellers: ReadonlyMap<string, Teller> = new Map(
  [
    { resource: applications, tells: applicationSaid },
    { resource: checkpointResource, tells: checkpointSaid },
    { resource: pods, tells: podSaid },
    { resource: events, tells: eventSaid },
    ...otherKinds.map((kind) => ({ resource: kind.resource, tells: otherSaid(kind) })),
  ].map(({ resource, tells }): [string, Teller] => [
    typeOf({ apiVersion: apiVersionOf(resource), kind: resource.kind }),
    tells,
  ]),
);

/** Returns the lines about one change; often none. */
export const narrate = (change: Change, observed: ObservedCluster): readonly NarrationLine[] =>
  tellers.get(typeOf(change.after ?? change.before))?.(change, observed) ?? [];
