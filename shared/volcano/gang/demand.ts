/** The pods that a group needs: those of its Job, with their specs; and what of them a plan does not cover. */
import { fieldsOf } from "../../core/json.ts";
import type { OwnerReference, Stored } from "../../core/object.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { counts, inOrder, type Priorities, ranked } from "../podgroup/group.ts";
import { jobs } from "../schema/resource.ts";
import { type JobSpec, nameOf, replicasOf, tasksOf } from "../schema/spec.ts";
import { containersIn } from "../schema/template.ts";
import { specIn } from "../validation/parse.ts";
import { type Part, partOf, type Work } from "./fit.ts";

/** `unplanned`: the group has no Job that says what its pods are. `refused`: `why` says what no plan covers. */
export type Demand =
  | { readonly is: "planned"; readonly parts: readonly Part[] }
  | { readonly is: "unplanned" }
  | { readonly is: "refused"; readonly why: string };

const required = "requiredDuringSchedulingIgnoredDuringExecution";

const recordsIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);

const hasItems = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const hasHostPort = (spec: Json): boolean =>
  spec["hostNetwork"] === true ||
  ["containers", "initContainers"].some((list) =>
    containersIn(spec, list).some((container) =>
      recordsIn(container["ports"]).some(({ hostPort }) => typeof hostPort === "number" && hostPort > 0),
    ),
  );

/** Returns the constraint of a pod's spec that no plan covers. */
const beyondPlan = (spec: Json): string | undefined => {
  const affinity = fieldsOf(spec["affinity"]);
  if (hasHostPort(spec)) return "a host port or the host's network";
  if (hasItems(fieldsOf(affinity["podAffinity"])[required])) return "required pod affinity";
  if (hasItems(fieldsOf(affinity["podAntiAffinity"])[required])) return "required pod anti-affinity";
  const spreads = recordsIn(spec["topologySpreadConstraints"]);
  if (spreads.some(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule"))
    return "a topology spread constraint with DoNotSchedule";
  return hasItems(spec["resourceClaims"]) ? "resource claims" : undefined;
};

const isHard = (topology: JobSpec["networkTopology"]): boolean => topology?.mode === "hard";

const refusalOf = (spec: JobSpec): string | undefined => {
  if (isHard(spec.networkTopology)) return "the job has a hard networkTopology";
  for (const task of tasksOf(spec)) {
    const beyond = beyondPlan(task.template?.spec ?? {});
    if (beyond !== undefined) return `task ${nameOf(task)} has ${beyond}`;
    if (isHard(task.partitionPolicy?.networkTopology)) return `task ${nameOf(task)} has a hard networkTopology`;
  }
  return undefined;
};

/** Returns the reference of a group to its Job; undefined if it has none. */
export const jobOwnerOf = ({ metadata }: Stored): OwnerReference | undefined =>
  metadata.ownerReferences?.find(
    ({ kind, apiVersion }) => kind === jobs.kind && apiVersion.startsWith(`${jobs.group}/`),
  );

const tooMuch =
  "its Job, or the Jobs of its namespace that wait before it, hold too much text for one round: wait, or make them smaller";

const partsOf = (spec: JobSpec, priorities: Priorities, work: Work): readonly Part[] => {
  const tasks = inOrder(ranked(spec, priorities));
  const least = counts(tasks, spec.minAvailable ?? 0);
  return tasks.map(({ task }, at) =>
    partOf(nameOf(task), task.template?.spec ?? {}, least[at] ?? 0, replicasOf(task), work),
  );
};

/** The Jobs of a round by UID, the priorities of classes, and the account of the round's work. */
export type Jobs = {
  readonly byUid: ReadonlyMap<string, Stored>;
  readonly priorities: Priorities;
  readonly work: Work;
};

/** Characters of a Job that take as long to read as a look at a node. */
const charactersPerLook = 8;

/** Returns what a group needs. */
export const demandOf = (group: Stored, { byUid, priorities, work }: Jobs): Demand => {
  const owner = jobOwnerOf(group);
  if (owner === undefined) return { is: "unplanned" };
  const job = byUid.get(owner.uid);
  if (job === undefined) return { is: "refused", why: "its Job is not found" };
  if (job["spec"] === undefined) return { is: "refused", why: tooMuch };
  work.looks += JSON.stringify(job["spec"]).length / charactersPerLook;
  const read = specIn(job);
  if (!read.ok) return { is: "refused", why: `its Job is refused: ${read.message}` };
  const refused = refusalOf(read.spec);
  if (refused === undefined) return { is: "planned", parts: partsOf(read.spec, priorities, work) };
  return { is: "refused", why: `${refused}, which \`gang: builtin\` cannot plan: remove it, or set gang to none` };
};
