/** The certificate of admission: from a Secret that all replicas share and the first one renews, or from a folder. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { bundled, isFresh, makePair, type Pair } from "../../adapters/certificates/pair.ts";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { replaceObject } from "../../adapters/kubernetes/requests.ts";
import { ours } from "../../cli/installation/marks.ts";
import { ApiError } from "../../core/errors.ts";
import type { Transport } from "../../core/http.ts";
import { type Obj, type Ref, refText, type Stored } from "../../core/object.ts";
import { secrets } from "../../kube/resources.ts";
import { isRecord } from "../../kube/responses.ts";

/** Returns the certificate to serve with; called again at an interval, it returns a changed one. */
export type Certificates = () => Promise<Served>;

/**
 * A certificate to serve with. `ca` undefined: the webhooks are registered without a CA bundle, because the certificate
 * is trusted otherwise.
 */
export type Served = Omit<Pair, "ca"> & { readonly ca: string | undefined };

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
    ...{ name, namespace, labels: ours },
    ...(before === undefined ? {} : { resourceVersion: before.metadata.resourceVersion }),
  },
  type: "kubernetes.io/tls",
  data: { [fields.ca]: base64(ca), [fields.cert]: base64(cert), [fields.key]: base64(key) },
});

const isOurs = ({ metadata }: Stored): boolean =>
  metadata.labels?.["app.kubernetes.io/managed-by"] === ours["app.kubernetes.io/managed-by"];

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
    throw new Error(`admission-certificates ${folder}: ${cause instanceof Error ? cause.message : cause}`);
  });

/** Reads `tls.crt` and `tls.key`, as cert-manager and kubectl name them, and `ca.crt`, if it exists. */
export const givenCertificates =
  (folder: string): Certificates =>
  async () => {
    const [cert, key] = [await read(folder, fields.cert), await read(folder, fields.key)];
    return { cert, key, ca: await readFile(join(folder, fields.ca), "utf8").catch(() => undefined) };
  };
