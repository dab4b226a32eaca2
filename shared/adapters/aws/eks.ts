/** Tokens for EKS: a token is a presigned STS request, which the cluster sends to learn the caller's identity. */
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

/** Returns a new token for the identity of this environment. */
export const eksToken = (cluster: EksCluster, env: Environment, now: number): string =>
  tokenOf(cluster, identity(env), now);
