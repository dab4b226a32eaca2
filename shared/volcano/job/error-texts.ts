/** Upstream's event reasons and messages for errors of the API server, by operation and kind. */
import { type Doing, type Effect, kindOf, type Refusal, type Trouble } from "../../core/plan.ts";
import { claims, pods } from "../../kube/resources.ts";
import { jobs, podGroups } from "../schema/resource.ts";
import type { Word } from "./context.ts";

/** The most characters of an event's message: a little less than the API server accepts. */
export const longestMessage = 1_000;

type Wording = { readonly reason: string; readonly lead: string };

const ofClaims: Wording = { reason: "PVCError", lead: "Failed to create PVC, err" };

const wordings: Readonly<Record<string, Wording>> = {
  [pods.kind]: { reason: "FailedCreate", lead: "Error creating pods" },
  [podGroups.kind]: { reason: "PodGroupError", lead: "Failed to create PodGroup, err" },
  [claims.kind]: ofClaims,
  [jobs.kind]: { reason: "JobUpdateError", lead: "Failed to update job, err" },
};

const deletions: typeof wordings = {
  [pods.kind]: { reason: "FailedDelete", lead: "Error deleting pods" },
};

const ofStatus: Wording = { reason: "JobStatusError", lead: "Failed to update job status, err" };

const ofPlugins: Wording = { reason: "PluginError", lead: "Execute plugin when job add failed, err" };

const wordingOf = ({ do: what, kind }: Doing): Wording | undefined => {
  if (what === "status") return ofStatus;
  if (what === "delete") return deletions[kind];
  return what === "record" ? undefined : (wordings[kind] ?? ofPlugins);
};

const said = ({ reason, lead }: Wording, message: string): Word => ({
  reason,
  message: `${lead}: ${message}`.slice(0, longestMessage),
});

/** True for a patch of the job that names its claims; upstream reports it as their creation. */
const namesClaims = (effect: Effect): boolean =>
  effect.do === "patch" && effect.ref.resource === jobs && Object.hasOwn(effect.patch, "spec");

/** Returns reason and message of a refusal, by the object that was refused. */
export const refusalWord = ([first]: readonly Refusal[]): Word => {
  if (first !== undefined && namesClaims(first.effect)) return said(ofClaims, first.message);
  const wording = first === undefined ? undefined : wordings[kindOf(first.effect)];
  return said(wording ?? ofPlugins, first?.message ?? "");
};

/** Returns reason and message of lasting trouble, by the failed operation; undefined: the server's message is used. */
export const troubleWord = ({ doing, message }: Trouble): Word | undefined => {
  const wording = doing === undefined ? undefined : wordingOf(doing);
  return wording === undefined ? undefined : said(wording, message);
};
