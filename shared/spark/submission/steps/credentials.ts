/** The driver's credentials: a service account, or its own; as DriverKubernetesCredentialsFeatureStep. */
import type { Conf, Texts } from "../../configuration/conf.ts";
import { inSpec, type SparkPod, withVolume } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

const prefix = "spark.kubernetes.authenticate.driver";
const folder = "/mnt/secrets/spark-kubernetes-credentials";
const volumeName = "kubernetes-credentials";
const hidden = "<present_but_redacted>";

/** Credentials in files: the conf that names the file, and its name in the Secret. */
export const credentialFiles = { caCertFile: "ca-cert", clientKeyFile: "client-key", clientCertFile: "client-cert" };

/** Redacts tokens, which are stored in a Secret only. */
const redacted = (conf: Conf): Texts =>
  Object.fromEntries([...conf.keys()].filter((key) => key.endsWith("oauthToken")).map((key) => [key, hidden]));

const base64 = (text: string): string => Buffer.from(text).toString("base64");

type Credential = { readonly name: string; readonly key: string; readonly data: string };

const credentialsOf = ({ conf, machine }: Context): readonly Credential[] => {
  const inFiles = Object.entries(credentialFiles).flatMap(([suffix, name]) => {
    const text = machine.files?.[conf.get(`${prefix}.${suffix}`) ?? ""];
    return text === undefined ? [] : [{ name, key: suffix, data: base64(text) }];
  });
  const token = conf.get(`${prefix}.oauthToken`);
  return token === undefined
    ? inFiles
    : [...inFiles, { name: "oauth-token", key: "oauthTokenFile", data: base64(token) }];
};

const withAccount =
  (account: string | undefined) =>
  (pod: SparkPod): SparkPod =>
    account === undefined ? pod : inSpec(pod, { serviceAccount: account, serviceAccountName: account });

export const credentials = (context: Context): Contribution => {
  const { conf, identity } = context;
  const all = credentialsOf(context);
  const confs = redacted(conf);
  if (all.length === 0) return { pod: withAccount(conf.get(`${prefix}.serviceAccountName`)), confs };
  const name = `${identity.prefix}-kubernetes-credentials`;
  const mounted = all.map(({ name: file, key }) => {
    const at = `${prefix}.mounted.${key}`;
    return [at, conf.get(at) ?? `${folder}/${file}`];
  });
  return {
    pod: (pod) =>
      withVolume(pod, { name: volumeName, secret: { secretName: name } }, { name: volumeName, mountPath: folder }),
    confs: { ...confs, ...Object.fromEntries(mounted) },
    objects: [
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name },
        immutable: true,
        data: Object.fromEntries(all.map(({ name: file, data }) => [file, data])),
      },
    ],
  };
};
