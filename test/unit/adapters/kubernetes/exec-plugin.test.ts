/** Exec plugins: how long their credentials are used, and that none of their processes is left behind. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import https, { type RequestOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { makePair } from "../../../../shared/adapters/certificates/pair.ts";
import { openExecAuthenticator } from "../../../../shared/adapters/kubernetes/exec-plugin.ts";
import { httpsTransport } from "../../../../shared/adapters/kubernetes/https.ts";
import { findCluster } from "../../../../shared/adapters/kubernetes/kubeconfig.ts";
import { cert, key } from "./certificate.ts";

const apiVersion = "client.authentication.k8s.io/v1";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-exec-"));
});
after(() => rm(folder, { recursive: true }));

/** Opens the authenticator of a plugin that runs this script. */
const opened = (script: string, command = process.execPath) => {
  const args = command === process.execPath ? ["-e", script] : ["-c", script];
  return openExecAuthenticator({ exec: { apiVersion, command, args }, command, cluster: {}, env: process.env });
};

const user = { name: "u" };

/** Returns the credential for a request; a plugin prints its own count. */
const tokenOf = async (plugin: ReturnType<typeof opened>): Promise<string> => {
  const options: RequestOptions = {};
  await plugin.applyAuthentication(user, options);
  return String(Object.fromEntries(Object.entries(options.headers ?? {}))["Authorization"]);
};

/** A script that prints a token with the number of its run, and an end if there is one. */
const counting = (name: string, expirationTimestamp?: string): string => `
  const fs = require("node:fs");
  fs.appendFileSync("${join(folder, name)}", "x");
  const token = "t" + fs.readFileSync("${join(folder, name)}", "utf8").length;
  const status = { token, expirationTimestamp: ${JSON.stringify(expirationTimestamp)} };
  console.log(JSON.stringify({ apiVersion: "${apiVersion}", kind: "ExecCredential", status }));`;

/** False also for a process that has ended and that its parent has not waited for. */
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, "utf8"));
  } catch {
    return false;
  }
};

/** Waits until a script has written its process' number. */
const pidIn = async (name: string): Promise<number> => {
  const path = join(folder, name);
  while (!existsSync(path) || !readFileSync(path, "utf8").endsWith("\n")) await sleep(10);
  return Number(readFileSync(path, "utf8"));
};

const hasEnded = async (pid: number): Promise<boolean> => {
  for (let tries = 0; tries < 200 && isAlive(pid); tries += 1) await sleep(10);
  return !isAlive(pid);
};

describe("a plugin's credential", () => {
  it("without an end is used until the server refuses it", async () => {
    const plugin = opened(counting("endless"));
    assert.deepEqual([await tokenOf(plugin), await tokenOf(plugin)], ["Bearer t1", "Bearer t1"]);
    assert.equal(plugin.expiresAt(), undefined);
    plugin.forget();
    assert.equal(await tokenOf(plugin), "Bearer t2");
  });

  it("is used until its end, and then made anew", async (context) => {
    context.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 2, 9, 0, 0) });
    const plugin = opened(counting("ending", "2026-11-02T09:05:00Z"));
    assert.equal(await tokenOf(plugin), "Bearer t1");
    assert.equal(plugin.expiresAt(), Date.UTC(2026, 10, 2, 9, 5, 0));
    context.mock.timers.tick(299_999);
    assert.equal(await tokenOf(plugin), "Bearer t1");
    context.mock.timers.tick(1);
    assert.equal(await tokenOf(plugin), "Bearer t2");
  });
});

describe("a plugin's certificate", () => {
  it("is replaced when it has expired, and the next request has a connection with the new one", async () => {
    const other = await makePair(["x.test"], Date.now());
    await writeFile(join(folder, "first"), JSON.stringify({ clientCertificateData: cert, clientKeyData: key }));
    await writeFile(
      join(folder, "second"),
      JSON.stringify({ clientCertificateData: other.cert, clientKeyData: other.key }),
    );
    const script = `
      const fs = require("node:fs");
      const [now, file] = [Date.now(), fs.existsSync("${folder}/seen") ? "second" : "first"];
      fs.writeFileSync("${folder}/seen", "");
      const expirationTimestamp = new Date(now + 1_500).toISOString();
      const status = { ...JSON.parse(fs.readFileSync("${folder}/" + file, "utf8")), expirationTimestamp };
      console.log(JSON.stringify({ apiVersion: "${apiVersion}", kind: "ExecCredential", status }));`;
    const names: unknown[] = [];
    const server = https.createServer(
      { cert, key, requestCert: true, rejectUnauthorized: false },
      (incoming, answer) => {
        names.push((incoming.socket as TLSSocket).getPeerCertificate().subject?.CN);
        answer.end("{}");
      },
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const config = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": "it" },
      contexts: [{ name: "it", context: { cluster: "c", user: "u" } }],
      clusters: [{ name: "c", cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } }],
      users: [{ name: "u", user: { exec: { apiVersion, command: process.execPath, args: ["-e", script] } } }],
    };
    await writeFile(join(folder, "rotating"), JSON.stringify(config));
    const { endpoint } = await findCluster({ path: join(folder, "rotating"), env: process.env });
    const transport = httpsTransport(endpoint);
    const ask = () => transport.send({ method: "GET", path: "/", headers: {}, timeoutMs: 5_000 });
    try {
      await ask();
      await sleep(1_600);
      await ask();
      assert.deepEqual(names, ["api.test", "rekindle admission"]);
    } finally {
      transport.close();
      server.closeAllConnections();
      server.close();
    }
  });
});

describe("no process of a plugin is left behind", () => {
  it("when it has not answered within 30 s", async (context) => {
    const plugin = opened(`sleep 20 & echo $! > ${folder}/slow; sleep 20`, "sh");
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const asked = tokenOf(plugin).catch((cause: unknown) => cause);
    const pid = await pidIn("slow");
    context.mock.timers.tick(30_000);
    assert.match(String(await asked), /^KubeconfigError: the kubeconfig's exec plugin sh did not answer within 30 s$/);
    context.mock.timers.reset();
    assert.ok(await hasEnded(pid));
  });

  it("when it has answered, and the answer does not wait for it", async () => {
    const printed = JSON.stringify({ apiVersion, kind: "ExecCredential", status: { token: "t" } });
    const plugin = opened(`sleep 20 & echo $! > ${folder}/rest; echo '${printed}'`, "sh");
    assert.equal(await tokenOf(plugin), "Bearer t");
    assert.ok(await hasEnded(await pidIn("rest")));
  });

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "exit"] as const)
    it(`when its caller ends by ${signal}`, async () => {
      const file = `caller-${signal}`;
      const module = join(import.meta.dirname, "../../../../shared/adapters/kubernetes/exec-plugin.ts");
      const plugin = {
        exec: { apiVersion, command: "sh", args: ["-c", `echo $$ > ${folder}/${file}; sleep 20`] },
        ...{ command: "sh", cluster: {}, env: process.env },
      };
      const script = `
        import { openExecAuthenticator } from ${JSON.stringify(module)};
        openExecAuthenticator(${JSON.stringify(plugin)}).applyAuthentication({ name: "u" }, {}).catch(() => {});
        process.on("message", () => process.exit(0));`;
      const caller = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      });
      const pid = await pidIn(file);
      if (signal === "exit") caller.send("end");
      else caller.kill(signal);
      const [code, by] = await once(caller, "exit");
      assert.deepEqual([code, by], signal === "exit" ? [0, null] : [null, signal]);
      assert.ok(await hasEnded(pid));
    });
});
