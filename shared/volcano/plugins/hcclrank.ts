/** `hcclrank`: the pod's rank as an annotation, from its RANK variable or its place among masters and workers. */
import { isRecord } from "../../kube/responses.ts";
import type { Draft } from "../pods/draft.ts";
import { replicasOf } from "../schema/spec.ts";
import { containersIn } from "../schema/template.ts";
import { flagsOf } from "./flags.ts";
import { indexOf, type Plugin, type Scope, taskNamed, taskOf } from "./plugin.ts";

const flags = { master: "master", worker: "worker" } as const;

const annotation = "hccl/rankIndex";

const rankVariable = ({ spec }: Draft): string => {
  const variables = containersIn(spec).flatMap(({ env }) => (Array.isArray(env) ? env.filter(isRecord) : []));
  const value = variables.find(({ name }) => name === "RANK")?.["value"];
  return typeof value === "string" ? value : "";
};

const placeOf = (draft: Draft, scope: Scope, args: readonly string[]): string => {
  const { master, worker } = flagsOf(args, flags);
  const task = taskOf(draft);
  const index = Number(indexOf(draft));
  if (task === master) return `${index}`;
  if (task !== worker) return "";
  const masters = taskNamed(scope, master);
  return `${(masters === undefined ? 0 : replicasOf(masters)) + index}`;
};

export const hcclrank: Plugin = {
  flags,
  noted: false,
  onPod: (draft, scope, args) => {
    const { annotations = {} } = draft.metadata;
    if ((annotations[annotation] ?? "") !== "") return draft;
    const rank = rankVariable(draft) || placeOf(draft, scope, args);
    if (rank === "") return draft;
    return { ...draft, metadata: { ...draft.metadata, annotations: { ...annotations, [annotation]: rank } } };
  },
};
