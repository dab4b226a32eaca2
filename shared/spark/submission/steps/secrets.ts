/** Secrets as mounts and as variables; as MountSecretsFeatureStep and EnvSecretsFeatureStep. */

import type { Conf } from "../../configuration/conf.ts";
import { below, withoutEnd } from "../../configuration/conf.ts";
import type { Role } from "../arguments/pod.ts";
import { withEnv, withVolumes } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

/** Splits a reference `name:key` as Java does, without empty parts at the end. */
export const partsOf = (reference: string): readonly string[] => withoutEnd(reference, ":").split(":");

export const secretsOf = (conf: Conf, role: Role): Contribution => ({
  pod: (pod) =>
    withVolumes(
      pod,
      Object.entries(below(conf, `spark.kubernetes.${role}.secrets.`)).map(([secretName, mountPath]) => {
        const name = `${secretName}-volume`;
        return { volume: { name, secret: { secretName } }, mount: { name, mountPath } };
      }),
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
