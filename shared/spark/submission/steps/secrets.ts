/** Secrets as folders and as variables; as MountSecretsFeatureStep and EnvSecretsFeatureStep. */
import type { Role } from "../arguments/pod.ts";
import type { Conf } from "../conf.ts";
import { below } from "../conf.ts";
import { withEnv, withVolume } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

/** A reference `name:key` in its parts, as Java splits: what is empty at the end is none. */
export const partsOf = (reference: string): readonly string[] => reference.replace(/:+$/, "").split(":");

export const secretsOf = (conf: Conf, role: Role): Contribution => ({
  pod: (pod) =>
    Object.entries(below(conf, `spark.kubernetes.${role}.secrets.`)).reduce(
      (before, [secretName, mountPath]) =>
        withVolume(
          before,
          { name: `${secretName}-volume`, secret: { secretName } },
          { name: `${secretName}-volume`, mountPath },
        ),
      pod,
    ),
});

export const secretEnvOf = (conf: Conf, role: Role): Contribution => ({
  pod: (pod) =>
    withEnv(
      pod,
      Object.entries(below(conf, `spark.kubernetes.${role}.secretKeyRef.`)).map(([name, reference]) => {
        const [secret = "", key = ""] = partsOf(reference);
        return { name, valueFrom: { secretKeyRef: { name: secret, key } } };
      }),
    ),
});

export const secrets = ({ conf }: Context): Contribution => secretsOf(conf, "driver");

export const secretEnv = ({ conf }: Context): Contribution => secretEnvOf(conf, "driver");
