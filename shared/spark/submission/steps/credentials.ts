/** Who the driver is to the API server: a service account, or a token of its own; as DriverKubernetesCredentialsFeatureStep. */
import type { Conf, Texts } from "../conf.ts";
import { inSpec, type SparkPod, withVolume } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

const prefix = "spark.kubernetes.authenticate.driver";
const folder = "/mnt/secrets/spark-kubernetes-credentials";
const volumeName = "kubernetes-credentials";

/** A token is kept in a Secret and nowhere else. */
const redacted = (conf: Conf): Texts =>
  Object.fromEntries([...conf.keys()].filter((key) => key.endsWith("oauthToken")).map((key) => [key, hidden]));

const hidden = "<present_but_redacted>";

const withAccount =
  (account: string | undefined) =>
  (pod: SparkPod): SparkPod =>
    account === undefined ? pod : inSpec(pod, { serviceAccount: account, serviceAccountName: account });

/** Files that are named here would have to be read from the submitter's disk: they are refused before. */
export const credentials = (context: Context): Contribution => {
  const token = context.conf.get(`${prefix}.oauthToken`);
  const confs = redacted(context.conf);
  if (token === undefined) return { pod: withAccount(context.conf.get(`${prefix}.serviceAccountName`)), confs };
  const name = `${context.identity.prefix}-kubernetes-credentials`;
  const mounted = `${prefix}.mounted.oauthTokenFile`;
  return {
    pod: (pod) =>
      withVolume(pod, { name: volumeName, secret: { secretName: name } }, { name: volumeName, mountPath: folder }),
    confs: { ...confs, [mounted]: context.conf.get(mounted) ?? `${folder}/oauth-token` },
    objects: [
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name },
        immutable: true,
        data: { "oauth-token": Buffer.from(token).toString("base64") },
      },
    ],
  };
};
