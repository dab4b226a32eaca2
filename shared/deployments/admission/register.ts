/** Registers admission with the API server, and keeps the CA bundle of the webhooks current. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { applyObject, request } from "../../adapters/kubernetes/requests.ts";
import { type Registration, webhookConfigurations } from "../../cli/installation/webhooks.ts";
import { ApiError } from "../../core/errors.ts";
import type { Transport } from "../../core/http.ts";
import { digestOf } from "../../core/json.ts";
import type { Obj, Resource, Stored } from "../../core/object.ts";
import { type Family, families } from "../../kube/families.ts";
import { mutatingWebhooks, validatingWebhooks } from "../../kube/resources.ts";
import { isRecord } from "../../kube/responses.ts";
import { sparkApplications } from "../../spark/schema/resource.ts";
import { jobs } from "../../volcano/schema/resource.ts";

const mark = "rekindle.dev/registration";

const resources: readonly Resource[] = [mutatingWebhooks, validatingWebhooks];

const bundlesOf = (object: Obj | undefined): readonly unknown[] => {
  const webhooks = object?.["webhooks"];
  if (!Array.isArray(webhooks)) return [];
  return webhooks.map((each) => {
    const client: unknown = isRecord(each) ? each["clientConfig"] : undefined;
    return isRecord(client) ? client["caBundle"] : undefined;
  });
};

/**
 * Returns whether the registration is current. The server fills in defaults, so only the digest of the wanted object
 * and the CA bundles are compared.
 */
const isRegistered = (there: Stored | undefined, wanted: Obj): boolean =>
  there?.metadata.annotations?.[mark] === wanted.metadata.annotations?.[mark] &&
  JSON.stringify(bundlesOf(there)) === JSON.stringify(bundlesOf(wanted));

const marked = (object: Obj): Obj => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [mark]: digestOf(object).slice(0, 32) } },
});

const representatives: Readonly<Record<Family, Resource>> = { spark: sparkApplications, volcano: jobs };

/**
 * Returns whether the server serves the API group and version of a resource. Webhooks for missing kinds would only
 * confuse.
 */
const isServed = async (transport: Transport, { group, version }: Resource): Promise<boolean> => {
  try {
    await request(transport, "GET", `/apis/${group}/${version}`);
    return true;
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return false;
    throw cause;
  }
};

type Asked = Omit<Registration, "families"> & {
  /** Families to run; absent: all. */
  readonly families?: readonly Family[];
};

/** Writes the webhook configurations that differ. Returns how many were written. */
export const register = async (transport: Transport, asked: Asked): Promise<number> => {
  const cluster = openCluster(transport);
  const served = await Promise.all(
    (asked.families ?? families).map(async (one) => ((await isServed(transport, representatives[one])) ? [one] : [])),
  );
  const registration = { ...asked, families: served.flat() };
  let written = 0;
  for (const wanted of webhookConfigurations(registration).map(marked)) {
    const resource = resources.find(({ kind }) => kind === wanted.kind);
    if (resource === undefined) throw new Error(`${wanted.kind} is no registration`);
    const ref = { resource, name: wanted.metadata.name };
    if (isRegistered((await cluster.get(ref)).value, wanted)) continue;
    await applyObject(transport, ref, wanted, { manager: "rekindle", force: true });
    written += 1;
  }
  return written;
};
