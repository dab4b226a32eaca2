/** Kerberos' configuration and delegation tokens that are in the cluster already; as KerberosConfDriverFeatureStep. */
import type { SparkPod } from "../pods/pod.ts";
import { withEnv, withVolume } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

const tokenFolder = "/mnt/secrets/hadoop-credentials";

const withConfiguration =
  (name: string | undefined) =>
  (pod: SparkPod): SparkPod =>
    name === undefined
      ? pod
      : withVolume(
          pod,
          { name: "krb5-file", configMap: { name } },
          { name: "krb5-file", mountPath: "/etc/krb5.conf", subPath: "krb5.conf" },
        );

const withTokens =
  (secretName: string | undefined, key: string) =>
  (pod: SparkPod): SparkPod =>
    secretName === undefined
      ? pod
      : withEnv(
          withVolume(
            pod,
            { name: "hadoop-secret", secret: { secretName } },
            { name: "hadoop-secret", mountPath: tokenFolder },
          ),
          [{ name: "HADOOP_TOKEN_FILE_LOCATION", value: `${tokenFolder}/${key}` }],
        );

export const kerberos = ({ conf }: Context): Contribution => {
  const configuration = withConfiguration(conf.get("spark.kubernetes.kerberos.krb5.configMapName"));
  const tokens = withTokens(
    conf.get("spark.kubernetes.kerberos.tokenSecret.name"),
    conf.get("spark.kubernetes.kerberos.tokenSecret.itemKey") ?? "",
  );
  return { pod: (pod) => tokens(configuration(pod)) };
};
