/** The API server and the service account of a pod: the files that Kubernetes mounts into every pod. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Folder of a pod's certificate, namespace and token. */
export const account = "/var/run/secrets/kubernetes.io/serviceaccount";

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the URL of the API server; undefined outside a pod. */
export const podServer = ({
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: port = "443",
}: Environment): string | undefined =>
  host === undefined ? undefined : `https://${host.includes(":") ? `[${host}]` : host}:${port}`;

/**
 * Returns the pod's own account as a flat JSON record, read anew because its token is renewed hourly. Throws one line
 * outside a pod.
 */
export const podRecord = async (env: Environment, folder = account): Promise<string> => {
  const server = podServer(env);
  if (server === undefined)
    throw new Error("REKINDLE_CLUSTER_RECORD is in-cluster, and this process does not run in a pod");
  const text = (file: string): Promise<string> =>
    readFile(join(folder, file), "utf8").catch((cause: unknown) => {
      throw new Error(`the pod has no ${file} of a service account: set automountServiceAccountToken`, { cause });
    });
  const [ca, token] = await Promise.all([text("ca.crt"), text("token")]);
  return JSON.stringify({ server, ca, token: token.trim() });
};
