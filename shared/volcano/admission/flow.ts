/** Admission of a JobFlow: its jobs must be startable in some order; other problems are warnings. */
import type { Named } from "../../kube/admission.ts";
import { explain, telling } from "../../kube/explain.ts";
import { readFlowSpec } from "../flow/read.ts";
import { withoutNulls } from "../schema/absent.ts";
import { formsDag } from "../schema/dependencies.ts";
import { flowSpecSchema } from "../schema/flow.ts";

const notDag = "jobflow Flow is not DAG";

/** Returns why the flow is refused; empty if it may be stored. */
export const flowSaying = (spec: unknown): string => {
  const parsed = flowSpecSchema.safeParse(withoutNulls(spec ?? {}), telling);
  if (!parsed.success) return explain(parsed.error);
  const { flows = [] } = parsed.data;
  const names = new Set(flows.map(({ name }) => name));
  for (const { name, dependsOn } of flows) {
    for (const target of dependsOn?.targets ?? []) {
      if (target === name) return `${notDag}: flow '${name}' has self-dependency`;
      if (!names.has(target)) return `${notDag}: vertex is not defined: ${target}`;
    }
  }
  const tasks = flows.map(({ name, dependsOn }) => ({ name, dependsOn: { name: dependsOn?.targets ?? [] } }));
  return formsDag(tasks) ? "" : notDag;
};

/** Returns warnings about a spec that upstream stores and that reconcile reports later. */
export const flowWarnings = ({ name, namespace }: Named, spec: unknown): readonly string[] => {
  const metadata = { name, namespace, uid: "", resourceVersion: "" };
  const read = readFlowSpec({ apiVersion: "", kind: "JobFlow", metadata, spec });
  return read.ok ? [] : [`it will not run: ${read.message}`];
};
