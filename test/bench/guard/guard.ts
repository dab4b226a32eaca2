/**
 * `npm run bench -- guard`: requests, bytes and processor time of short workloads, compared with a committed baseline. The
 * built host runs as a separate process behind a recording proxy to the simulator. Its processor time is divided by the
 * floor, that of a process that only sends the same requests and parses the same answers, so that machines compare.
 */
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { bundle, functionNames, loadedBy } from "../../../infra/bundle.ts";
import { openHost } from "../../proof/attack/host.ts";
import { build } from "../../real/e2e/installed.ts";
import { startServer } from "../served.ts";
import { account } from "../submit.ts";
import { type Baseline, baselineShape, isOff, judge, type Measured, rangesOf } from "./compare.ts";
import { type Form, forms } from "./forms.ts";
import { type Exchange, openRecorder } from "./recorder.ts";

const baselineFile = join(import.meta.dirname, "baseline.json");

/** A form is measured so often at most, while a figure is above or below its baseline. */
const mostRounds = 5;
/** Their median counts: the host runs once a round, so its processor time has the machine's usual noise, and not its least. */
const floorRounds = 5;
/** A host without an exchange for so long has no work left. */
const quietMs = 1_500;

/** Requests of a host that are repeated with time and not with work. */
const isPeriodic = ({ path }: Exchange): boolean => path.includes("/leases");

const floorShape = z.object({ cpu: z.number(), parsed: z.number() });

/** Returns the processor time of the bare requests, s. */
const floorOf = async (exchanges: readonly Exchange[], dir: string): Promise<number> => {
  const answers = exchanges.map((exchange) => exchange.answer());
  const server = createServer((request, response) => {
    const index = Number(request.headers["x-exchange"]);
    request.resume();
    request.once("end", () => {
      response.writeHead(exchanges[index]?.status ?? 500, { "content-type": "application/json" });
      response.end(answers[index]);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(dir, "requests.json");
  writeFileSync(file, JSON.stringify(exchanges.map(({ method, path, body }) => ({ method, path, body }))));
  try {
    const all: number[] = [];
    while (all.length < floorRounds)
      all.push(
        await new Promise<number>((resolve, reject) => {
          const child = fork(join(import.meta.dirname, "floor.ts"), [url, file]);
          child.once("message", (message) => resolve(floorShape.parse(message).cpu));
          child.once("error", reject);
          child.once("exit", (code) => reject(new Error(`the floor ended with ${code}`)));
        }),
      );
    return all.sort((a, b) => a - b)[(floorRounds - 1) / 2] ?? 0;
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

/** Measures one form once. */
const roundOf = async ({ name, server: options, held, before, work }: Form): Promise<readonly Measured[]> => {
  const dir = mkdtempSync(join(tmpdir(), "rekindle-guard-"));
  const server = await startServer(options);
  const recorder = await openRecorder(server.url, held);
  try {
    writeFileSync(join(dir, "kubeconfig"), server.kubeconfig.replaceAll(server.url, recorder.url));
    const host = await openHost(join(dir, "kubeconfig"), join(dir, "host.log"), ["--log-level", "warn"]);
    try {
      // The probe's own requests would cost the host processor time.
      await host.probe.stop();
      const quiet = async (): Promise<void> => {
        while (performance.now() - recorder.latest() < quietMs) await sleep(100);
      };
      await before?.(server);
      await quiet();
      const [at, watched] = [recorder.exchanges.length, recorder.exchanges.map(({ answer }) => answer().length)];
      const { cpu } = await account(host);
      await work(server);
      await quiet();
      if (held !== undefined) return [{ name: `guard.${name}`, value: recorder.mostHeld(), unit: "steps" }];
      const used = (await account(host)).cpu - cpu;
      const during = recorder.exchanges
        .map((exchange, index) => ({ ...exchange, answer: () => exchange.answer().slice(watched[index] ?? 0) }))
        .filter((exchange, index) => (index >= at ? !isPeriodic(exchange) : exchange.answer() !== ""));
      const requests = during.length;
      const bytes = during.reduce((sum, { body, answer }) => sum + body.length + answer().length, 0);
      const floor = await floorOf(during, dir);
      return [
        { name: `guard.${name}.requests`, value: requests, unit: "requests" },
        { name: `guard.${name}.bytes`, value: bytes / 1_000, unit: "kB" },
        { name: `guard.${name}.cpu-over-floor`, value: used / floor, unit: "times", noisy: true },
      ];
    } finally {
      await host.kill();
    }
  } finally {
    await recorder.stop();
    server.child.kill();
    rmSync(dir, { recursive: true, force: true });
  }
};

/** Returns the bytes that each function loads before its first event. */
const bundled = async (): Promise<readonly Measured[]> => {
  const meta = await bundle();
  return functionNames().map((name) => ({
    name: `guard.bundle.${name}`,
    value: loadedBy(meta, name).atOnce.bytes / 1_000,
    unit: "kB",
  }));
};

type Options = {
  /** Why the baseline changes; absent: it is judged by. */
  readonly reason: string | undefined;
  /** Only the forms with one of these texts, separated by commas, in their name. */
  readonly part: string | undefined;
  readonly json: string | undefined;
};

/** Measures the forms, each again while a figure is clearly off its baseline. */
const measure = async (baseline: Baseline, part: string): Promise<readonly Measured[]> => {
  const figures: Measured[] = [];
  const isWanted = (name: string): boolean => part.split(",").some((text) => name.includes(text));
  if (isWanted("bundle")) figures.push(...(await bundled()));
  for (const form of forms.filter(({ name }) => isWanted(name))) {
    const rounds: (readonly Measured[])[] = [];
    const isAgain = (): boolean => rangesOf(rounds).some((figure) => isOff(figure, baseline));
    while (rounds.length === 0 || (rounds.length < mostRounds && isAgain())) rounds.push(await roundOf(form));
    figures.push(...rangesOf(rounds));
  }
  if (figures.length === 0) throw new Error(`no form has "${part}" in its name`);
  return figures;
};

/** Returns the baseline with the measured figures in it, and without figures that are gone. */
const changed = (figures: readonly Measured[], baseline: Baseline, { reason = "", part }: Options): Baseline => {
  const measured = Object.fromEntries(figures.map(({ name, value }) => [name, Number(value.toPrecision(4))]));
  return { reason, figures: part === undefined ? measured : { ...baseline.figures, ...measured } };
};

/** Measures, and judges by the baseline or, with a reason, writes it. Returns the exit code. */
export const runGuard = async (options: Options): Promise<number> => {
  const { reason, part, json } = options;
  await build();
  const baseline = baselineShape.parse(JSON.parse(readFileSync(baselineFile, "utf8")));
  const figures = await measure(baseline, part ?? "");
  const judged = reason === undefined ? baseline : changed(figures, baseline, options);
  if (reason !== undefined) writeFileSync(baselineFile, `${JSON.stringify(judged, undefined, 2)}\n`);
  const names = new Set(figures.map(({ name }) => name));
  const verdicts = judge(figures, judged).filter(({ name }) => part === undefined || names.has(name));
  for (const { name, value, unit } of figures)
    console.log(`${name} ${Number(value.toPrecision(4))} ${unit} (baseline ${baseline.figures[name] ?? "none"})`);
  const failures = verdicts.flatMap(({ failure }) => failure ?? []);
  for (const failure of failures) console.log(`✖ ${failure}`);
  if (json !== undefined) {
    mkdirSync(dirname(json), { recursive: true });
    writeFileSync(json, `${JSON.stringify({ figures, verdicts, baseline }, undefined, 2)}\n`);
  }
  console.log(`${verdicts.length - failures.length} passed, ${failures.length} failed`);
  return failures.length === 0 ? 0 : 1;
};
