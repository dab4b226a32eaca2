/** A JobFlow at the API server's door: its jobs must be startable in some order. The same rules hold in reconcile. */
import * as z from "zod";
import { explain } from "../../kube/explain.ts";
import { withoutNulls } from "../schema/absent.ts";
import { formsDag } from "../schema/dependencies.ts";

const shape = z.looseObject({
  flows: z
    .array(
      z.looseObject({
        name: z.string(),
        dependsOn: z.looseObject({ targets: z.array(z.string()).optional() }).optional(),
      }),
    )
    .optional(),
});

const notDag = "jobflow flow is not dag";

/** Why the flow is refused; empty when it may be stored. */
export const flowSaying = (spec: unknown): string => {
  const parsed = shape.safeParse(withoutNulls(spec ?? {}));
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
