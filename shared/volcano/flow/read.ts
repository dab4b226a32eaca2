/** Reads a JobFlow's spec as the API server stores it; otherwise returns one message about what to change. */
import { withoutNulls } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import { isLabelValue, type Stored } from "../../core/object.ts";
import type { Looking } from "../../core/plan.ts";
import { subdomainErrors } from "../../kube/names.ts";
import { explain, reportingInput } from "../../kube/schema.ts";
import { flowLimits } from "../schema/limits.ts";
import { jobs, keys } from "../schema/resource.ts";
import { unstartable } from "../schema/spec.ts";
import { type Flow, flowSpecSchema } from "../schema/workflows.ts";

export type Desired = { readonly flows: readonly Flow[]; readonly deletes: boolean };

export type Read = { readonly ok: true; readonly desired: Desired } | { readonly ok: false; readonly message: string };

export const jobName = (flow: string, template: string): string => `${flow}-${template}`;

/** Returns the text by which labels and annotations of a job name its flow and its template. */
export const makerText = (namespace: string, name: string): string => `${namespace}.${name}`;

/** Lists the jobs with this flow's label; the owner references tell which of them belong to it. */
export const jobsOf = ({ namespace, name }: Key): Looking => ({
  do: "list",
  resource: jobs,
  namespace,
  labels: { [keys.byFlow]: makerText(namespace, name) },
});

export const targetsOf = ({ dependsOn }: Flow): readonly string[] => dependsOn?.targets ?? [];

const listed = (names: Iterable<string>): string => [...names].map((name) => JSON.stringify(name)).join(", ");

const duplicates = (flows: readonly Flow[]): ReadonlySet<string> =>
  new Set(flows.map(({ name }) => name).filter((name, at, all) => all.indexOf(name) !== at));

const dependencySaying = (flows: readonly Flow[]): string | undefined => {
  const twice = duplicates(flows);
  if (twice.size > 0) return `spec.flows: ${listed(twice)} is listed more than once; each template makes one job`;
  const names = new Set(flows.map(({ name }) => name));
  const unknown = flows.flatMap((flow) => targetsOf(flow).filter((name) => !names.has(name)));
  if (unknown.length > 0)
    return `spec.flows: dependsOn.targets names ${listed(new Set(unknown))}, but this JobFlow has no such flow`;
  const never = unstartable(new Map(flows.map((flow) => [flow.name, targetsOf(flow)])));
  return never.length === 0 ? undefined : `spec.flows: ${listed(never)} depend on each other in a circle`;
};

/** Checks names: a label of each job names its flow, and each job's name contains the flow's. */
const nameSaying = ({ metadata: { name, namespace = "" } }: Stored, flows: readonly Flow[]): string | undefined => {
  const makers = [makerText(namespace, name), ...flows.map((flow) => makerText(namespace, flow.name))];
  const label = makers.find((text) => !isLabelValue(text));
  if (label !== undefined)
    return `${JSON.stringify(label)} cannot stand in a label of a job (at most 63 characters): shorten the name of the JobFlow or of the JobTemplate`;
  const bad = flows.map((flow) => jobName(name, flow.name)).find((job) => subdomainErrors(job).length > 0);
  return bad === undefined
    ? undefined
    : `no job can be named ${JSON.stringify(bad)}: ${subdomainErrors(bad).join("; ")}`;
};

export const readFlowSpec = (object: Stored): Read => {
  const beyond = flowLimits(object.spec);
  if (beyond !== "") return { ok: false, message: beyond };
  const parsed = flowSpecSchema.safeParse(withoutNulls(object.spec ?? {}), reportingInput);
  if (!parsed.success) return { ok: false, message: explain(parsed.error) };
  const { flows = [], jobRetainPolicy } = parsed.data;
  const message = dependencySaying(flows) ?? nameSaying(object, flows);
  if (message !== undefined) return { ok: false, message };
  return { ok: true, desired: { flows, deletes: jobRetainPolicy === "delete" } };
};
