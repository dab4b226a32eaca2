/**
 * Reads a text from Secrets Manager or from SSM's Parameter Store, by its ARN: one signed request, without an AWS
 * client.
 */
import * as z from "zod";
import { ApiError } from "../../core/http.ts";
import { jsonOf } from "../../core/json.ts";
import { httpsTransport } from "../kubernetes/https.ts";
import { domainOf, type Environment, identity, signedHeaders } from "./requests.ts";

type Kind = {
  readonly service: string;
  /** Environment variable that overrides the endpoint, as for every AWS client. */
  readonly variable: string;
  readonly action: string;
  readonly target: string;
  readonly ask: (arn: string) => object;
  readonly answer: z.ZodType<string>;
};

const secret: Kind = {
  service: "secretsmanager",
  variable: "AWS_ENDPOINT_URL_SECRETS_MANAGER",
  action: "GetSecretValue",
  target: "secretsmanager.GetSecretValue",
  ask: (arn) => ({ SecretId: arn }),
  answer: z.object({ SecretString: z.string() }).transform(({ SecretString }) => SecretString),
};

const parameter: Kind = {
  service: "ssm",
  variable: "AWS_ENDPOINT_URL_SSM",
  action: "GetParameter",
  target: "AmazonSSM.GetParameter",
  ask: (arn) => ({ Name: arn, WithDecryption: true }),
  answer: z.object({ Parameter: z.object({ Value: z.string() }) }).transform((found) => found.Parameter.Value),
};

const form = /^arn:aws[a-z-]*:(secretsmanager|ssm):([a-z0-9-]+):/;

const timeoutMs = 5_000;

const failure = z.object({
  __type: z.string().default(""),
  message: z.string().optional(),
  Message: z.string().optional(),
});

/** Returns the error with the missing right or the mistake. It contains nothing of the stored text. */
const refusal = ({ service, action }: Kind, arn: string, status: number, body: unknown): ApiError => {
  const { data } = failure.safeParse(body);
  const type = data?.__type.split("#").at(-1) ?? "";
  const advice: Readonly<Record<string, string>> = {
    AccessDeniedException: `no permission: allow ${service}:${action} on it to the role that this runs as`,
    ResourceNotFoundException: "there is none: correct the ARN, or make it (rekindle cluster add)",
    ParameterNotFound: "there is none: correct the ARN, or make it (rekindle cluster add)",
    UnrecognizedClientException: "no valid AWS credentials; a clock that is off by minutes looks the same",
    InvalidSignatureException: "the signature is not accepted: credentials or clock are wrong",
  };
  const message = data?.message ?? data?.Message;
  const isElsewhere = /scoped to a valid region/.test(message ?? "");
  const text = isElsewhere
    ? "the ARN names another region than its endpoint: correct the ARN"
    : (advice[type] ?? message ?? `HTTP ${status}`);
  return new ApiError({ status, reason: "ClusterRecord", message: `${service} ${action} ${arn}: ${text}` });
};

/** Returns the stored text; rejects with one line about what to change. */
export const storedText = async (arn: string, env: Environment, now: number): Promise<string> => {
  const [, service = "", region = ""] = form.exec(arn) ?? [];
  const kind = service === "ssm" ? parameter : secret;
  const url = new URL(env[kind.variable] ?? `https://${service}.${region}.${domainOf(region)}`);
  const body = JSON.stringify(kind.ask(arn));
  const given = { "content-type": "application/x-amz-json-1.1", "x-amz-target": kind.target };
  const signing = { credentials: identity(env), region, service, now };
  const { host: _, ...headers } = signedHeaders(signing, url.host, given, body);
  const transport = httpsTransport({ server: url.origin, userAgent: "rekindle" });
  const request = { method: "POST", path: "/", headers, body, timeoutMs } as const;
  const answer = await transport
    .send(request)
    .catch((cause: unknown) => {
      const message = `${service} ${kind.action} ${arn}: no answer (from a VPC, an endpoint of ${service} is needed)`;
      throw new ApiError({ status: 0, reason: "ClusterRecord", message, cause });
    })
    .finally(transport.close);
  const found = jsonOf(answer.body) ?? {};
  const { data } = kind.answer.safeParse(found);
  if (answer.status !== 200 || data === undefined) throw refusal(kind, arn, answer.status, found);
  return data;
};
