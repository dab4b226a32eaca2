/** The Job that a flow creates from a template, with upstream's name, labels, annotations and owner. */
import { fieldsOf } from "../../core/json.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { inheritedListener } from "../../core/sink.ts";
import type { Flow } from "../schema/flow.ts";
import { jobFlows, jobs, keys } from "../schema/resource.ts";
import { patched } from "./patch.ts";
import { jobName, makerText } from "./read.ts";

const jobOf = ({ metadata }: Stored, flow: Flow, template: Stored): Obj => {
  const { name, namespace = "", uid, annotations } = metadata;
  const makers = { [keys.byTemplate]: makerText(namespace, flow.name), [keys.byFlow]: makerText(namespace, name) };
  const owner = { apiVersion: apiVersionOf(jobFlows), kind: jobFlows.kind, name, uid };
  return {
    apiVersion: apiVersionOf(jobs),
    kind: jobs.kind,
    metadata: {
      name: jobName(name, flow.name),
      namespace,
      labels: makers,
      annotations: { ...makers, ...inheritedListener(annotations) },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: patched(fieldsOf(template["spec"]), flow.patch?.jobSpec),
  };
};

/** Creates the job of a flow; if it exists already, it is this very one. */
export const creation = (object: Stored, flow: Flow, template: Stored): Effect => ({
  do: "create",
  object: jobOf(object, flow, template),
  resource: jobs,
  owner: object.metadata.uid,
});
