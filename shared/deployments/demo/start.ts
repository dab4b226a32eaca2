/** `rekindle demo`: a first run of Rekindle without a cluster. The engine is the real one, the cluster is simulated. */
import { writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { errorText } from "../../core/text.ts";
import type { LocalPage } from "../page/local.ts";
import { type DemoCluster, exampleFile, openDemoCluster, readManifests, type Served } from "./cluster.ts";
import type { NarrationLine } from "./narration.ts";
import { type DemoScenario, openScenario, type ScenarioContext, type Tempo, tempo as usual } from "./scenario.ts";
import {
  closing,
  type Figures,
  next,
  type Output,
  opening,
  openScreen,
  pictureOf,
  type Row,
  served as reachable,
  type Screen,
  serving,
  spellingIn,
  timelineRows,
} from "./screen.ts";

export type Demo = {
  readonly args: readonly string[];
  /** The package's root, with infra/crds and infra/examples. */
  readonly root: URL;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Output;
  readonly warn: (line: string) => void;
  /** Aborted when the user interrupts. */
  readonly interrupted: AbortSignal;
  readonly tempo?: Tempo;
  readonly engine?: ScenarioContext["engine"];
};

const help = `rekindle demo [--serve] [--port N] [--kubeconfig FILE] [--skip-story] [--json FILE]

Runs ${exampleFile} on a simulated cluster, kills an executor and a function on the way, and shows what happens,
read from the API. Takes about 20 seconds and nothing but Node; exit code 1 if a claim did not hold.

  --serve            keep the cluster up on 127.0.0.1 for kubectl and the page until Ctrl-C; first prints how to
                     reach it
  --port N           its port (default: a free one); implies --serve
  --kubeconfig FILE  write its kubeconfig there (default: a temporary file); implies --serve
  --skip-story       start the cluster and the functions, and apply nothing; implies --serve
  --json FILE        also write the timeline and the claims as JSON
  --help             this text

Pods of the simulated cluster do what their command line says: sleep N, echo TEXT and exit N; all else takes no time.
A Spark application runs for some seconds; with sleep N among its arguments for so long.

Example: rekindle demo --skip-story --kubeconfig demo.kubeconfig
`;

type DemoArguments = {
  readonly serve: boolean;
  readonly port: number;
  readonly kubeconfig: string | undefined;
  readonly skipStory: boolean;
  readonly json: string | undefined;
};

/** Returns the options, "help", or one line that says what is wrong. */
const readArgs = (args: readonly string[]): DemoArguments | "help" | { readonly wrong: string } => {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        serve: { type: "boolean", default: false },
        port: { type: "string", default: "0" },
        kubeconfig: { type: "string" },
        "skip-story": { type: "boolean", default: false },
        json: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return "help";
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) return { wrong: `--port ${values.port} is not a port` };
    const { serve, kubeconfig, json, "skip-story": skipStory } = values;
    if (skipStory && json !== undefined)
      return { wrong: "--json writes the story, which --skip-story leaves out: use one of them" };
    return { serve: serve || port !== 0 || kubeconfig !== undefined || skipStory, port, kubeconfig, skipStory, json };
  } catch (cause) {
    return { wrong: errorText(cause) };
  }
};

/** Runs the demo. Returns the exit code: 0 all claims hold, 1 one does not, 2 the call is wrong, 130 interrupted. */
export const runDemo = async (demo: Demo): Promise<number> => {
  const parsed = readArgs(demo.args);
  if (parsed === "help") {
    demo.output.write(help);
    return 0;
  }
  if ("wrong" in parsed) {
    demo.warn(`rekindle demo: ${parsed.wrong} (--help lists the options)`);
    return 2;
  }
  const { spark } = demo.tempo ?? usual;
  const cluster = openDemoCluster({ "*": [spark] });
  try {
    const served = parsed.serve ? await serveOn(cluster, parsed) : undefined;
    if (served instanceof Error) {
      demo.warn(`rekindle demo: ${served.message}`);
      return 2;
    }
    const page = await pageOf(cluster);
    const screen = openScreen(demo.output, demo.env);
    try {
      return await show(demo, { cluster, screen, served, parsed, page: page.url });
    } finally {
      screen.close();
      await Promise.all([served?.close(), page.close()]);
    }
  } finally {
    cluster.stop();
  }
};

/** Serves the cluster for kubectl; loaded only where it is requested. */
const serveOn = async ({ simulator }: DemoCluster, { port, kubeconfig }: DemoArguments): Promise<Served | Error> => {
  const { Occupied, serve } = await import("./cluster.ts");
  return serve(simulator, port, kubeconfig).catch((cause: unknown) => {
    if (cause instanceof Occupied) return cause;
    throw cause;
  });
};

/** Serves the page over the cluster; everybody on this machine may look at a simulation, and act on it. */
const pageOf = async (cluster: DemoCluster): Promise<LocalPage> => {
  const [{ openLocalPage }, { accessForAll: everybody }] = await Promise.all([
    import("../page/local.ts"),
    import("../page/access.ts"),
  ]);
  const access = everybody("demo");
  return openLocalPage({
    ...{ transport: cluster.openTransport(), cluster: "demo", namespaces: [], access, port: 0 },
    // The terminal tells the story; the Event on the object tells of an action.
    acted: () => {},
  });
};

type Show = {
  readonly cluster: DemoCluster;
  readonly screen: Screen;
  readonly served: Served | undefined;
  readonly parsed: DemoArguments;
  /** Address of the page. */
  readonly page: string;
};

type Entry = NarrationLine & { readonly ms: number };

const beatMs = 100;

/** Draws the diagram at an interval, until the returned function is called. */
const animate = (screen: Screen, scenario: DemoScenario, figures: () => Figures): (() => void) => {
  const draw = (): void => screen.picture(pictureOf(scenario.observed, figures()));
  const timer = setInterval(draw, beatMs);
  return () => {
    clearInterval(timer);
    screen.picture([]);
  };
};

const raised = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Returns the path of a file of the package, relative to the working directory where it is below that. */
const placeIn =
  (root: URL) =>
  (file: string): string => {
    const path = fileURLToPath(new URL(file, root));
    const near = relative(process.cwd(), path);
    return near.startsWith("..") ? path : near;
  };

/** Runs the scenario, and prints and writes its result. Returns the exit code. */
const tell = async (
  demo: Demo,
  scenario: DemoScenario,
  figures: () => Figures,
  shown: StoryOutput,
): Promise<number> => {
  const { print, timeline, json } = shown;
  const claims = await scenario.perform();
  if (demo.interrupted.aborted) return 130;
  const passed = claims.every(({ holds }) => holds);
  print(closing(claims, figures()));
  if (json !== undefined)
    await writeFile(json, `${JSON.stringify({ passed, claims, ...figures(), timeline }, undefined, 2)}\n`);
  return passed ? 0 : 1;
};

type StoryOutput = {
  readonly print: (rows: readonly Row[]) => void;
  readonly timeline: readonly Entry[];
  readonly json: string | undefined;
};

const show = async (demo: Demo, { cluster, screen, served, parsed, page }: Show): Promise<number> => {
  const { interrupted, tempo = usual, engine, env } = demo;
  const print = (rows: readonly Row[]): void => rows.forEach(screen.line);
  const began = performance.now();
  const timeline: Entry[] = [];
  const say = (said: NarrationLine): void => {
    const ms = Math.round(performance.now() - began);
    timeline.push({ ms, ...said });
    print(timelineRows(ms, said, screen.width()));
  };
  print([...opening(page), ...(served === undefined ? [] : reachable(served))]);
  const manifests = await readManifests(demo.root);
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(tempo.limitMs)]);
  const stage = { cluster, tempo, say, manifests, signal, kills: !parsed.skipStory };
  const scenario = await openScenario({ ...stage, ...(engine === undefined ? {} : { engine }) });
  const figures = (): Figures => ({ ms: performance.now() - began, ...scenario.figures() });
  const still = animate(screen, scenario, figures);
  try {
    if (parsed.skipStory) await scenario.ready();
    const code = parsed.skipStory ? 0 : await tell(demo, scenario, figures, { print, timeline, json: parsed.json });
    if (code === 130) return code;
    const spelling = spellingIn(env);
    print(served === undefined ? next(spelling) : serving(served, spelling, placeIn(demo.root), !parsed.skipStory));
    if (served !== undefined) await raised(interrupted);
    return code;
  } finally {
    still();
    await scenario.stop();
  }
};

/** Runs the demo on this terminal, until its end or Ctrl-C. */
export const demoHere = (args: readonly string[], root: URL): Promise<number> => {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop.abort());
  return runDemo({
    ...{ args, root, env: process.env, output: process.stdout, interrupted: stop.signal },
    warn: (line) => console.error(line),
  });
};
