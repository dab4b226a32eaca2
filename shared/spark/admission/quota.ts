/** Admission by quota: a SparkApplication that does not fit, with its resource requests as upstream's webhook counts them, is
 * refused before its pods are. Pure. */

import * as z from "zod";
import { isRecord } from "../../core/json.ts";
import { type AdmissionRequest, type AdmittedObject, isSameSpec, type Verdict } from "../../kube/admission.ts";
import { amountOf } from "../../kube/quantity.ts";

import { bytesOf, ratioOf } from "../configuration/quantity.ts";
import { type SparkApplicationSpec, type SparkPodSpec, specSchema } from "../schema/application.ts";
import { withDefaults } from "../schema/rules.ts";

/** Amounts by the resource names of quotas: cores, bytes. */
type Requests = Readonly<Record<string, number>>;

const leastOverhead = 384 * 2 ** 20;

/** The overhead factor. Upstream counts only Java as a JVM program, Scala not. */
const factorOf = ({ memoryOverheadFactor, type }: SparkApplicationSpec): number =>
  (memoryOverheadFactor === undefined ? undefined : ratioOf(memoryOverheadFactor)) ?? (type === "Java" ? 0.1 : 0.4);

const memoryOf = ({ memory, memoryOverhead }: SparkPodSpec, factor: number): number => {
  const bytes = bytesOf(memory ?? "0", "m") ?? 0;
  const overhead = memoryOverhead === undefined ? undefined : bytesOf(memoryOverhead, "m");
  return bytes + (overhead ?? Math.floor(Math.max(bytes * factor, leastOverhead)));
};

/** Driver and executors together, as upstream: coreRequest is ignored, and dynamic allocation counts one executor. */
export const requestsOf = (given: SparkApplicationSpec): Requests => {
  const spec = withDefaults(given);
  const pods: readonly (readonly [SparkPodSpec, number])[] = [
    [spec.driver, 1],
    [spec.executor, spec.executor.instances ?? 1],
  ];
  const sum = (each: (pod: SparkPodSpec) => number): number =>
    pods.reduce((total, [pod, count]) => total + each(pod) * count, 0);
  const cores = sum((pod) => pod.cores ?? 1);
  const limit = sum((pod) => (pod.coreLimit === undefined ? undefined : amountOf(pod.coreLimit)) ?? pod.cores ?? 1);
  const memory = sum((pod) => memoryOf(pod, factorOf(spec)));
  return {
    ...{ cpu: cores, "requests.cpu": cores, "limits.cpu": limit },
    ...{ memory, "requests.memory": memory, "limits.memory": memory },
  };
};

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

const requested = (object: AdmittedObject | null | undefined): Requests => {
  const parsed = specSchema.safeParse(object?.["spec"]);
  return parsed.success ? requestsOf(parsed.data) : {};
};

/** True of a run that the quota counts already. */
const runs = (object: AdmittedObject | null | undefined): boolean => {
  const status = object?.["status"];
  const state = isRecord(status) && isRecord(status["applicationState"]) ? status["applicationState"]["state"] : "";
  return state === "SUBMITTED" || state === "RUNNING";
};

const increase = ({ object, oldObject }: AdmissionRequest): Requests => {
  const before = runs(oldObject) ? requested(oldObject) : {};
  return Object.fromEntries(
    Object.entries(requested(object)).map(([name, amount]) => [name, amount - (before[name] ?? 0)]),
  );
};

/** True when the request needs a read of the quotas. */
export const isCounted = (request: AdmissionRequest): boolean =>
  request.kind.kind === "SparkApplication" && ["CREATE", "UPDATE"].includes(request.operation) && !isSameSpec(request);

/** The verdict after the namespace's quotas: a refusal stays one. */
export const withinQuotas = (quotas: readonly unknown[], request: AdmissionRequest, verdict: Verdict): Verdict => {
  if (!verdict.allowed) return verdict;
  const excess = exceeded(increase(request), quotas);
  return excess.length === 0 ? verdict : { allowed: false, message: excess.join("; ") };
};
