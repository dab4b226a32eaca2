/**
 * A token for an API server of EKS: a presigned request to STS, which the cluster sends to learn the caller's identity.
 * The credentials are those that every client of AWS finds: of the environment, a profile, a service account, a pod's
 * identity, or an instance's role.
 */
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { buildQueryString } from "@smithy/core/protocols";
import { Hash } from "@smithy/core/serde";
import { SignatureV4 } from "@smithy/signature-v4";
import { ApiError } from "../../core/http.ts";
import { errorText } from "../../core/text.ts";

export type EksCluster = { readonly name: string; readonly region: string };

type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
};

/** Lifetime of the signed URL, s. EKS accepts the token for 15 minutes all the same. */
const expiresS = 60;

/** The header with the cluster's name, which must be a header of the cluster's request, and so not move to the query. */
const clusterHeader = "x-k8s-aws-id";

/** `now`: epoch ms. */
export const tokenOf = async (
  { name, region }: EksCluster,
  { accessKeyId, secretAccessKey, sessionToken }: Credentials,
  now: number,
): Promise<string> => {
  const hostname = `sts.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  const signer = new SignatureV4({ credentials, region, service: "sts", sha256: Hash.bind(null, "sha256") });
  const request = {
    ...{ method: "GET", protocol: "https:", hostname, path: "/" },
    headers: { host: hostname, [clusterHeader]: name },
    query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
  };
  const { query = {} } = await signer.presign(request, {
    ...{ expiresIn: expiresS, signingDate: new Date(now) },
    unhoistableHeaders: new Set([clusterHeader]),
  });
  return `k8s-aws-v1.${Buffer.from(`https://${hostname}/?${buildQueryString(query)}`).toString("base64url")}`;
};

const identity = async (): Promise<Credentials> => {
  try {
    return await defaultProvider()();
  } catch (cause) {
    const [line] = errorText(cause).split("\n");
    const message = `no AWS credentials for a token of EKS: give this process a role, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (${line})`;
    throw new ApiError({ status: 401, reason: "NoCredentials", message, cause });
  }
};

/** Returns a new token for the identity of this process. */
export const eksToken = async (cluster: EksCluster, now: number): Promise<string> =>
  await tokenOf(cluster, await identity(), now);
