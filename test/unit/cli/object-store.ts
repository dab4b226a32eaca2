/**
 * A small object store on this machine: the requests of S3's and Google's SDKs for a bucket when a file is uploaded.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Stored = {
  readonly text: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly access: string | undefined;
};

export type ObjectStore = {
  readonly url: string;
  /** Objects by `BUCKET/KEY`. */
  readonly objects: Map<string, Stored>;
  /** Keys in the order of their uploads. */
  readonly puts: readonly string[];
  readonly close: () => Promise<void>;
};

type Reply = { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };
type Ask = { readonly request: IncomingMessage; readonly url: URL; readonly body: Buffer };

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const md5 = (text: string) => createHash("md5").update(text);

/** Refusals, by the bucket's name. */
const refusing: Readonly<Record<string, { readonly status: number; readonly code: string }>> = {
  forbidden: { status: 403, code: "AccessDenied" },
  missing: { status: 404, code: "NoSuchBucket" },
  elsewhere: { status: 301, code: "PermanentRedirect" },
};

const headersFrom = (request: IncomingMessage, prefix: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), String(value)]] : [],
    ),
  );

const s3 = (
  { objects, puts }: { objects: Map<string, Stored>; puts: string[] },
  { request, url, body }: Ask,
): Reply => {
  const path = decodeURIComponent(url.pathname.slice(1));
  const refusal = refusing[path.split("/")[0] ?? ""];
  // As S3: a HEAD of a bucket that does not exist answers only 404, and no answer to a HEAD has a body.
  if (refusal !== undefined) {
    const text = `<Error><Code>${refusal.code}</Code><Message>refused</Message></Error>`;
    return { status: refusal.status, ...(request.method === "HEAD" ? {} : { body: text }) };
  }
  const existing = objects.get(path);
  if (request.method === "HEAD") {
    if (existing === undefined) return { status: 404 };
    const own = Object.entries(existing.metadata).map(([name, value]) => [`x-amz-meta-${name}`, value]);
    return { status: 200, headers: { etag: `"${md5(existing.text).digest("hex")}"`, ...Object.fromEntries(own) } };
  }
  const text = body.toString();
  if (request.headers["content-md5"] !== md5(text).digest("base64")) return { status: 400 };
  const access = request.headers["x-amz-acl"];
  objects.set(path, { text, metadata: headersFrom(request, "x-amz-meta-"), access: access?.toString() });
  puts.push(path);
  return { status: 200 };
};

const json = (status: number, value: object): Reply => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

const gcs = (
  { objects, puts }: { objects: Map<string, Stored>; puts: string[] },
  { request, url, body }: Ask,
): Reply => {
  const [, bucket = "", key = ""] = /\/b\/([^/]+)\/o(?:\/(.+))?$/.exec(url.pathname) ?? [];
  const refusal = refusing[bucket];
  if (refusal !== undefined)
    return json(refusal.status, { error: { code: refusal.status, message: "refused", errors: [] } });
  if (request.method === "GET") {
    const existing = objects.get(`${bucket}/${decodeURIComponent(key)}`);
    if (existing === undefined) return json(404, { error: { code: 404, message: "No such object" } });
    return json(200, { md5Hash: md5(existing.text).digest("base64"), metadata: existing.metadata });
  }
  const boundary = /boundary=(\S+)/.exec(String(request.headers["content-type"]))?.[1] ?? "";
  const [, head = "", content = ""] = body.toString().split(`--${boundary}`);
  const part = (text: string) => text.slice(text.indexOf("\r\n\r\n") + 4).replace(/\r\n$/, "");
  const { name, metadata } = JSON.parse(part(head));
  const path = `${bucket}/${url.searchParams.get("name") ?? name}`;
  const text = part(content);
  objects.set(path, { text, metadata: metadata ?? {}, access: url.searchParams.get("predefinedAcl") ?? undefined });
  puts.push(path);
  return json(200, { name, bucket, md5Hash: md5(text).digest("base64"), size: String(text.length) });
};

export const openObjectStore = async (): Promise<ObjectStore> => {
  const state = { objects: new Map<string, Stored>(), puts: [] as string[] };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const isGoogle = /^(\/upload)?\/storage\/v1\//.test(url.pathname);
    const { status, headers, body } = (isGoogle ? gcs : s3)(state, { request, url, body: await bodyOf(request) });
    response.writeHead(status, headers).end(body);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    ...state,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
