/**
 * The nodes that pods of a started group keep to, as an annotation of its PodGroup holds them: the nodes of the HyperNodes
 * in which its plan has its places. Pods that get no place of the plan, because they come later or again, must be within the
 * one nodes, and should be near to the others. Nodes are named by their label `kubernetes.io/hostname`.
 */
import * as z from "zod";
import { fieldsOf, jsonOf, recordsIn } from "../core/json.ts";
import type { Stored } from "../core/object.ts";
import { partitionKey } from "./gang-plan.ts";
import type { Json } from "./responses.ts";

export const topologyKey = "rekindle.dev/topology";

export const hostnameLabel = "kubernetes.io/hostname";

/** Lists of nodes; `within`, `near`: the indices of their lists, by "" for the whole group, or by a partition. */
export type GangTopology = {
  readonly lists: readonly (readonly string[])[];
  readonly within: Readonly<Record<string, number>>;
  readonly near: Readonly<Record<string, number>>;
};

/** The most characters of the annotation. */
export const mostTopologyText = 32_768;

const index = z.record(z.string(), z.number().int().min(0));

const form = z.object({ lists: z.array(z.array(z.string())), within: index, near: index });

/** Returns the nodes that the pods of a group keep to; undefined if there are none. */
export const topologyOf = (group: Stored): GangTopology | undefined => {
  const text = group.metadata.annotations?.[topologyKey] ?? "";
  return text === "" || text.length > mostTopologyText ? undefined : form.safeParse(jsonOf(text)).data;
};

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

const among = (values: readonly string[]): Json => ({ key: hostnameLabel, operator: "In", values });

const isEmptyTerm = ({ matchExpressions, matchFields }: Json): boolean =>
  recordsIn(matchExpressions).length + recordsIn(matchFields).length === 0;

/** Returns the spec of a pod that keeps to the nodes of its group and of its partition. */
export const keptTo = (
  spec: Json,
  { lists, within, near }: GangTopology,
  task: string,
  partition: string | undefined,
): Json => {
  const own = ["", ...(partition === undefined ? [] : [partitionKey(task, partition)])];
  const listsOf = (by: Readonly<Record<string, number>>): readonly Json[] =>
    own.flatMap((key) => {
      const list = Object.hasOwn(by, key) ? lists[by[key] ?? -1] : undefined;
      return list === undefined ? [] : [among(list)];
    });
  const [must, should] = [listsOf(within), listsOf(near)];
  if (must.length + should.length === 0) return spec;
  const affinity = fieldsOf(spec["affinity"]);
  const nodeAffinity = fieldsOf(affinity["nodeAffinity"]);
  const terms = recordsIn(fieldsOf(nodeAffinity[required])["nodeSelectorTerms"]).filter((term) => !isEmptyTerm(term));
  const nodeSelectorTerms = (terms.length === 0 ? [{}] : terms).map((term: Json) => ({
    ...term,
    matchExpressions: [...recordsIn(term["matchExpressions"]), ...must],
  }));
  const wishes = should.map((one) => ({ weight: 100, preference: { matchExpressions: [one] } }));
  return {
    ...spec,
    affinity: {
      ...affinity,
      nodeAffinity: {
        ...nodeAffinity,
        ...(must.length === 0 ? {} : { [required]: { nodeSelectorTerms } }),
        ...(should.length === 0 ? {} : { [preferred]: [...recordsIn(nodeAffinity[preferred]), ...wishes] }),
      },
    },
  };
};
