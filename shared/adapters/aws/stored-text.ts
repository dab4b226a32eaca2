/**
 * A text in Secrets Manager or in SSM's Parameter Store, by its ARN. Amazon's client of the service is loaded with the
 * first text; an error becomes one line that names the ARN and what to change.
 */
import { ApiError } from "../../core/http.ts";

const form = /^arn:aws[a-z-]*:(secretsmanager|ssm):([a-z0-9-]+):/;

/** Time limit of one try, and of all together, ms. */
const tryMs = 3_000;
const timeoutMs = 5_000;

const config = (region: string) => ({
  region,
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: tryMs, throwOnRequestTimeout: true },
});

type Read = (arn: string, region: string) => Promise<string | undefined>;

const secretValue: Read = async (SecretId, region) => {
  const { GetSecretValueCommand, SecretsManagerClient } = await import("@aws-sdk/client-secrets-manager");
  const client = new SecretsManagerClient(config(region));
  const limits = { abortSignal: AbortSignal.timeout(timeoutMs) };
  const { SecretString } = await client
    .send(new GetSecretValueCommand({ SecretId }), limits)
    .finally(() => client.destroy());
  return SecretString;
};

const parameterValue: Read = async (Name, region) => {
  const { GetParameterCommand, SSMClient } = await import("./parameter-store.ts");
  const client = new SSMClient(config(region));
  const limits = { abortSignal: AbortSignal.timeout(timeoutMs) };
  const { Parameter } = await client
    .send(new GetParameterCommand({ Name, WithDecryption: true }), limits)
    .finally(() => client.destroy());
  return Parameter?.Value;
};

type Kind = { readonly service: string; readonly action: string; readonly read: Read };

const secret: Kind = { service: "secretsmanager", action: "GetSecretValue", read: secretValue };
const parameter: Kind = { service: "ssm", action: "GetParameter", read: parameterValue };

const absent = "it does not exist: correct the ARN, or create it (rekindle cluster add)";
const rejected = "AWS does not accept the credentials: correct them, or this machine's clock if it is wrong by minutes";
const unknown =
  "no AWS credentials: give this process a role, or AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";

/** By the error's name. */
const advice: Readonly<Record<string, (kind: Kind) => string>> = {
  AccessDeniedException: ({ service, action }) =>
    `no permission: allow ${service}:${action} on it to the role that this runs as`,
  ResourceNotFoundException: () => absent,
  ParameterNotFound: () => absent,
  UnrecognizedClientException: () => rejected,
  InvalidSignatureException: () => rejected,
  ExpiredTokenException: () => rejected,
  CredentialsProviderError: () => unknown,
};

const statusOf = (cause: unknown): number => {
  const metadata = cause instanceof Error && "$metadata" in cause ? cause.$metadata : undefined;
  const status = typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata;
  return status ? Number(metadata.httpStatusCode) : 0;
};

/** Returns the error with the missing right or the mistake. It contains nothing of the stored text. */
const refusalOf = (kind: Kind, arn: string, cause: unknown): ApiError => {
  const status = statusOf(cause);
  const { name, message: text } = cause instanceof Error ? cause : new Error(String(cause));
  const known = Object.hasOwn(advice, name) ? advice[name]?.(kind) : undefined;
  const [line = ""] = text.split("\n");
  const silent = `no answer (from a VPC, an endpoint of ${kind.service} is needed)`;
  const why = /scoped to a valid region/.test(text)
    ? "the ARN names another region than its endpoint: correct the ARN"
    : (known ?? (status === 0 ? silent : line || name || `HTTP ${status}`));
  const message = `${kind.service} ${kind.action} ${arn}: ${why}`;
  return new ApiError({ status, reason: "ClusterRecord", message, cause });
};

/** Returns the stored text; rejects with one line about what to change. */
export const storedText = async (arn: string): Promise<string> => {
  const [, service = "", region = ""] = form.exec(arn) ?? [];
  const kind = service === "ssm" ? parameter : secret;
  const text = await kind.read(arn, region).catch((cause: unknown) => {
    throw refusalOf(kind, arn, cause);
  });
  if (text !== undefined) return text;
  const message = `${kind.service} ${kind.action} ${arn}: it holds no text: store one`;
  throw new ApiError({ status: 200, reason: "ClusterRecord", message });
};
