/** `npm run bench`: figures, each beside its aim. A missed aim is reported; only wrong or missing work is a failure. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { type Figure, figureLine } from "./figures.ts";
import { benchWhole, usualParts } from "./whole.ts";

const help = `npm run bench [-- --parts NAME,NAME] [--publish] [--json FILE]
  these parts, or those named, each in a process of its own:
  ${usualParts.join(", ")};
  by name alone: sixthousand (upstream with 6,000, some 25 minutes). A table with the floor of each figure that has one, and how
  loaded the machine was; --publish writes the figures of each part into README and shared/docs/benchmarks.md when it has ended

npm run bench -- bundle | submit [--count N [--admission] | --burst N] | alone [--count N] | restart [--count N] | settled [--count N,N] |
                 upstream [--family apache] [--count N] | functions [--part dispatch] | cloud | bell | recovery | elastic | fairness [--count N] | page |
                 job [--count N] | gang [--count N] | kueue | sweep [--json FILE]

  bundle     per function: bytes, files and user CPU before the first event, all chunks; the user CPU of reconcile until its first event is done
  recovery   executors lost where Rekindle is the allocator: one by one (--count N, default 400, most 1000), all at once, unseen;
             --part single | mass | missed; --profile DIR leaves a CPU profile of the host; needs root
  elastic    executors that follow the demand of a simulated driver through bursts: from demand to POST, from idleness to
             DELETE, requests per change, core-hours against fixed executors
  job        Volcano Jobs: N pods of one (default 1000), N/2 jobs of one, N made anew, one replaced, a spec changed, a storm of such changes;
             --gang none: the host lets groups in (scheduler: a stand-in for Volcano's does); --part one | many | single | resize; --profile DIR
  beside     Volcano's own controller manager and the host in turns: N Jobs of one pod (default 500) and one of 2 N, each on a control
             plane of its own: time, CPU, requests, memory, and Rekindle's by Volcano's
  gang       N gangs of 100 pods (default 100) by plans on the real scheduler and 100 nodes without kubelets: time until all are
             bound beside the same pods without gangs, CPU, requests; --profile DIR
  kueue      20 applications that share a quota of 100 executors on a real Kueue: unused quota, unserved demand, from demand to
             executor, requests and CPU a change, beside drivers that Kueue holds back, and fixed executors; needs root
  bell       functions whose keys come from the bell: from a change to its first write, beside a forwarder's in the same run; rings,
             messages, invocations and US$ of an application and at rest; a Job of 200 pods; what a ring adds to its writer
  cloud      a deployment on AWS: starts of each function, requests, units and GB-seconds per application and per executor
             loss with records in a table, reaction, and the table of costs with its prices and formulas
  guard      short forms on the simulator: requests, bytes, and processor time beside that of an earlier commit, within 10 % of the
             committed baseline (guard/baseline.json), else it fails; --part TEXT,TEXT measures some of them;
             --update REASON writes the baseline
  fairness   N new objects of one tenant (default 10000) beside another's ten, and a host that starts among them;
             --profile DIR leaves CPU profiles of the hosts
  page       10,000 applications in a real Chromium: first rows, heap over 10,000 changes, sizes; requests of a real API
             server and bytes for 1 and 50 viewers, most streams; --part browser | viewers
  functions  an application's life as functions behind a queue: invocations, requests, GB-seconds, starts;
             --part dispatch: as functions that a dispatcher calls, each request with its purpose
  restart    N settled SparkApplications on a real API server (default 10000), and a host that starts: writes, CPU, memory
  settled    a host that starts beside N completed SparkApplications (default 10000), and rests; and one in an empty cluster:
             writes, CPU, memory, longest block of its event loop, CPU of a minute at rest; --count 0: the empty one alone;
             --count N,N: a host beside N, then one beside more; --profile DIR
  alone      N SparkApplications (default 200), each when the server has nothing else to do: from the answer to its creation to
             the POST of its driver, beside bare requests
  upstream   the load of Spark Operator's published benchmark: N SparkApplications (default 6000) with five executors each, on
             stand-ins for nodes: drivers a minute, the latest driver, CPU, memory; --profile DIR; --family apache: that of
             Apache's operator, N applications (default 1000) in their drivers alone
  sweep      the CPU of a case of the sweep
  submit     N SparkApplications at once on a real API server (default 1000): time, CPU, memory, requests of the host,
             with --admission also its webhooks and quota enforcement, with --profile DIR a CPU profile;
             with --burst N on the simulator: memory as it goes on, and how far a key is overtaken`;

type Sizes = {
  readonly many: number | undefined;
  /** All numbers of --count. */
  readonly counts: readonly number[];
  readonly burst: number | undefined;
  readonly admission: boolean;
  readonly gang: "scheduler" | "none";
  /** Of the load of `upstream`. */
  readonly family: string;
  readonly recovery: { readonly part: string | undefined; readonly profile: string | undefined };
};

const benchFunctions = async (part: string | undefined): Promise<readonly Figure[]> =>
  part === "dispatch"
    ? await (await import("./dispatched.ts")).benchDispatched()
    : await (await import("./functions.ts")).benchFunctions();

const benchPage = async (part: string | undefined): Promise<readonly Figure[]> => {
  const { benchBrowser, benchSizes } = await import("./page/browser.ts");
  const { benchViewers } = await import("./page/viewers.ts");
  return [
    ...(part === "browser" || part === undefined ? [...(await benchSizes()), ...(await benchBrowser())] : []),
    ...(part === "viewers" || part === undefined ? await benchViewers() : []),
  ];
};

const benchCloud = async (): Promise<readonly Figure[]> => (await import("./cloud/cloud.ts")).benchCloud();

const benchBell = async (): Promise<readonly Figure[]> => (await import("./bell/bell.ts")).benchBell();

const benchSweep = async (): Promise<readonly Figure[]> => (await import("./sweep.ts")).benchSweep();

const benchElastic = async (): Promise<readonly Figure[]> => (await import("./elastic.ts")).benchElastic();

const benchKueue = async (): Promise<readonly Figure[]> => (await import("./kueue/kueue.ts")).benchKueue();

/** The benchmarks that take no number; of some a part can be measured alone. */
const byPart: ReadonlyMap<string, typeof benchPage> = new Map([
  ["bell", benchBell],
  ["cloud", benchCloud],
  ["elastic", benchElastic],
  ["functions", benchFunctions],
  ["kueue", benchKueue],
  ["page", benchPage],
  ["sweep", benchSweep],
]);

/** Flags of a host that leaves a CPU profile in the folder. */
const nodeFlags = (profile: string | undefined): readonly string[] =>
  profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];

type Counted = (sizes: Sizes) => Promise<readonly Figure[]>;

/** The benchmarks that take a number, or several; some of them leave profiles. */
const byCount: ReadonlyMap<string, Counted> = new Map<string, Counted>([
  ["beside", async ({ many = 500 }) => (await import("./beside.ts")).benchBeside(many)],
  [
    "fairness",
    async ({ many = 10_000, recovery }) => (await import("./fairness.ts")).benchFairness(many, recovery.profile),
  ],
  ["gang", async ({ many = 100, recovery }) => (await import("./gang.ts")).benchGang(many, recovery.profile)],
  [
    "job",
    async ({ many = 1_000, gang, recovery }) =>
      (await import("./job/job.ts")).benchJob({ count: many, gang, ...recovery }),
  ],
  [
    "recovery",
    async ({ many = 400, recovery }) =>
      (await import("./recovery/recovery.ts")).benchRecovery({ losses: Math.min(1_000, many), ...recovery }),
  ],
  ["restart", async ({ many = 10_000 }) => (await import("./restart.ts")).benchRestart(many)],
  ["alone", async ({ many = 200 }) => (await import("./alone.ts")).benchAlone(many)],
  [
    "upstream",
    async ({ many, family, recovery }) =>
      (await import("./upstream/upstream.ts")).benchUpstream({
        ...{ count: many ?? (family === "apache" ? 1_000 : 6_000), family },
        nodeFlags: nodeFlags(recovery.profile),
      }),
  ],
  [
    "settled",
    async ({ many = 10_000, counts: [, ...more], recovery }) =>
      (await import("./settled.ts")).benchSettled([many, ...more], nodeFlags(recovery.profile)),
  ],
  [
    "submit",
    async ({ many = 1_000, burst, admission, recovery }) =>
      burst === undefined
        ? (await import("./submit.ts")).benchSubmit(many, admission, nodeFlags(recovery.profile))
        : (await import("./burst.ts")).benchBurst(burst),
  ],
]);

const measure = async (name = "", sizes: Sizes): Promise<readonly Figure[] | undefined> => {
  if (name === "bundle") return (await import("./bundle.ts")).benchBundle();
  const counted = byCount.get(name);
  return counted === undefined ? await byPart.get(name)?.(sizes.recovery.part) : await counted(sizes);
};

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "string" },
      count: { type: "string" },
      burst: { type: "string" },
      profile: { type: "string" },
      part: { type: "string" },
      parts: { type: "string" },
      publish: { type: "boolean", default: false },
      admission: { type: "boolean", default: false },
      gang: { type: "string", default: "scheduler" },
      family: { type: "string", default: "spark" },
      update: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (positionals.length === 0 && !values.help) {
    const results = { json: values.json, publishes: values.publish };
    await benchWhole(values.parts?.split(",") ?? usualParts, results);
    return Number(process.exitCode ?? 0);
  }
  if (positionals[0] === "guard" && !values.help)
    return (await import("./guard/guard.ts")).runGuard({
      ...{ reason: values.update, part: values.part, json: values.json },
    });
  const burst = values.burst === undefined ? undefined : Number(values.burst);
  const counts = values.count?.split(",").map(Number) ?? [];
  const [many] = counts;
  const { admission, part, profile } = values;
  const gang: Sizes["gang"] = values.gang === "none" ? "none" : "scheduler";
  const sizes = { many, counts, burst, admission, gang, family: values.family, recovery: { part, profile } };
  const figures = values.help ? undefined : await measure(positionals[0], sizes);
  if (figures === undefined) {
    console.log(help);
    return values.help ? 0 : 2;
  }
  for (const figure of figures) console.log(figureLine(figure));
  if (values.json !== undefined) {
    mkdirSync(dirname(values.json), { recursive: true });
    writeFileSync(values.json, `${JSON.stringify({ figures }, null, 2)}\n`);
  }
  return 0;
};

process.chdir(new URL("../..", import.meta.url).pathname);
try {
  process.exitCode = await main();
} catch (cause) {
  console.error(`bench: ${cause instanceof Error ? cause.message : String(cause)}`);
  process.exitCode = 1;
}
