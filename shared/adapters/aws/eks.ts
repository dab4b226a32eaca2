/** Who we are to an EKS cluster: a token that is a presigned question to STS, which the cluster asks in our name. */
import { domainOf, type Environment, identity } from "./identity.ts";
import { type Credentials, presigned } from "./signature.ts";

export type EksCluster = { readonly name: string; readonly region: string };

export const tokenOf = ({ name, region }: EksCluster, credentials: Credentials, now: number): string => {
  const url = presigned({
    ...{ credentials, region, now, service: "sts", host: `sts.${region}.${domainOf(region)}`, expiresS: 60 },
    query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
    headers: { "x-k8s-aws-id": name },
  });
  return `k8s-aws-v1.${Buffer.from(url).toString("base64url")}`;
};

/** A fresh token of whoever this environment is. */
export const eksToken = (cluster: EksCluster, env: Environment, now: number): string =>
  tokenOf(cluster, identity(env), now);
