/** The ResourceQuotas of a namespace, against the usage of pods that do not exist yet. */
import * as z from "zod";
import { amountOf } from "../../kube/quantity.ts";

/** Amounts by the resource names of quotas: cores, bytes. */
export type Requests = Readonly<Record<string, number>>;

const amounts = z.record(z.string(), z.union([z.string(), z.number().transform(String)])).optional();

const quota = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  spec: z.looseObject({
    hard: amounts,
    scopes: z.array(z.string()).optional(),
    scopeSelector: z.looseObject({}).optional(),
  }),
  status: z.looseObject({ hard: amounts, used: amounts }).optional(),
});

/** The tolerance for rounding errors. */
const rounding = 1e-6;

const excessOf = (requests: Requests, { spec, status }: z.infer<typeof quota>): readonly string[] =>
  Object.entries(requests).flatMap(([name, requested]) => {
    if (status?.hard?.[name] === undefined) return [];
    const used = amountOf(status.used?.[name] ?? "0") ?? 0;
    const hard = amountOf(spec.hard?.[name] ?? "0") ?? 0;
    return used + requested > hard + rounding
      ? [`${name}: ${requested} more than the ${used} in use exceed ${hard}`]
      : [];
  });

/** One message for each exceeded quota, in upstream's words first; quotas with scopes are ignored. */
export const exceeded = (requests: Requests, quotas: readonly unknown[]): readonly string[] =>
  quotas.flatMap((given) => {
    const parsed = quota.safeParse(given);
    if (!parsed.success) return [];
    const { metadata, spec } = parsed.data;
    if (spec.scopeSelector !== undefined || (spec.scopes ?? []).length > 0) return [];
    const excess = excessOf(requests, parsed.data);
    const name = `"${metadata.namespace ?? "default"}/${metadata.name}"`;
    return excess.length === 0 ? [] : [`failed to validate resource quota ${name}: ${excess.join("; ")}`];
  });
