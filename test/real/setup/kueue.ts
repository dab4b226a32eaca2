/** Kueue's own definitions, from its Go module: of the kinds that Rekindle reads and writes for Volcano Jobs. */
import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { cacheDir, command, intoPlace, type Part } from "./part.ts";

const module = {
  path: "sigs.k8s.io/kueue",
  version: "v0.17.0",
  sum: "h1:7hzb38M4eKGzYW+CFv2s1L+swzzacUCHOCXxZmAV90I=",
};

const plurals = ["workloads", "resourceflavors", "workloadpriorityclasses"] as const;

const place = (): string => join(cacheDir(), "kueue", module.version);

/** Returns the folder of the definitions that the part `kueue` provides; undefined while it is not installed. */
export const kueueDefinitions = (): string | undefined => (existsSync(place()) ? place() : undefined);

const downloaded = z.object({ Dir: z.string(), Sum: z.literal(module.sum) });

export const kueue: Part = {
  name: "kueue",
  why: "Kueue's definitions of Workloads and flavors, for the end-to-end case of Volcano Jobs that Kueue admits",
  sizeHint: "5 MB of a Go module",
  needs: [],
  isReady: async () => existsSync(place()),
  install: async (say) => {
    say(`fetching ${module.path} ${module.version}`);
    const text = await command("go", ["mod", "download", "-json", `${module.path}@${module.version}`]);
    const { Dir } = downloaded.parse(JSON.parse(text));
    await intoPlace(place(), async (dir) => {
      for (const plural of plurals) {
        const name = `kueue.x-k8s.io_${plural}.yaml`;
        await copyFile(join(Dir, "config", "components", "crd", "bases", name), join(dir, `${plural}.yaml`));
      }
    });
  },
};
