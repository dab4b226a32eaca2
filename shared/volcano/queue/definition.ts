/** The CRD of the kind Queue. */
import * as z from "zod";
import type { KindDefinition } from "../../kube/kind-definition.ts";

/** Kept whole: the kind belongs to the scheduler, which writes fields of its own. */
const open = z.looseObject({});

export const queueDefinition: KindDefinition = {
  columns: [{ name: "PARENT", type: "string", jsonPath: ".spec.parent" }],
  spec: open,
  status: open,
  limits: {},
};
