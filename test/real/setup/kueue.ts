/** Kueue from its Go module: its controller, built with the requirements of the module itself, its definitions and its webhooks. */
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { compile } from "./compile.ts";
import { cacheDir, command, intoPlace, type Part, type Say } from "./part.ts";

const module = {
  path: "sigs.k8s.io/kueue",
  version: "v0.19.0",
  sum: "h1:5yCu85qsJhvUVVxE0Csw546DDBcRwUXpBEOmEFlws34=",
};

const place = (): string => join(cacheDir(), "kueue", module.version);

export type KueueFiles = {
  readonly binary: string;
  /** The folder of the definitions. */
  readonly definitions: string;
  /** The webhook configurations, one document each. */
  readonly webhooks: string;
};

/** Returns the files that the part `kueue` provides; undefined while it is not installed. */
export const kueueFiles = (): KueueFiles | undefined => {
  const dir = place();
  const binary = join(dir, "kueue");
  if (!existsSync(binary)) return undefined;
  return { binary, definitions: join(dir, "definitions"), webhooks: join(dir, "webhooks.yaml") };
};

const downloaded = z.object({ Dir: z.string(), Sum: z.literal(module.sum) });

const fill = async (sources: string, dir: string, say: Say): Promise<void> => {
  const components = join(sources, "config", "components");
  const bases = join(components, "crd", "bases");
  await mkdir(join(dir, "definitions"));
  for (const file of await readdir(bases)) await copyFile(join(bases, file), join(dir, "definitions", file));
  await copyFile(join(components, "webhook", "manifests.yaml"), join(dir, "webhooks.yaml"));
  await compile({ sources, program: "./cmd/kueue", binary: join(dir, "kueue"), ldflags: "-s -w", say });
};

export const kueue: Part = {
  name: "kueue",
  why: "Kueue's controller, definitions and webhooks, for the end-to-end cases of applications and Volcano Jobs in its queues",
  sizeHint: "160 MB of modules, 0.6 GB of build cache, a binary of 110 MB; first build 6 CPU-minutes",
  // Built after `go`, so that packages that both have are compiled once.
  needs: ["go"],
  programs: { go: { from: "Go 1.26 or later, from its own site" } },
  isReady: async () => kueueFiles() !== undefined,
  install: async (say) => {
    say(`fetching ${module.path} ${module.version}`);
    const text = await command("go", ["mod", "download", "-json", `${module.path}@${module.version}`]);
    const { Dir } = downloaded.parse(JSON.parse(text));
    await intoPlace(place(), (dir) => fill(Dir, dir, say));
  },
};
