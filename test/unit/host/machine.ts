/** `rekindle host` as a process runs it, on a simulator behind real HTTP, until the test stops it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiApp } from "../../../functions/api.ts";
import type { Tools } from "../../../shared/cli/io/tools.ts";
import { run } from "../../../shared/cli/program.ts";
import { runHost } from "../../../shared/deployments/host/process.ts";
import { plain } from "../../../shared/inspection/io/text.ts";
import { serveSimulator } from "../../../shared/simulator/http/serve.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { crds } from "../../support/crds.ts";
import type { Line } from "./stand.ts";

export type Running = {
  readonly out: readonly string[];
  readonly err: readonly string[];
  readonly lines: readonly Line[];
  /** Resolves to the URL of health and triggers when it is served. */
  door(): Promise<string>;
  /** SIGTERM. */
  stop(): void;
  readonly code: Promise<number>;
};

export type Machine = {
  readonly simulator: Simulator;
  /** Requests that reached the server, as `METHOD path`. */
  readonly asked: readonly string[];
  readonly folder: string;
  readonly kubeconfig: string;
  /**
   * Runs `rekindle host` with these arguments. The kubeconfig and a free port are added unless the arguments name
   * others.
   */
  host(...args: readonly string[]): Running;
  /** Sets the function that answers in place of the server; undefined passes the request on. */
  fault(fault: Fault): void;
};

type Fault = (ask: Parameters<Simulator["handle"]>[0]) => ReturnType<Simulator["handle"]> | undefined;

const beats = 4_000;

/** Checks a condition every 5 ms of real time; throws after 4,000 checks. */
export const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
  for (let left = beats; !(await isSo()); left--) {
    if (left === 0) throw new Error(`still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

const never = (): never => {
  throw new Error("not asked for");
};

const toolsFor = (said: Pick<Tools, "print" | "warn" | "host">): Tools => ({
  ...{
    version: "1.2.3",
    connect: never,
    preview: never,
    replay: never,
    page: never,
    crds: never,
    pages: never,
    demo: never,
    confirm: never,
    paint: plain,
    now: Date.now,
  },
  ...{ sleep: never, stdin: never, stopped: never, runs: never, forecast: never, flag: never },
  ...{
    recover: never,
    move: never,
    directions: never,
    carryRecord: never,
    render: never,
    check: never,
    policies: never,
  },
  ...said,
});

const given = (args: readonly string[], flag: string, value: string): readonly string[] =>
  args.some((arg) => arg.startsWith(flag)) ? [] : [flag, value];

const runOn = (kubeconfig: string, args: readonly string[]): Running => {
  const out: string[] = [];
  const err: string[] = [];
  const lines: Line[] = [];
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const print = (line: string): void => void out.push(line);
  const warn = (line: string): void => void err.push(line);
  const report: NonNullable<Parameters<typeof runHost>[0]["report"]> = (level, message, fields = {}) =>
    void lines.push({ level, message, fields });
  const host = (all: readonly string[]) =>
    runHost({ args: all, env: { HOME: "/nowhere" }, listener: apiApp, print, warn, report, stopped });
  const all = [...args, ...given(args, "--kubeconfig", kubeconfig), ...given(args, "--listen", "127.0.0.1:0")];
  const code = run(toolsFor({ print, warn, host }), ["host", ...all]);
  const served = (): string | undefined =>
    out.map((line) => /serving (http:\S+?)\/healthz/.exec(line)?.[1]).find((url) => url !== undefined);
  const door = async (): Promise<string> => {
    await until(`it serves (${[...out, ...err].join("; ")})`, () => served() !== undefined);
    return served() ?? "";
  };
  return { out, err, lines, door, stop: () => stop(), code };
};

/** Runs a test on a machine of its own; every host is stopped and the server closed, also when the test fails. */
export const onMachine =
  (act: (machine: Machine) => Promise<void>, options: Parameters<typeof openSimulator>[0] = {}) =>
  async (): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), "rekindle-host-"));
    const simulator = openSimulator({ start: Date.now(), crds, ...options });
    const asked: string[] = [];
    const { handle, watch } = simulator.door;
    let fault: Fault = () => undefined;
    const door = {
      handle: (ask: Parameters<typeof handle>[0]) => {
        asked.push(`${ask.method} ${ask.path}`);
        return fault(ask) ?? handle(ask);
      },
      watch,
    };
    const served = await serveSimulator({ ...simulator, door, handle: door.handle }, { speed: 20 });
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, served.kubeconfig);
    const running: Running[] = [];
    const host = (...args: readonly string[]): Running => {
      const one = runOn(kubeconfig, args);
      running.push(one);
      return one;
    };
    try {
      await act({
        ...{ simulator, asked, folder, kubeconfig, host },
        fault: (next) => {
          fault = next;
        },
      });
    } finally {
      for (const one of running) one.stop();
      await Promise.all(running.map((one) => one.code));
      await served.close();
      rmSync(folder, { recursive: true });
    }
  };
