/**
 * AWS signature version 4 for the requests that functions send without an AWS client: a presigned URL, and a JSON
 * call. The credentials are those of a function's role, from its environment; a token for EKS is a presigned STS
 * request, which the cluster sends to learn the caller's identity.
 */
import { createHash, createHmac } from "node:crypto";
import { ApiError } from "../../core/http.ts";

export type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
};

export type Signing = {
  readonly credentials: Credentials;
  readonly region: string;
  readonly service: string;
  /** Epoch ms. */
  readonly now: number;
};

type Fields = Readonly<Record<string, string>>;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** Encodes as RFC 3986; AWS also encodes characters that encodeURIComponent leaves as they are. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const sorted = (fields: Fields): readonly (readonly [string, string])[] =>
  Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));

const queryText = (fields: Fields): string =>
  sorted(fields)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join("&");

/** `20261102T090000Z` */
const stampOf = (now: number): string => new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");

const scopeOf = ({ region, service, now }: Signing): string =>
  [stampOf(now).slice(0, 8), region, service, "aws4_request"].join("/");

type Canonical = { readonly method: string; readonly query: string; readonly headers: Fields; readonly body: string };

const signedNames = (headers: Fields): string =>
  sorted(headers)
    .map(([name]) => name)
    .join(";");

const signatureOf = (signing: Signing, { method, query, headers, body }: Canonical): string => {
  const lines = sorted(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = [method, "/", query, lines.join(""), signedNames(headers), sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", stampOf(signing.now), scopeOf(signing), sha256(request)].join("\n");
  const [date = "", ...scope] = scopeOf(signing).split("/");
  const key = scope.reduce<Buffer>(hmac, hmac(`AWS4${signing.credentials.secretAccessKey}`, date));
  return hmac(key, text).toString("hex");
};

export type Presigning = Signing & {
  readonly host: string;
  readonly query: Fields;
  /** Signed headers besides `host`; lower case. */
  readonly headers: Fields;
  readonly expiresS: number;
};

/** Returns a URL that proves the signer's identity for `expiresS` seconds. */
const presigned = (signing: Presigning): string => {
  const { accessKeyId, sessionToken } = signing.credentials;
  const headers = { ...signing.headers, host: signing.host };
  const query = queryText({
    ...signing.query,
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${accessKeyId}/${scopeOf(signing)}`,
    "X-Amz-Date": stampOf(signing.now),
    "X-Amz-Expires": String(signing.expiresS),
    "X-Amz-SignedHeaders": signedNames(headers),
    ...(sessionToken === undefined ? {} : { "X-Amz-Security-Token": sessionToken }),
  });
  const signature = signatureOf(signing, { method: "GET", query, headers, body: "" });
  return `https://${signing.host}/?${query}&X-Amz-Signature=${signature}`;
};

/** Returns the headers of a POST to `/`, including the signature. */
export const signedHeaders = (signing: Signing, host: string, given: Fields, body: string): Fields => {
  const { accessKeyId, sessionToken } = signing.credentials;
  const headers = {
    ...given,
    host,
    "x-amz-date": stampOf(signing.now),
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
  };
  const signature = signatureOf(signing, { method: "POST", query: "", headers, body });
  const credential = `Credential=${accessKeyId}/${scopeOf(signing)}`;
  const authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${signedNames(headers)}, Signature=${signature}`;
  return { ...headers, authorization };
};

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the credentials of the environment; throws one line if there are none. The credential chain of the AWS
 * clients is not used, because it adds 150 kB.
 */
export const identity = (env: Environment): Credentials => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env;
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return { accessKeyId, secretAccessKey, sessionToken: token };
  const message =
    "no AWS credentials: a Lambda function has its role's, everything else needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  throw new ApiError({ status: 401, reason: "NoCredentials", message });
};

/** The domain of a region's services. */
export const domainOf = (region: string): string => (region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com");

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
