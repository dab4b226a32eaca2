/** Secrets as folders and as variables; as MountSecretsFeatureStep and EnvSecretsFeatureStep. */
import { below } from "../conf.ts";
import { withEnv, withVolume } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

export const secrets = ({ conf }: Context): Contribution => ({
  pod: (pod) =>
    Object.entries(below(conf, "spark.kubernetes.driver.secrets.")).reduce(
      (before, [secretName, mountPath]) =>
        withVolume(
          before,
          { name: `${secretName}-volume`, secret: { secretName } },
          { name: `${secretName}-volume`, mountPath },
        ),
      pod,
    ),
});

export const secretEnv = ({ conf }: Context): Contribution => ({
  pod: (pod) =>
    withEnv(
      pod,
      Object.entries(below(conf, "spark.kubernetes.driver.secretKeyRef.")).map(([name, reference]) => {
        const [secret = "", key = ""] = reference.split(":");
        return { name, valueFrom: { secretKeyRef: { name: secret, key } } };
      }),
    ),
});
