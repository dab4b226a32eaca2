/**
 * `npm run bench -- guard`: requests, bytes and processor time of short workloads, compared with a committed baseline. The
 * built host runs as a separate process behind a recording proxy to the simulator. Its processor time is divided by that
 * of the host of the baseline's commit, which does the same work in the same run.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bundle, functionNames, loadedBy } from "../../../infra/bundle.ts";
import { openHost } from "../../proof/attack/host.ts";
import { build } from "../../real/e2e/installed.ts";
import { startServer } from "../served.ts";
import { account } from "../submit.ts";
import { type Baseline, baselineShape, isOff, judge, type Measured, rangesOf } from "./compare.ts";
import { type Form, forms } from "./forms.ts";
import { type Exchange, openRecorder } from "./recorder.ts";
import { commandLineOf, headCommit } from "./reference.ts";

const baselineFile = join(import.meta.dirname, "baseline.json");

/** A form is measured so often at most, while a figure is above or below its baseline. */
const mostRounds = 5;
/** A host without an exchange for so long has no work left. */
const quietMs = 1_500;

/** Requests of a host that are repeated with time and not with work. */
const isPeriodic = ({ path }: Exchange): boolean => path.includes("/leases");

/** The work of a host for a form. */
type Work = {
  readonly requests: number;
  readonly bytes: number;
  /** Processor time, s. */
  readonly cpu: number;
  /** The greatest number of the form's held requests at one time. */
  readonly mostHeld: number;
};

/** Lets a host do a form's work. `built`: the command line of another build. */
const workOf = async ({ server: options, held, before, work }: Form, built?: string): Promise<Work> => {
  const dir = mkdtempSync(join(tmpdir(), "rekindle-guard-"));
  const server = await startServer(options);
  const recorder = await openRecorder(server.url, held);
  try {
    writeFileSync(join(dir, "kubeconfig"), server.kubeconfig.replaceAll(server.url, recorder.url));
    const args = ["--log-level", "warn"];
    const host = await openHost(
      join(dir, "kubeconfig"),
      join(dir, "host.log"),
      args,
      built === undefined ? {} : { built },
    );
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
      const used = (await account(host)).cpu - cpu;
      const during = recorder.exchanges
        .map((exchange, index) => ({ ...exchange, answer: () => exchange.answer().slice(watched[index] ?? 0) }))
        .filter((exchange, index) => (index >= at ? !isPeriodic(exchange) : exchange.answer() !== ""));
      const bytes = during.reduce((sum, { body, answer }) => sum + body.length + answer().length, 0);
      return { requests: during.length, bytes, cpu: used, mostHeld: recorder.mostHeld() };
    } finally {
      await host.kill();
    }
  } finally {
    await recorder.stop();
    server.child.kill();
    rmSync(dir, { recursive: true, force: true });
  }
};

const isOfTime = (name: string): boolean => name.endsWith(".cpu");

/** Measures one form once, and beside it the processor time of the build `reference`, if there is one. */
const roundOf = async (form: Form, reference: string | undefined): Promise<readonly Measured[]> => {
  const { requests, bytes, cpu, mostHeld } = await workOf(form);
  const { name, held } = form;
  if (held !== undefined) return [{ name: `guard.${name}`, value: mostHeld, unit: "steps" }];
  const counts = [
    { name: `guard.${name}.requests`, value: requests, unit: "requests" },
    { name: `guard.${name}.bytes`, value: bytes / 1_000, unit: "kB" },
  ];
  if (reference === undefined) return counts;
  const before = await workOf(form, reference);
  return [...counts, { name: `guard.${name}.cpu`, value: cpu / before.cpu, unit: "times", noisy: true }];
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
const measure = async (baseline: Baseline, part: string, reference?: string): Promise<readonly Measured[]> => {
  const figures: Measured[] = [];
  const isWanted = (name: string): boolean => part.split(",").some((text) => name.includes(text));
  if (isWanted("bundle")) figures.push(...(await bundled()));
  for (const form of forms.filter(({ name }) => isWanted(name))) {
    const rounds: (readonly Measured[])[] = [];
    const isAgain = (): boolean => rangesOf(rounds).some((figure) => isOff(figure, baseline));
    while (rounds.length === 0 || (rounds.length < mostRounds && isAgain()))
      rounds.push(await roundOf(form, reference));
    figures.push(...rangesOf(rounds));
  }
  if (figures.length === 0) throw new Error(`no form has "${part}" in its name`);
  return figures;
};

/** Returns the baseline with the measured figures in it, and without figures that are gone. */
const changed = (figures: readonly Measured[], baseline: Baseline, { reason = "", part }: Options): Baseline => {
  const kept = figures.map(({ name, value, noisy }) => [name, noisy ? 1 : Number(value.toPrecision(4))]);
  const measured = Object.fromEntries(kept);
  const commit = figures.some(({ noisy }) => noisy) ? headCommit() : baseline.commit;
  return { reason, commit, figures: part === undefined ? measured : { ...baseline.figures, ...measured } };
};

/** Measures, and judges by the baseline or, with a reason, writes it. Returns the exit code. */
export const runGuard = async (options: Options): Promise<number> => {
  const { reason, part, json } = options;
  await build();
  const baseline = baselineShape.parse(JSON.parse(readFileSync(baselineFile, "utf8")));
  const reference = commandLineOf(baseline.commit);
  const figures = await measure(baseline, part ?? "", reference);
  const judged = reason === undefined ? baseline : changed(figures, baseline, options);
  if (reason !== undefined) writeFileSync(baselineFile, `${JSON.stringify(judged, undefined, 2)}\n`);
  const names = new Set(figures.map(({ name }) => name));
  const isLeftOut = (name: string): boolean => reference === undefined && isOfTime(name);
  const isMeasured = (name: string): boolean => names.has(name) || names.has(name.replace(/cpu$/, "requests"));
  const all = judge(figures, judged).filter(({ name }) => part === undefined || isMeasured(name));
  const verdicts = all.filter(({ name }) => !isLeftOut(name));
  for (const { name, value, unit } of figures)
    console.log(`${name} ${Number(value.toPrecision(4))} ${unit} (baseline ${baseline.figures[name] ?? "none"})`);
  const failures = verdicts.flatMap(({ failure }) => failure ?? []);
  for (const failure of failures) console.log(`✖ ${failure}`);
  if (json !== undefined) {
    mkdirSync(dirname(json), { recursive: true });
    writeFileSync(json, `${JSON.stringify({ figures, verdicts, baseline }, undefined, 2)}\n`);
  }
  if (reference === undefined) console.log(`processor time: not measured, because this clone lacks ${baseline.commit}`);
  const left = reference === undefined ? `, ${all.length - verdicts.length} skipped` : "";
  console.log(`${verdicts.length - failures.length} passed, ${failures.length} failed${left}`);
  return failures.length === 0 ? 0 : 1;
};
