/** The two servers that scenarios run against: the simulator, and the API server of a kubeconfig. */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import type { Simulator } from "../../../shared/simulator/open.ts";
import type { Api, Said } from "./scenario.ts";

const bodyOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const typed = (body: unknown, headers: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  accept: "application/json",
  ...(body !== undefined && { "content-type": "application/json" }),
  ...headers,
});

export const simulatorApi = (simulator: Simulator): Api => ({
  call: async (method, path, body, headers) => {
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const answer = simulator.handle({ method, path, headers: typed(body, headers), body: text });
    return { status: answer.status, body: bodyOf(answer.body), warning: answer.headers["warning"] };
  },
  watch: async (path, count) => {
    const lines: string[] = [];
    const opened = simulator.door.watch(
      { method: "GET", path, headers: {} },
      { line: (text) => lines.push(text), end: () => {} },
    );
    simulator.clock.advanceTo(simulator.clock.now() + 500);
    if ("close" in opened) opened.close();
    else return [{ status: opened.status, body: bodyOf(opened.body) }];
    return lines.slice(0, count).map(bodyOf);
  },
  hooks: { url: "https://127.0.0.1:8443", caBundle: "" },
  settle: async () => simulator.clock.advanceTo(simulator.clock.now() + 3000),
});

const pem = (data: string | undefined): string | undefined =>
  data === undefined ? undefined : Buffer.from(data, "base64").toString();

type Kubeconfig = {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
};

const secret = (fields: Readonly<Record<string, string>>, name: string): string | undefined =>
  pem(fields[`${name}-data`]) ?? (fields[name] === undefined ? undefined : readFileSync(fields[name], "utf8"));

export const clusterApi = (kubeconfig: string, hooks: Api["hooks"], patience = 1): Api => {
  const config: Kubeconfig = parse(readFileSync(kubeconfig, "utf8"));
  const cluster = config.clusters[0]?.cluster ?? {};
  const user = config.users[0]?.user ?? {};
  const tls = {
    ca: secret(cluster, "certificate-authority"),
    cert: secret(user, "client-certificate"),
    key: secret(user, "client-key"),
  };
  const token: Record<string, string> = user["token"] === undefined ? {} : { authorization: `Bearer ${user["token"]}` };
  const open = (method: string, path: string, body: unknown, headers: Readonly<Record<string, string>> | undefined) => {
    const url = new URL(cluster["server"] ?? "");
    const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
    const length = { "content-length": String(Buffer.byteLength(text)) };
    const all = { ...token, ...typed(body, headers), ...length };
    const { cert, key, ...anonymous } = tls;
    const identity = headers?.["authorization"] === undefined ? tls : anonymous;
    const sent = request({ ...identity, host: url.hostname, port: url.port, method, path, headers: all });
    sent.end(text);
    return sent;
  };
  return {
    call: (method, path, body, headers) =>
      new Promise<Said>((resolve, reject) => {
        const sent = open(method, path, body, headers);
        sent.on("error", reject);
        sent.on("response", async (answer) => {
          const text = (await answer.setEncoding("utf8").toArray()).join("");
          const warning = answer.headers["warning"];
          resolve({
            status: answer.statusCode ?? 0,
            body: bodyOf(text),
            warning: warning === undefined ? undefined : String(warning),
          });
        });
      }),
    watch: async (path, count) => {
      const sent = open("GET", path, undefined, undefined);
      let text = "";
      let status = 200;
      sent.on("error", () => {});
      sent.on("response", (answer) => {
        status = answer.statusCode ?? 0;
        answer.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
      });
      await sleep(700 * patience);
      sent.destroy();
      if (status !== 200) return [{ status, body: bodyOf(text) }];
      return text
        .split("\n")
        .filter((line) => line !== "")
        .slice(0, count)
        .map(bodyOf);
    },
    hooks,
    settle: () => sleep(1200 * patience),
  };
};
