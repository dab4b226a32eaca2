/**
 * Floods of both ports of a host, and of functions as processes, in a container's memory: crowds of connections, of
 * unfinished bodies and of large reviews by strangers. An honest request among them is answered in time.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makePair } from "../../../shared/adapters/certificates/pair.ts";
import { startFunction } from "../../real/e2e/installed.ts";
import { sparkPi } from "../../support/pi.ts";
import { freePort } from "../../support/port.ts";
import { type Attack, longestSilenceMs, mostResident, must, onDispatcher } from "./attack.ts";
import { confine, heapEnvironment } from "./confinement.ts";
import { type Flood, flooding, type Target } from "./flooder.ts";
import { startProbe } from "./probe.ts";
import { fresh, pathOf, type Stand } from "./stand.ts";

const head = (path: string, field: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${field}\r\n\r\n`;

/** A body that lacks its last letters. */
export const unfinished = (path: string, letters: number): Pick<Flood, "sends" | "letters"> => ({
  sends: head(path, `content-length: ${letters + 10}`),
  letters,
});

/** A request with its whole body. */
export const whole = (path: string, body: string): string => `${head(path, `content-length: ${body.length}`)}${body}`;

/** A review of an application with much in it. */
const review = (name: string, bytes: number): string => {
  const object = { ...sparkPi(name), apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication" };
  const metadata = { ...object.metadata, namespace: "default", annotations: { filler: "x".repeat(bytes) } };
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      ...{ uid: name, operation: "CREATE", namespace: "default", name },
      kind: { group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" },
      resource: { group: "sparkoperator.k8s.io", version: "v1beta2", resource: "sparkapplications" },
      object: { ...object, metadata },
    },
  });
};

/** A text of JSON with as many objects of different fields as fit: its parsed form is many times as large. */
const fields = (bytes: number): string => {
  const parts: string[] = [];
  for (let at = 0, length = 0; length < bytes; at += 1) {
    const part = `{"f${at}":${at}}`;
    parts.push(part);
    length += part.length + 1;
  }
  return `[${parts.join(",")}]`;
};

/** The longest time of an honest request among a flood, ms: the API server waits for three seconds. */
const honestMs = 3_000;

/** The fewest honest requests of a flood: a tenth of them may fail, and a tenth of a handful is none. */
const fewestAsked = 20;

/** Asks again and again during a flood, which lasts until enough was asked. Throws if answers are wrong or late. */
export const beside = async (
  { over, enough }: ReturnType<typeof flooding>,
  ask: () => Promise<boolean>,
): Promise<undefined> => {
  let isOver = false;
  const ended = over.finally(() => {
    isOver = true;
  });
  const failures: string[] = [];
  let asked = 0;
  await sleep(500);
  while (!isOver) {
    const began = performance.now();
    const holds = await ask().catch((cause: unknown) => String(cause));
    const ms = performance.now() - began;
    asked += 1;
    if (holds !== true) failures.push(`was answered wrongly (${holds})`);
    else if (ms > honestMs) failures.push(`took ${Math.round(ms)} ms`);
    if (asked === fewestAsked) enough();
    await sleep(200);
  }
  await ended;
  must(failures.length <= asked / 10, `${failures.length} of ${asked} honest requests: one ${failures[0]}`);
  return undefined;
};

const admissionPort: Target = { port: 19_443, secure: true };

/** True if the API server had an answer of admission: without one it accepts the object. */
const isReviewed = async ({ call }: Stand): Promise<boolean> =>
  (await call("POST", `${pathOf("SparkApplication", "default")}?dryRun=All`, sparkPi(fresh("with.dots")))).status >=
  400;

const large = 8_000_000;

const reviews: readonly (readonly [string, Flood, true?])[] = [
  [
    "100 connections with 8 MB of a body each, and silence",
    { connections: 100, ...unfinished("/validate", large) },
    true,
  ],
  [
    "400 connections of 20 callers with 8 MB of a body each",
    { connections: 400, addresses: 20, ...unfinished("/mutate", large) },
  ],
  [
    "50 connections with 8 MB of a body each, opened again when they end",
    { connections: 50, again: true, ...unfinished("/validate", large) },
  ],
  ["1,500 reviews of 290 kB at once", { connections: 1_500, sends: whole("/validate", review("flood", 290_000)) }],
  ["1,500 connections that say nothing", { connections: 1_500, sends: "" }],
  ["1,500 connections that begin no TLS", { connections: 1_500, plain: true, sends: "" }],
  [
    "300 endless bodies without a length",
    {
      connections: 300,
      sends: head("/validate", "transfer-encoding: chunked"),
      drip: `1000\r\n${"x".repeat(4_096)}\r\n`,
    },
  ],
  [
    "200 senders of a letter of their bodies now and then",
    { connections: 200, sends: head("/validate", `content-length: ${large}`), drip: "x" },
  ],
  [
    "40 bodies of 4 MB with hundreds of thousands of objects",
    { connections: 40, sends: whole("/validate", fields(4_000_000)) },
  ],
  [
    "400 connections with a hundred requests each, whose answers nobody reads",
    { connections: 400, sends: `GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(100) },
  ],
];

const atAdmission: readonly Attack[] = reviews.map(([name, flood, short]) => ({
  ...{ class: "floods", name: `admission: ${name}`, stage: "admission" },
  ...(short === undefined ? {} : { short }),
  run: (stand) => beside(flooding(admissionPort, flood), () => isReviewed(stand)),
}));

const alert = 255_000;

const doors: readonly (readonly [string, Flood, true?])[] = [
  ["2,500 connections with 255 kB of an alert each", { connections: 2_500, ...unfinished("/alerts", alert) }, true],
  ["7,000 connections with 255 kB of an alert each", { connections: 7_000, ...unfinished("/alerts", alert) }],
  [
    "1,000 whole alerts of 255 kB without proof",
    { connections: 1_000, again: true, sends: whole("/alerts", "x".repeat(alert)) },
  ],
  ["2,500 connections that say nothing", { connections: 2_500, sends: "" }],
  [
    "1,000 endless bodies without a length",
    {
      connections: 1_000,
      sends: head("/events", "transfer-encoding: chunked"),
      drip: `1000\r\n${"x".repeat(4_096)}\r\n`,
    },
  ],
];

const portOf = ({ host }: Stand): number => Number(new URL(host.url).port);

const isHealthy = async (url: string): Promise<boolean> => {
  const { ok } = await fetch(`${url}/healthz`, {
    headers: { connection: "close" },
    signal: AbortSignal.timeout(honestMs),
  });
  return ok;
};

const atDoor: readonly Attack[] = doors.map(([name, flood, short]) => ({
  ...{ class: "floods", name: `door: ${name}`, stage: "simulated" },
  ...(short === undefined ? {} : { short }),
  run: (stand) => beside(flooding({ port: portOf(stand), secure: false }, flood), () => isHealthy(stand.host.url)),
}));

/** A function as a process in a container's memory. */
export type Confined = {
  readonly port: number;
  readonly child: ChildProcess;
  readonly resident: () => number;
  readonly log: () => string;
};

const residentOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;

/** Runs with a function that is a process of its own, and checks that it lives, answers and stays small. */
export const withFunction = async (
  name: string,
  env: (dir: string, port: number) => Promise<Readonly<Record<string, string>>>,
  act: (one: Confined) => Promise<undefined>,
): Promise<undefined> => {
  const dir = mkdtempSync(join(tmpdir(), "rekindle-flood-"));
  const port = await freePort();
  const file = join(dir, "log");
  const child = startFunction(
    name,
    { REKINDLE_LISTEN: `127.0.0.1:${port}`, ...heapEnvironment(), ...(await env(dir, port)) },
    join(dir, "log"),
  );
  const pid = child.pid ?? 0;
  const release = confine(pid);
  const log = (): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
  try {
    for (let tries = 0; !/serving|dispatch/.test(log()); tries += 1) {
      must(tries < 200 && child.exitCode === null, `${name} did not start: ${log().slice(-1_000)}`);
      await sleep(100);
    }
    await act({ port, child, log, resident: () => residentOf(pid) });
    must(
      child.exitCode === null && child.signalCode === null,
      `${name} ended (${child.signalCode}): ${log().slice(-1_000)}`,
    );
    const resident = residentOf(pid);
    must(resident <= mostResident, `${name} grew to ${Math.round(resident)} MiB`);
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    release();
  }
  return undefined;
};

/** Posts a review to a function; true if it was answered. */
const reviewed = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const target = {
      port,
      host: "127.0.0.1",
      path: "/validate",
      method: "POST",
      rejectUnauthorized: false,
      agent: false,
    } as const;
    const sent = request({ ...target, timeout: honestMs }, (answer) => {
      answer.resume();
      answer.once("end", () => resolve(answer.statusCode === 200));
    });
    sent.once("timeout", () => sent.destroy(new Error("no answer in time")));
    sent.once("error", reject);
    sent.end(review(fresh("honest"), 1_000));
  });

const certificateIn = async (dir: string): Promise<Readonly<Record<string, string>>> => {
  const { cert, key } = await makePair(["127.0.0.1"], Date.now());
  writeFileSync(join(dir, "tls.crt"), cert);
  writeFileSync(join(dir, "tls.key"), key);
  return { REKINDLE_TLS_CERT_FILE: join(dir, "tls.crt"), REKINDLE_TLS_KEY_FILE: join(dir, "tls.key") };
};

const atFunctions: readonly Attack[] = [
  ...reviews.slice(0, 4).map(
    ([name, flood]): Attack => ({
      ...{ class: "floods", name: `function admission: ${name}`, stage: "simulated" },
      run: () =>
        withFunction("admission", certificateIn, ({ port }) =>
          beside(flooding({ port, secure: true }, flood), () => reviewed(port)),
        ),
    }),
  ),
  ...doors.slice(0, 3).map(
    ([name, flood]): Attack => ({
      ...{ class: "floods", name: `function api: ${name}`, stage: "simulated" },
      run: () =>
        withFunction(
          "api",
          async () => ({ REKINDLE_FIFO_URL: "https://127.0.0.1:9/000000000000/steps.fifo", AWS_REGION: "none" }),
          async ({ port, child }) => {
            const url = `http://127.0.0.1:${port}`;
            const probe = startProbe(url, child.pid ?? 0);
            await beside(flooding({ port, secure: false }, flood), () => isHealthy(url));
            const silence = probe.longestSince(0);
            await probe.stop();
            must(silence <= longestSilenceMs, `the function was silent for ${Math.round(silence)} ms`);
            return undefined;
          },
        ),
    }),
  ),
];

export const floods: readonly Attack[] = [
  ...atAdmission,
  ...atDoor,
  ...onDispatcher([...atDoor, ...atAdmission]),
  ...atFunctions,
];
