/**
 * Kubeconfigs are read as kubectl reads them: each row's requests carry the same credentials by both, or both refuse the
 * files. The real kubectl is the one of `npm run setup -- go`; without it only Rekindle's requests are tried.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { httpsTransport } from "../../../../shared/adapters/kubernetes/https.ts";
import { findCluster } from "../../../../shared/adapters/kubernetes/kubeconfig.ts";
import { controlPlaneFiles } from "../../../real/setup/go.ts";
import { cert, key } from "./certificate.ts";

const { kubectl } = await controlPlaneFiles();
const hasKubectl = existsSync(kubectl);

let folder = "";
const closers: (() => void)[] = [];

/** What the API server sees of a request. */
type Seen = {
  readonly authorization?: string | undefined;
  /** The name in the client's certificate. */
  readonly certificate?: string | undefined;
  /** Headers of an impersonation, with their values. */
  readonly acts?: readonly (readonly [string, readonly string[]])[];
};

let seen: Seen | undefined;

const seenIn = (incoming: IncomingMessage): Seen => {
  const socket = incoming.socket as TLSSocket;
  const acts = Object.entries(incoming.headersDistinct).filter(([name]) => name.startsWith("impersonate-"));
  return {
    authorization: incoming.headers.authorization,
    certificate: socket.getPeerCertificate().subject?.CN?.toString(),
    acts: acts.map(([name, values]): [string, string[]] => [name, values ?? []]).sort(),
  };
};

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
};

let [server, httpProxy, socksProxy] = ["", "", ""];
/** Connections through the proxies. */
let tunnels: string[] = [];

const joined = (client: Socket, port: number): void => {
  const upstream = connect(port, "127.0.0.1");
  upstream.pipe(client).pipe(upstream);
  for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
};

/** A proxy of SOCKS 5 without a login: a greeting, an address, and then bytes. */
const socks = createServer((client) => {
  client.once("data", () => {
    client.write(Buffer.from([5, 0]));
    client.once("data", (request: Buffer) => {
      tunnels.push("socks5");
      client.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
      joined(client, request.readUInt16BE(request.length - 2));
    });
  });
});

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-kubectl-"));
  const api = https.createServer({ cert, key, requestCert: true, rejectUnauthorized: false }, (incoming, answer) => {
    seen = seenIn(incoming);
    answer.setHeader("content-type", "application/json").end("{}");
  });
  closers.push(() => api.closeAllConnections());
  server = `https://127.0.0.1:${await listen(api)}`;
  const proxy = http.createServer();
  proxy.on("connect", (incoming, client: Socket) => {
    tunnels.push("http");
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    joined(client, Number(new URL(`http://${incoming.url}`).port));
  });
  closers.push(() => proxy.closeAllConnections());
  httpProxy = `http://127.0.0.1:${await listen(proxy)}`;
  socksProxy = `socks5://127.0.0.1:${await listen(socks)}`;
});
after(async () => {
  for (const close of closers) close();
  await rm(folder, { recursive: true });
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");

type Entries = Readonly<Record<string, unknown>>;

/** A kubeconfig as text. Tokens in `more` replace what `cluster` and `user` give. */
const config = (user: Entries, cluster: Entries = {}, more: Entries = {}): string =>
  JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "it" },
    contexts: [{ name: "it", context: { cluster: "c", user: "u" } }],
    clusters: [
      {
        name: "c",
        cluster: { server, "tls-server-name": "api.test", "certificate-authority-data": base64(cert), ...cluster },
      },
    ],
    users: [{ name: "u", user }],
    ...more,
  });

const group = "client.authentication.k8s.io";

/** A plugin of a relative path, which prints a token with what it was told, or this status. */
const plugin = (status?: Entries, more: Entries = {}): Entries => ({
  exec: {
    ...{ apiVersion: `${group}/v1`, command: "./plugin.sh", interactiveMode: "IfAvailable", provideClusterInfo: true },
    ...(status === undefined ? {} : { args: [JSON.stringify(status)] }),
    ...more,
  },
});

const pluginText = `#!${process.execPath}
const { spec } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
const { server, "tls-server-name": name, config } = spec.cluster;
const told = [spec.interactive, server.slice(0, 17), name, config?.audience, process.env.MORE].join("_");
const status = process.argv[2] === undefined ? { token: told } : JSON.parse(process.argv[2]);
console.log(JSON.stringify({ apiVersion: process.env.PRINTED || "${group}/v1", kind: "ExecCredential", status }));
`;

type Row = {
  readonly name: string;
  /** Texts of the files, in the order of KUBECONFIG. */
  readonly files: () => readonly string[];
  readonly context?: string;
  /** What the server sees, or the refusal of Rekindle; kubectl must refuse, too. */
  readonly expected: Seen | RegExp;
  readonly tunnels?: readonly string[];
};

const pair = { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
const extension = { name: `${group}/exec`, extension: { audience: "batch" } };

const rows: readonly Row[] = [
  { name: "a token", files: () => [config({ token: "t" })], expected: { authorization: "Bearer t" } },
  {
    name: "a password",
    files: () => [config({ username: "a", password: "b" })],
    expected: { authorization: `Basic ${base64("a:b")}` },
  },
  { name: "a certificate", files: () => [config(pair)], expected: { certificate: "api.test" } },
  {
    name: "a certificate in files that are beside the kubeconfig",
    files: () => [config({ "client-certificate": "cert.pem", "client-key": "key.pem" })],
    expected: { certificate: "api.test" },
  },
  {
    name: "a certificate and a token",
    files: () => [config({ ...pair, token: "t" })],
    expected: { certificate: "api.test", authorization: "Bearer t" },
  },
  {
    name: "a token in a file beside the kubeconfig, which wins over a token",
    files: () => [config({ token: "old", tokenFile: "token" })],
    expected: { authorization: "Bearer from-file" },
  },
  {
    name: "an authority in a file beside the kubeconfig",
    files: () => [config({ token: "t" }, { "certificate-authority-data": null, "certificate-authority": "cert.pem" })],
    expected: { authorization: "Bearer t" },
  },
  {
    name: "no verification",
    files: () => [config({ token: "t" }, { "certificate-authority-data": null, "insecure-skip-tls-verify": true })],
    expected: { authorization: "Bearer t" },
  },
  {
    name: "another user, with uid, groups and extras",
    files: () => [
      config({
        token: "t",
        as: "jäne",
        "as-uid": "7",
        "as-groups": ["devs", "ops"],
        "as-user-extra": { "Example.com/Scope %": ["a", "b"], plain: ["c"] },
      }),
    ],
    expected: {
      authorization: "Bearer t",
      acts: [
        ["impersonate-extra-example.com%2fscope%20%25", ["a", "b"]],
        ["impersonate-extra-plain", ["c"]],
        ["impersonate-group", ["devs", "ops"]],
        ["impersonate-uid", ["7"]],
        ["impersonate-user", [Buffer.from("jäne").toString("latin1")]],
      ],
    },
  },
  {
    name: "a plugin, which is told of the cluster",
    files: () => [config(plugin(undefined, { env: [{ name: "MORE", value: "more" }] }), { extensions: [extension] })],
    expected: { authorization: "Bearer false_https://127.0.0.1_api.test_batch_more" },
  },
  {
    name: "a plugin that gives a certificate",
    files: () => [config(plugin({ clientCertificateData: cert, clientKeyData: key }))],
    expected: { certificate: "api.test" },
  },
  {
    name: "a plugin beside a token",
    files: () => [config({ ...plugin({ token: "plugin" }), token: "t" })],
    expected: { authorization: "Bearer t" },
  },
  {
    name: "a plugin whose credential has expired",
    files: () => [config(plugin({ token: "t", expirationTimestamp: "2020-01-01T00:00:00Z" }))],
    expected: { authorization: "Bearer t" },
  },
  {
    name: "names in two files: the first entry of each, and the first current context",
    files: () => [
      config({ token: "first" }),
      config(
        { token: "second", as: "jane" },
        { server: "https://127.0.0.1:1" },
        { "current-context": "other", contexts: [{ name: "other", context: { cluster: "c", user: "u" } }] },
      ),
    ],
    expected: { authorization: "Bearer first" },
  },
  {
    name: "a context of the second file, with users of both",
    context: "other",
    files: () => [
      config({ token: "first" }),
      config(
        {},
        {},
        {
          contexts: [{ name: "other", context: { cluster: "c", user: "v" } }],
          users: [{ name: "v", user: { tokenFile: "token" } }],
        },
      ),
    ],
    expected: { authorization: "Bearer from-file" },
  },
  {
    name: "entries without content, which no context uses",
    files: () => [
      config({ token: "t" }, {}, { contexts: [{ name: "it", context: { cluster: "c", user: "u" } }, { name: "x" }] }),
    ],
    expected: { authorization: "Bearer t" },
  },
  {
    name: "a proxy of HTTP",
    files: () => [config({ token: "t" }, { "proxy-url": httpProxy })],
    expected: { authorization: "Bearer t" },
    tunnels: ["http"],
  },
  {
    name: "a proxy of SOCKS",
    files: () => [config({ token: "t" }, { "proxy-url": socksProxy })],
    expected: { authorization: "Bearer t" },
    tunnels: ["socks5"],
  },
  {
    name: "a name twice in one file",
    files: () => [
      config(
        {},
        {},
        {
          users: [
            { name: "u", user: { token: "a" } },
            { name: "u", user: { token: "b" } },
          ],
        },
      ),
    ],
    expected: /names the user u twice: keep one$/,
  },
  {
    name: "a token and a password",
    files: () => [config({ token: "t", username: "a", password: "b" })],
    expected: /has a token and a password: keep one$/,
  },
  {
    name: "groups without a user",
    files: () => [config({ token: "t", "as-groups": ["devs"] })],
    expected: /without as: name the user in as$/,
  },
  {
    name: "a certificate without its key",
    files: () => [config({ "client-certificate-data": base64(cert) })],
    expected: /has a client certificate without its key$/,
  },
  {
    name: "a plugin that fails",
    files: () => [config(plugin(undefined, { command: "false" }))],
    expected: /exec plugin false failed: it ended with 1$/,
  },
  {
    name: "a plugin that is not there",
    files: () => [config(plugin(undefined, { command: "./absent.sh" }))],
    expected: /exec plugin \.\/absent\.sh is not installed$/,
  },
  {
    name: "a plugin of another version",
    files: () => [config(plugin(undefined, { env: [{ name: "PRINTED", value: `${group}/v1beta1` }] }))],
    expected: /printed an ExecCredential of .*v1beta1, and not of .*\/v1$/,
  },
  {
    name: "a plugin that needs a terminal",
    files: () => [config(plugin(undefined, { interactiveMode: "Always" }))],
    expected: /needs a terminal/,
  },
  {
    name: "a provider that is not known",
    files: () => [config({ "auth-provider": { name: "openstack" } })],
    expected: /^auth provider openstack gave no token$/,
  },
  {
    name: "a context that is not there",
    context: "absent",
    files: () => [config({ token: "t" })],
    expected: /has no context absent/,
  },
];

const written = async (files: readonly string[], name: string): Promise<string> => {
  const place = join(folder, name.replace(/\W+/g, "-"));
  await mkdir(place);
  await writeFile(join(place, "cert.pem"), cert);
  await writeFile(join(place, "key.pem"), key);
  await writeFile(join(place, "token"), "from-file\n");
  await writeFile(join(place, "plugin.sh"), pluginText, { mode: 0o755 });
  const paths = files.map((_, index) => join(place, `config-${index}`));
  for (const [index, path] of paths.entries()) await writeFile(path, files[index] ?? "");
  return paths.join(delimiter);
};

type Request = (env: Readonly<Record<string, string | undefined>>, context: string | undefined) => Promise<unknown>;

const byRekindle: Request = async (env, context) => {
  const transport = httpsTransport((await findCluster({ env, context })).endpoint);
  try {
    await transport.send({ method: "GET", path: "/version", headers: {}, timeoutMs: 5_000 });
  } finally {
    transport.close();
  }
};

const byKubectl: Request = async (env, context) => {
  const args = ["get", "--raw", "/version", ...(context === undefined ? [] : ["--context", context])];
  const running = promisify(execFile)(kubectl, args, { env: { ...env }, timeout: 20_000 });
  running.child.stdin?.end();
  await running;
};

const nothing: Seen = { authorization: undefined, certificate: undefined, acts: [] };

const callers: Readonly<Record<string, { readonly request: Request; readonly skip: string | false }>> = {
  Rekindle: { request: byRekindle, skip: false },
  kubectl: { request: byKubectl, skip: hasKubectl ? false : "no kubectl: npm run setup -- go" },
};

for (const [caller, { request, skip }] of Object.entries(callers))
  describe(`${caller} reads a kubeconfig with`, () => {
    for (const { name, files, context, expected, tunnels: through = [] } of rows)
      it(name, { skip }, async () => {
        const KUBECONFIG = await written(files(), `${caller} ${name}`);
        const env = { PATH: process.env["PATH"], HOME: folder, KUBECONFIG };
        [seen, tunnels] = [undefined, []];
        const refusal = await request(env, context).then(
          () => undefined,
          (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
        );
        if (expected instanceof RegExp) {
          assert.equal(seen, undefined);
          assert.match(refusal ?? "", caller === "Rekindle" ? expected : /./);
        } else {
          assert.equal(refusal, undefined);
          assert.deepEqual([seen, tunnels], [{ ...nothing, ...expected }, through]);
        }
      });
  });
