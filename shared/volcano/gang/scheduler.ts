/** Who lets groups of pods in: Volcano's scheduler while it keeps its lease, or we. */
import type { Resource } from "../../core/object.ts";
import type { Query, View } from "../../core/plan.ts";
import { queryId } from "../../core/plan.ts";
import { isRenewed } from "../../kube/upstreams.ts";

/** `auto` goes by the lease of Volcano's scheduler; `scheduler` and `none` say that there is one, or that there is none. */
export const gangModes = ["auto", "scheduler", "none"] as const;

export type GangMode = (typeof gangModes)[number];

const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };

/** The scheduler calls its lease by its own name; with several names it is the component's. In any namespace. */
const names = ["volcano", "vc-scheduler"] as const;

const queryOf = (name: string): Query => ({
  do: "list",
  resource: leases,
  namespace: "",
  labels: {},
  field: `metadata.name=${name}`,
});

/** What must be looked at to know. */
export const leasesFor = (mode: GangMode): readonly Query[] => (mode === "auto" ? names.map(queryOf) : []);

export type Found = { readonly admits: "scheduler" | "here"; readonly saying: string };

const letting =
  "groups of pods are let in here, by the state and the capability of their queues, and go to default-scheduler";

/** What was found, once everything has been looked at. */
export const found = (mode: GangMode, { seen, now }: Pick<View<unknown>, "seen" | "now">): Found => {
  if (mode === "scheduler")
    return { admits: "scheduler", saying: "groups of pods are left to Volcano's scheduler, as `gang: scheduler` says" };
  if (mode === "none")
    return { admits: "here", saying: `without Volcano's scheduler, as \`gang: none\` says, ${letting}` };
  const held = names.flatMap((name) => seen.get(queryId(queryOf(name))) ?? []).find((lease) => isRenewed(lease, now));
  if (held === undefined)
    return {
      admits: "here",
      saying: `no lease of Volcano's scheduler (${names.join(", ")}) is being renewed: ${letting}`,
    };
  const { namespace, name } = held.metadata;
  const saying = `Volcano's scheduler renews its lease ${namespace}/${name}: groups of pods are left to it`;
  return { admits: "scheduler", saying };
};
