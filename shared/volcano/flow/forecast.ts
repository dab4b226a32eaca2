/** A JobFlow that Volcano's controllers run: what changes with Rekindle. Pure. */
import type { KindForecast } from "../../kube/forecast.ts";
import { flowSpecSchema } from "../schema/workflows.ts";

export const jobFlowForecast: KindForecast<unknown> = {
  takenOver: ({ spec }) => {
    const { flows = [] } = flowSpecSchema.safeParse(spec ?? {}).data ?? {};
    const probed = flows.some(({ dependsOn }) => dependsOn?.probe !== undefined);
    const patched = flows.some(({ patch }) => patch !== undefined);
    return {
      refused: undefined,
      notes: [
        ...(probed ? ["Rekindle obeys its probes: a job may start while the jobs before it still run"] : []),
        ...(patched ? ["Rekindle merges its patches into jobs that it creates from now on"] : []),
      ],
    };
  },
};
