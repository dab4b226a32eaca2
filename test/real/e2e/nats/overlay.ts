/** The parts of the overlay `nats` that KEDA and the CronJob controller would act on. */
import * as z from "zod";
import type { Overlaid } from "../../infra/overlays.ts";
import type { Rule } from "./scaler.ts";

const scaledObject = z.object({
  kind: z.literal("ScaledObject"),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    pollingInterval: z.number(),
    cooldownPeriod: z.number(),
    maxReplicaCount: z.number(),
    triggers: z.tuple([
      z.object({
        metadata: z.object({
          account: z.string(),
          stream: z.string(),
          consumer: z.string(),
          lagThreshold: z.coerce.number(),
          activationLagThreshold: z.coerce.number(),
        }),
      }),
    ]),
  }),
});

type Scaling = {
  readonly rule: Rule;
  readonly queue: { readonly account: string; readonly stream: string; readonly consumer: string };
};

/** Returns the scaling of a worker. */
export const scalingIn = (overlay: Overlaid, what: string): Scaling => {
  const found = overlay.map((one) => scaledObject.safeParse(one).data).find((one) => one?.metadata.name === what);
  if (found === undefined) throw new Error(`the overlay has no ScaledObject ${what}`);
  const { pollingInterval, cooldownPeriod, maxReplicaCount: most, triggers } = found.spec;
  const { lagThreshold: threshold, activationLagThreshold: activation, ...queue } = triggers[0].metadata;
  const [pollMs, cooldownMs] = [pollingInterval * 1_000, cooldownPeriod * 1_000];
  return { rule: { pollMs, cooldownMs, most, threshold, activation }, queue };
};

const cronJob = z.object({
  kind: z.literal("CronJob"),
  spec: z.object({
    jobTemplate: z.object({
      spec: z.object({
        template: z.object({
          spec: z.object({ containers: z.tuple([z.object({ command: z.array(z.string()) })]) }),
        }),
      }),
    }),
  }),
});

/** Returns the command of the scheduled resync. */
export const resyncCommandIn = (overlay: Overlaid): readonly string[] => {
  const found = overlay.map((one) => cronJob.safeParse(one).data).find((one) => one !== undefined);
  if (found === undefined) throw new Error("the overlay has no CronJob");
  return found.spec.jobTemplate.spec.template.spec.containers[0].command;
};
