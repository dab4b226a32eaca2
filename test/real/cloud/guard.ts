/**
 * A proxy in front of the account's services: it identifies each request of a function to SQS, DynamoDB or Secrets
 * Manager by the access key of its signature, and forwards it only if that function's role grants it. It serves secrets
 * itself.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import * as z from "zod";
import { listening } from "../../support/port.ts";
import { arnOf } from "./account.ts";
import type { Statement } from "./stack.ts";

export type Guard = {
  /** The value of AWS_ENDPOINT_URL_SQS, _DYNAMODB and _SECRETS_MANAGER. */
  readonly endpoint: string;
  /** Grants the statements to this access key, and nothing else. */
  admit(accessKey: string, statements: readonly Statement[]): void;
  /** Texts of the secrets by ARN. */
  readonly secrets: Map<string, string>;
  /** The number of requests by `KEY ACTION`. */
  readonly asked: ReadonlyMap<string, number>;
  /** Messages of the refused requests. */
  readonly refused: readonly string[];
  /** Called with every request before it is forwarded; the request waits for the promise. */
  watch: (accessKey: string, action: string) => Promise<void> | void;
  close(): Promise<void>;
};

type Service = { readonly name: string; readonly resource: (body: Body) => string };
type Body = z.infer<typeof bodyShape>;

const bodyShape = z.looseObject({
  QueueUrl: z.string().default(""),
  TableName: z.string().default(""),
  SecretId: z.string().default(""),
});

/** By the prefix of the header that names the action. */
const services: Readonly<Record<string, Service>> = {
  AmazonSQS: { name: "sqs", resource: ({ QueueUrl }) => arnOf("sqs", QueueUrl.split("/").at(-1) ?? "") },
  DynamoDB_20120810: { name: "dynamodb", resource: ({ TableName }) => arnOf("dynamodb", `table/${TableName}`) },
  secretsmanager: { name: "secretsmanager", resource: ({ SecretId }) => SecretId },
};

/** The clock skew that AWS accepts. */
const skewMs = 300_000;

const covers = (pattern: string, text: string): boolean => {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(text);
};

/** True if one of the statements grants the action on the resource. */
export const grants = (statements: readonly Statement[], action: string, resource: string): boolean =>
  statements.some(
    ({ Action, Resource }) =>
      Action.some((one) => covers(one, action)) && Resource.some((one) => covers(one, resource)),
  );

const instantOf = (stamp: string): number =>
  Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));

const headerOf = (request: IncomingMessage, name: string): string => String(request.headers[name] ?? "");

type Sent = { readonly text: string; readonly at: string };
type Refusal = { readonly type: string; readonly message: string };
type Upstreams = { readonly sqs: string; readonly dynamodb: string };

class Door implements Guard {
  endpoint = "";
  readonly secrets = new Map<string, string>();
  readonly asked = new Map<string, number>();
  readonly refused: string[] = [];
  watch: Guard["watch"] = () => {};
  readonly #upstreams: Upstreams;
  readonly #now: () => number;
  readonly #rights = new Map<string, readonly Statement[]>();
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((cause: unknown) => response.writeHead(500).end(String(cause)));
  });

  constructor(upstreams: Upstreams, now: () => number) {
    this.#upstreams = upstreams;
    this.#now = now;
  }

  async open(): Promise<this> {
    this.endpoint = `http://127.0.0.1:${await listening(this.#server)}`;
    return this;
  }

  admit(accessKey: string, statements: readonly Statement[]): void {
    this.#rights.set(accessKey, statements);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [prefix = "", command = ""] = headerOf(request, "x-amz-target").split(".");
    const service = services[prefix];
    const accessKey = /Credential=([^/]+)\//.exec(headerOf(request, "authorization"))?.[1] ?? "";
    const text = await textOf(request);
    if (service === undefined) {
      this.#refuse(response, "UnknownOperationException", `no service ${prefix}`);
      return;
    }
    const refusal = this.#judge(service, command, accessKey, { text, at: headerOf(request, "x-amz-date") });
    if (refusal !== undefined) {
      this.#refuse(response, refusal.type, refusal.message);
      return;
    }
    await this.watch(accessKey, `${service.name}:${command}`);
    if (service.name === "secretsmanager") this.#tell(response, bodyShape.parse(JSON.parse(text)).SecretId);
    else
      await this.#forward(
        request,
        response,
        service.name === "sqs" ? this.#upstreams.sqs : this.#upstreams.dynamodb,
        text,
      );
  }

  #judge(service: Service, command: string, accessKey: string, sent: Sent): Refusal | undefined {
    const action = `${service.name}:${command.replace(/Batch$/, "")}`;
    const count = `${accessKey} ${action}`;
    this.asked.set(count, (this.asked.get(count) ?? 0) + 1);
    const resource = service.resource(bodyShape.parse(JSON.parse(sent.text)));
    if (Math.abs(this.#now() - instantOf(sent.at)) > skewMs)
      return { type: "InvalidSignatureException", message: "Signature expired" };
    if (grants(this.#rights.get(accessKey) ?? [], action, resource)) return undefined;
    this.refused.push(`${accessKey} may not ${action} on ${resource}`);
    return { type: "AccessDeniedException", message: `${accessKey} is not authorized to perform: ${action}` };
  }

  async #forward(request: IncomingMessage, response: ServerResponse, to: string, body: string): Promise<void> {
    const kept = ["authorization", "content-type", "x-amz-date", "x-amz-target"];
    const headers = Object.fromEntries(kept.map((name) => [name, headerOf(request, name)]));
    const answer = await fetch(to, { method: "POST", headers, body });
    const crc = answer.headers.get("x-amz-crc32");
    response.writeHead(answer.status, {
      "content-type": answer.headers.get("content-type") ?? "application/x-amz-json-1.0",
      ...(crc === null ? {} : { "x-amz-crc32": crc }),
    });
    response.end(Buffer.from(await answer.arrayBuffer()));
  }

  #tell(response: ServerResponse, arn: string): void {
    const text = this.secrets.get(arn);
    if (text === undefined) this.#refuse(response, "ResourceNotFoundException", "no such secret");
    else response.end(JSON.stringify({ ARN: arn, SecretString: text }));
  }

  #refuse(response: ServerResponse, type: string, message: string): void {
    response.writeHead(400, { "content-type": "application/x-amz-json-1.0", "x-amzn-errortype": type });
    response.end(JSON.stringify({ __type: type, message }));
  }
}

/** Opens the proxy. `now` is AWS's clock, epoch ms. */
export const openGuard = (upstreams: Upstreams, now: () => number = Date.now): Promise<Guard> =>
  new Door(upstreams, now).open();
