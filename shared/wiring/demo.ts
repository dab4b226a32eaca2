/** `rekindle demo`: the first minute with Rekindle, without a cluster. The engine is the real one, the cluster simulated. */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type DemoCluster, openDemoCluster } from "./demo/cluster.ts";
import { closing, next, opening, serving, spellingIn } from "./demo/frame.ts";
import { exampleFile, readManifests } from "./demo/manifests.ts";
import { type Figures, pictureOf } from "./demo/picture.ts";
import { openPlay, type Play, type Stage } from "./demo/play.ts";
import { namesIn } from "./demo/scene.ts";
import { type Output, openScreen, type Row, type Screen, timelineRows } from "./demo/screen.ts";
import type { Served } from "./demo/serve.ts";
import type { Said } from "./demo/story.ts";
import { type Tempo, tempo as usual } from "./demo/tempo.ts";

export type Demo = {
  readonly args: readonly string[];
  /** The package's root, where infra/crds and infra/examples lie. */
  readonly root: URL;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Output;
  readonly warn: (line: string) => void;
  /** Raised when the person has seen enough. */
  readonly interrupted: AbortSignal;
  readonly tempo?: Tempo;
  readonly engine?: Stage["engine"];
};

const help = `rekindle demo [--serve [--port N]] [--json FILE]

Runs ${exampleFile} on a simulated cluster, kills an executor and a function on the way, and shows what happens,
read from the API. Takes about 20 seconds and nothing but Node; exit code 1 if anything did not come out as claimed.

  --serve      keep the cluster up on 127.0.0.1 for kubectl, until Ctrl-C
  --port N     its port (default: a free one)
  --json FILE  write the timeline and what was claimed as data, too
  --help       this text
`;

type Asked = { readonly serve: boolean; readonly port: number; readonly json: string | undefined };

/** The options, "help", or one line that says what is wrong with them. */
const readArgs = (args: readonly string[]): Asked | "help" | { readonly wrong: string } => {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        serve: { type: "boolean", default: false },
        port: { type: "string", default: "0" },
        json: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return "help";
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) return { wrong: `--port ${values.port} is no port` };
    return { serve: values.serve || port !== 0, port, json: values.json };
  } catch (cause) {
    return { wrong: cause instanceof Error ? cause.message : String(cause) };
  }
};

/** Runs the demo. Gives the exit code: 0 all came out as claimed, 1 not, 2 not understood, 130 interrupted. */
export const runDemo = async (demo: Demo): Promise<number> => {
  const asked = readArgs(demo.args);
  if (asked === "help") {
    demo.output.write(help);
    return 0;
  }
  if ("wrong" in asked) {
    demo.warn(`rekindle demo: ${asked.wrong} (--help shows what there is)`);
    return 2;
  }
  const { spark } = demo.tempo ?? usual;
  const cluster = openDemoCluster({ "*": [spark] });
  try {
    const served = asked.serve ? await serveOn(cluster, asked.port) : undefined;
    const screen = openScreen(demo.output, demo.env);
    try {
      return await show(demo, { cluster, screen, served, json: asked.json });
    } finally {
      screen.close();
      await served?.close();
    }
  } finally {
    cluster.stop();
  }
};

/** The door for kubectl; loaded by those who want it. */
const serveOn = async ({ simulator }: DemoCluster, port: number): Promise<Served> =>
  (await import("./demo/serve.ts")).serve(simulator, port);

type Show = {
  readonly cluster: DemoCluster;
  readonly screen: Screen;
  readonly served: Served | undefined;
  readonly json: string | undefined;
};

type Entry = Said & { readonly ms: number };

const beatMs = 100;

/** Draws the picture again and again; called, it stops. */
const animate = (screen: Screen, play: Play, figures: () => Figures): (() => void) => {
  const draw = (): void => screen.picture(pictureOf(play.scene, namesIn(play.scene).at(-1), figures()));
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

const show = async (demo: Demo, { cluster, screen, served, json }: Show): Promise<number> => {
  const { interrupted, tempo = usual, engine, env } = demo;
  const print = (rows: readonly Row[]): void => rows.forEach(screen.line);
  const began = performance.now();
  const timeline: Entry[] = [];
  const say = (said: Said): void => {
    const ms = Math.round(performance.now() - began);
    timeline.push({ ms, ...said });
    print(timelineRows(ms, said, screen.width()));
  };
  print(opening());
  const manifests = await readManifests(demo.root);
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(tempo.limitMs)]);
  const play = await openPlay({ cluster, tempo, say, manifests, signal, ...(engine === undefined ? {} : { engine }) });
  const figures = (): Figures => ({ ms: performance.now() - began, ...play.figures() });
  const still = animate(screen, play, figures);
  try {
    const claims = await play.perform();
    if (interrupted.aborted) return 130;
    const passed = claims.every(({ holds }) => holds);
    print(closing(claims, figures()));
    if (json !== undefined)
      await writeFile(json, `${JSON.stringify({ passed, claims, ...figures(), timeline }, undefined, 2)}\n`);
    print(served === undefined ? next(spellingIn(env)) : serving(served, spellingIn(env)));
    if (served !== undefined) await raised(interrupted);
    return passed ? 0 : 1;
  } finally {
    still();
    await play.stop();
  }
};

/** The demo on this machine's terminal, until its end or Ctrl-C. */
export const demoHere = (args: readonly string[], root: URL): Promise<number> => {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop.abort());
  return runDemo({
    ...{ args, root, env: process.env, output: process.stdout, interrupted: stop.signal },
    warn: (line) => console.error(line),
  });
};
