/**
 * Admission inside a process (a host, a dispatcher, or the admission function alone): an HTTPS server with a certificate
 * that it renews and keeps in a Secret, registered with the API server. An error after its start is logged and tried
 * again, and the process goes on.
 */
import { readFile } from "node:fs/promises";
import type { Server } from "node:https";
import { join } from "node:path";
import { bundled, isFresh, makePair, type Pair } from "../../adapters/certificates/pair.ts";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { applyObject, replaceObject, request } from "../../adapters/kubernetes/requests.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import { digestOf, isRecord } from "../../core/json.ts";
import { type Obj, type Ref, type Resource, refText, type Stored } from "../../core/object.ts";
import { errorText } from "../../core/text.ts";
import type { Report, Slices } from "../../engine/ports.ts";
import { startRounds } from "../../forward/pause.ts";
import { ourLabels } from "../../installation/roles.ts";
import { type Reach, type Registration, webhookConfigurations } from "../../installation/webhooks.ts";
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { defaultFamilies, type Family, mutatingWebhooks, secrets, validatingWebhooks } from "../../kube/resources.ts";
import { selectorOf } from "../../kube/selector.ts";
import { kinds } from "../../registry/kinds.ts";
import { openNamespaceScope } from "../common/namespaces.ts";
import { addressOf } from "../http/address.ts";
import { requestListener } from "../http/process.ts";
import { listenAt, openSecurePort } from "../http/server.ts";
import type { Settings } from "../settings/table.ts";
import { type Admits, admissionApp, largest } from "./app.ts";
import { quotasOf, surroundingsOf } from "./surroundings.ts";

/** Returns the certificate to serve with; called again at an interval, it returns a changed one. */
type Certificates = () => Promise<Served>;

/**
 * A certificate to serve with. `ca` undefined: the webhooks are registered without a CA bundle, because the certificate
 * is trusted otherwise.
 */
type Served = Omit<Pair, "ca"> & { readonly ca: string | undefined };

type Shared = {
  readonly transport: Transport;
  readonly namespace: string;
  readonly name: string;
  /** DNS names and addresses at which the API server calls admission. */
  readonly names: readonly string[];
  /** Epoch ms. */
  readonly now: () => number;
};

const fields = { ca: "ca.crt", cert: "tls.crt", key: "tls.key" } as const;

const textIn = (secret: Stored | undefined, field: string): string => {
  const data = secret?.["data"];
  const text = isRecord(data) ? data[field] : undefined;
  return typeof text === "string" ? Buffer.from(text, "base64").toString("utf8") : "";
};

const pairIn = (secret: Stored | undefined): Pair => ({
  ca: textIn(secret, fields.ca),
  cert: textIn(secret, fields.cert),
  key: textIn(secret, fields.key),
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const secretOf = ({ namespace, name }: Shared, { ca, cert, key }: Pair, before: Stored | undefined): Obj => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    ...{ name, namespace, labels: ourLabels },
    ...(before === undefined ? {} : { resourceVersion: before.metadata.resourceVersion }),
  },
  type: "kubernetes.io/tls",
  data: { [fields.ca]: base64(ca), [fields.cert]: base64(cert), [fields.key]: base64(key) },
});

const isOurs = ({ metadata }: Stored): boolean =>
  metadata.labels?.["app.kubernetes.io/managed-by"] === ourLabels["app.kubernetes.io/managed-by"];

const tries = 3;

/**
 * Shares a certificate in a Secret. Replicas agree, because the first write wins and the others serve its certificate.
 */
export const sharedCertificates = (shared: Shared): Certificates => {
  const { transport, namespace, name, names, now } = shared;
  const cluster = openCluster(transport);
  const ref: Ref = { resource: secrets, namespace, name };
  const attempt = async (): Promise<Pair> => {
    const { value: before } = await cluster.get(ref);
    const held = pairIn(before);
    if (isFresh(held, names, now())) return held;
    if (before !== undefined && !isOurs(before))
      throw new Error(`${refText(ref)} belongs to another owner: name another Secret with --admission-secret`);
    const made = await makePair(names, now());
    // The earlier CA stays in the bundle: a replica may still serve a certificate of it.
    const next = { ...made, ca: bundled(made.ca, held.ca, now()) };
    const object = secretOf(shared, next, before);
    await (before === undefined ? cluster.create(ref, object) : replaceObject(transport, ref, object));
    return next;
  };
  return async () => {
    for (let left = tries; ; left -= 1) {
      try {
        return await attempt();
      } catch (cause) {
        if (!(cause instanceof ApiError) || cause.status !== 409 || left === 0) throw cause;
      }
    }
  };
};

const read = (folder: string, file: string): Promise<string> =>
  readFile(join(folder, file), "utf8").catch((cause: unknown) => {
    throw new Error(`admission-certificates ${folder}: ${errorText(cause)}`);
  });

/** Reads `tls.crt` and `tls.key`, as cert-manager and kubectl name them, and `ca.crt`, if it exists. */
export const givenCertificates =
  (folder: string): Certificates =>
  async () => {
    const [cert, key] = [await read(folder, fields.cert), await read(folder, fields.key)];
    return { cert, key, ca: await readFile(join(folder, fields.ca), "utf8").catch(() => undefined) };
  };

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

/** Returns whether the server serves the API group and version of a kind. Webhooks for missing kinds would only confuse. */
const isServed = async (transport: Transport, { resource: { group, version } }: DeclaredKind): Promise<boolean> => {
  try {
    await request(transport, "GET", `/apis/${group}/${version}`);
    return true;
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return false;
    throw cause;
  }
};

type RegistrationOptions = Omit<Registration, "families"> & {
  /** Families to run; absent: the default ones. */
  readonly families?: readonly Family[];
};

/** Writes the webhook configurations that differ. Returns how many were written. */
export const register = async (transport: Transport, options: RegistrationOptions): Promise<number> => {
  const cluster = openCluster(transport);
  const firstKinds = (options.families ?? defaultFamilies).flatMap(
    (one) => kinds.find(({ family }) => family === one) ?? [],
  );
  const served = await Promise.all(
    firstKinds.map(async (kind) => ((await isServed(transport, kind)) ? [kind.family] : [])),
  );
  const registration = { ...options, families: served.flat() };
  let written = 0;
  for (const wanted of webhookConfigurations(registration).map(marked)) {
    const resource = resources.find(({ kind }) => kind === wanted.kind);
    if (resource === undefined) throw new Error(`${wanted.kind} is not a registration`);
    const ref = { resource, name: wanted.metadata.name };
    if (isRegistered((await cluster.get(ref)).value, wanted)) continue;
    await applyObject(transport, ref, wanted, { manager: "rekindle", force: true });
    written += 1;
  }
  return written;
};

export type Admission = {
  /** Host and port. */
  readonly listen: { readonly hostname: string; readonly port: number };
  readonly certificates: Certificates;
  /** Registers the webhooks with this CA; returns how many objects it wrote. */
  readonly register: (ca: Registration["ca"]) => Promise<number>;
  readonly admits: Admits;
  readonly report: Report;
  /** The interval of checks of certificate and registration, ms. */
  readonly everyMs: number;
};

export type OpenAdmission = {
  /** The port on which the server listens. */
  readonly port: number;
  close(): Promise<void>;
};

/**
 * Renews certificate and registration. The new CA is registered before the new certificate is served, so that no call
 * meets a certificate that the API server does not trust.
 */
const renewed = async (admission: Admission, server: Server, before: Served): Promise<Served> => {
  const { certificates, register, report } = admission;
  const served = await certificates();
  const written = await register(served.ca);
  if (written > 0) report("info", "admission was registered again", { written });
  if (served.cert !== before.cert) {
    server.setSecureContext({ cert: served.cert, key: served.key });
    report("info", "admission has a new certificate", {});
  }
  return served;
};

const lookAfter = (admission: Admission, server: Server, first: Served) => {
  const { everyMs, report } = admission;
  let served = first;
  return startRounds(async () => {
    try {
      served = await renewed(admission, server, served);
    } catch (cause) {
      const error = errorText(cause);
      report("warn", "cannot renew admission's certificate or registration, trying again", { error });
    }
    return everyMs;
  }, everyMs);
};

/** Serves, then registers. Throws one line where the start fails. */
export const serveAdmission = async (admission: Admission): Promise<OpenAdmission> => {
  const served = await admission.certificates();
  const { cert, key } = served;
  const answer = requestListener(admissionApp(admission.admits).fetch);
  const server = openSecurePort(answer, { cert, key }, largest);
  const port = await listenAt(server, admission.listen, "; set --admission-listen");
  const close = async (): Promise<void> => {
    server.closeIdleConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  try {
    await admission.register(served.ca);
  } catch (cause) {
    await close();
    throw cause;
  }
  const stop = lookAfter(admission, server, served);
  return {
    port,
    close: async () => {
      await stop();
      await close();
    },
  };
};

const everyMs = 60_000;

/** Returns the names that the certificate must cover. */
const namesOf = (reach: Reach): readonly string[] => {
  if ("url" in reach) return [new URL(reach.url).hostname.replace(/^\[|\]$/g, "")];
  const { namespace, name } = reach.service;
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
};

/** The settings that say how admission is served, registered and limited. */
type AdmissionSettings = Pick<
  Settings<"admission">,
  | ("admissionReach" | "admissionSecret" | "admissionCertificates" | "admissionListen")
  | ("admissionQuota" | "admissionQuotaEstimate" | "admissionQueueGate" | "admissionResourceGroups")
  | ("namespaces" | "namespaceSelector" | "families" | "selector" | "sparkDefaults")
>;

/** The transport to the API server, the log and the slices of the process in which admission runs. */
type OwnProcess = { readonly transport: Transport; readonly report: Report; readonly slices: Slices };

/** Serves admission and registers it with the API server. */
export const openAdmission = (
  configuration: AdmissionSettings,
  { transport, report, slices }: OwnProcess,
): Promise<OpenAdmission> => {
  const { admissionReach: reach, admissionSecret, admissionCertificates, admissionListen } = configuration;
  const { namespaces, namespaceSelector, families } = configuration;
  const shared = { transport, ...admissionSecret, names: namesOf(reach), now: Date.now };
  const pods = { queueGate: configuration.admissionQueueGate, groups: configuration.admissionResourceGroups };
  return serveAdmission({
    listen: addressOf(admissionListen),
    certificates:
      admissionCertificates === undefined ? sharedCertificates(shared) : givenCertificates(admissionCertificates),
    register: (ca) => register(transport, { reach, ca, namespaces, namespaceSelector, families, pods }),
    admits: {
      slices,
      around: surroundingsOf(transport, Date.now),
      quotas: configuration.admissionQuota ? quotasOf(transport, Date.now) : undefined,
      estimate: configuration.admissionQuotaEstimate,
      selects: selectorOf(configuration.selector),
      confs: configuration.sparkDefaults,
      pods,
      within: openNamespaceScope({ ...configuration, transport, report, now: Date.now }).within,
    },
    report,
    everyMs,
  });
};
