/** HTTP functions as processes: the clients that they answer when client certificates are required. */
import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  X509CertificateGenerator,
} from "../../../../shared/adapters/certificates/library.ts";
import { makePair, type Pair } from "../../../../shared/adapters/certificates/pair.ts";
import { serveUntil } from "../../../../shared/deployments/http/process.ts";
import { submitterApp } from "../../../../shared/deployments/submitter/function.ts";
import { freePort } from "../../../support/port.ts";

type Client = Pick<Pair, "cert" | "key">;

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Returns a client with a self-signed certificate: a server that trusts it names that certificate as an authority. */
const makeClient = async (name: string): Promise<Client> => {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const cert = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    extensions: [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return { cert: cert.toString("pem"), key: `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n` };
};

/** Returns the HTTP status, or the error by which the connection was refused. */
const ask = (port: number, ca: string, client: Partial<Client>): Promise<string> =>
  new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, path: "/healthz", ca, ...client, agent: false }, (response) => {
      response.resume();
      resolve(`${response.statusCode}`);
    });
    asked.on("error", (cause) => resolve("code" in cause ? String(cause.code) : cause.message));
    asked.end();
  });

describe("the submitter with required client certificates", () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-serving-"));
  const stopping = Promise.withResolvers<void>();
  const world = { port: 0, ca: "", known: { cert: "", key: "" }, stranger: { cert: "", key: "" } };
  let served: Promise<void> = Promise.resolve();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  before(async () => {
    const pair = await makePair(["127.0.0.1"], Date.now());
    const [known, stranger, port] = await Promise.all([makeClient("operator"), makeClient("stranger"), freePort()]);
    Object.assign(world, { port, ca: pair.ca, known, stranger });
    const settings = {
      ...{ listen: `127.0.0.1:${port}`, logLevel: "info" as const },
      tlsCertFile: file("tls.crt", pair.cert),
      tlsKeyFile: file("tls.key", pair.key),
      tlsClientCaFile: file("clients.crt", known.cert),
    };
    const never = (): Promise<never> => Promise.reject(new Error("not asked for"));
    const cluster = {
      get: never,
      list: never,
      proxyGet: never,
      logEnd: never,
      create: never,
      remove: never,
      evict: never,
      patch: never,
      patchStatus: never,
    };
    const app = submitterApp({ cluster, sparkVersion: "4.1.1", now: Date.now, atOnce: 1 });
    served = serveUntil(settings, app, stopping.promise);
    for (let tries = 0; tries < 50 && (await ask(port, world.ca, known)) === "ECONNREFUSED"; tries++)
      await new Promise((resolve) => setTimeout(resolve, 20));
  });
  after(async () => {
    stopping.resolve();
    await served;
    rmSync(folder, { recursive: true });
  });

  const clients: readonly { name: string; client: () => Partial<Client>; want: RegExp }[] = [
    { name: "answers a client with a certificate of its authority", client: () => world.known, want: /^200$/ },
    {
      name: "refuses a client with a certificate of another authority",
      client: () => world.stranger,
      want: /^(ERR_SSL|ECONNRESET|EPIPE)/,
    },
    { name: "refuses a client without a certificate", client: () => ({}), want: /^(ERR_SSL|ECONNRESET|EPIPE)/ },
  ];
  for (const { name, client, want } of clients) {
    test(name, async () => assert.match(await ask(world.port, world.ca, client()), want));
  }
});
