/** Kerberos' configuration, keytab and delegation tokens; as KerberosConfDriverFeatureStep. */
import type { Obj } from "../../../core/object.ts";
import type { SparkPod } from "../pods/pod.ts";
import { withEnv, withVolume } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

const tokenFolder = "/mnt/secrets/hadoop-credentials";
const keytabFolder = "/mnt/secrets/kerberos-keytab";

type File = { readonly name: string; readonly text: string };

/** A file of the submitting machine that a conf names. */
const fileAt = ({ conf, machine }: Context, key: string): File | undefined => {
  const path = conf.get(key) ?? "";
  const text = machine.files?.[path];
  return text === undefined ? undefined : { name: path.split("/").at(-1) ?? path, text };
};

const configured = (pod: SparkPod, name: string, file: File | undefined): SparkPod =>
  withVolume(
    pod,
    {
      name: "krb5-file",
      configMap: { name, ...(file === undefined ? {} : { items: [{ key: file.name, path: file.name }] }) },
    },
    { name: "krb5-file", mountPath: "/etc/krb5.conf", subPath: "krb5.conf" },
  );

const withKeytab = (pod: SparkPod, secretName: string): SparkPod =>
  withVolume(
    pod,
    { name: "kerberos-keytab", secret: { secretName } },
    { name: "kerberos-keytab", mountPath: keytabFolder },
  );

const withTokens = (pod: SparkPod, secretName: string, key: string): SparkPod =>
  withEnv(
    withVolume(
      pod,
      { name: "hadoop-secret", secret: { secretName } },
      { name: "hadoop-secret", mountPath: tokenFolder },
    ),
    [{ name: "HADOOP_TOKEN_FILE_LOCATION", value: `${tokenFolder}/${key}` }],
  );

const configMap = (name: string, file: File): Obj => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  immutable: true,
  data: { [file.name]: file.text },
});

const secret = (name: string, file: File): Obj => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  immutable: true,
  data: { [file.name]: Buffer.from(file.text).toString("base64") },
});

/** Mounts a keytab rather than tokens: with a keytab the driver gets its own. */
export const kerberos = (context: Context): Contribution => {
  const { conf, identity } = context;
  const file = fileAt(context, "spark.kubernetes.kerberos.krb5.path");
  const keytab = fileAt(context, "spark.kerberos.keytab");
  const tokens = conf.get("spark.kubernetes.kerberos.tokenSecret.name");
  const key = conf.get("spark.kubernetes.kerberos.tokenSecret.itemKey") ?? "";
  const own = `${identity.prefix}-krb5-file`;
  const map = conf.get("spark.kubernetes.kerberos.krb5.configMapName") ?? (file === undefined ? undefined : own);
  const keytabSecret = `${identity.prefix}-kerberos-keytab`;
  return {
    pod: (pod) => {
      const known = map === undefined ? pod : configured(pod, map, file);
      if (keytab !== undefined) return withKeytab(known, keytabSecret);
      return tokens === undefined ? known : withTokens(known, tokens, key);
    },
    confs: keytab === undefined ? {} : { "spark.kerberos.keytab": `${keytabFolder}/${keytab.name}` },
    objects: [
      ...(file === undefined ? [] : [configMap(own, file)]),
      ...(keytab === undefined ? [] : [secret(keytabSecret, keytab)]),
    ],
  };
};
