/** Controllers of other projects, which the judge tries: built from their Go modules as their own requirements pin them. */
import { existsSync } from "node:fs";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { cacheDir, command, intoPlace, type Part, type Say } from "./part.ts";

type Project = {
  readonly module: string;
  readonly version: string;
  readonly sum: string;
  /** Name of a binary → its package in the module. */
  readonly programs: Readonly<Record<string, string>>;
  /** Replaces a requirement of the module's own file. */
  readonly replace?: string;
  /** Folders of definitions in the module. */
  readonly definitions: readonly string[];
};

const projects = {
  volcano: {
    module: "volcano.sh/volcano",
    version: "v1.14.1",
    sum: "h1:9eLs47iZeLgey6EcA1rHwVkU7HoBNm3UVpJZ4uhFJ7c=",
    // The module's own file names a folder that is not part of the module.
    replace: "volcano.sh/apis=volcano.sh/apis@v1.14.0",
    programs: { "vc-controller-manager": "./cmd/controller-manager", "vc-scheduler": "./cmd/scheduler" },
    definitions: ["config/crd/volcano/bases", "config/crd/jobflow/bases"],
  },
  jobset: {
    module: "sigs.k8s.io/jobset",
    version: "v0.11.0",
    sum: "h1:1r2uTNQmylnqG/WCSSDADgNkHryvyUaCNCOgvSPWpN8=",
    programs: { jobset: "." },
    definitions: ["config/components/crd/bases"],
  },
  "spark-operator": {
    module: "github.com/kubeflow/spark-operator/v2",
    version: "v2.4.0",
    sum: "h1:Bo5rz5dlhqYEa7e/TLtUEVXDMNRotnVaQ4VLCyeLeOc=",
    programs: { "spark-operator": "./cmd/operator" },
    definitions: ["charts/spark-operator-chart/crds"],
  },
} as const satisfies Readonly<Record<string, Project>>;

export type ProjectName = keyof typeof projects;

const place = (name: ProjectName): string => join(cacheDir(), "controllers", `${name}-${projects[name].version}`);

export type Installed = {
  readonly version: string;
  /** Folder of the binaries. */
  readonly dir: string;
  /** All definitions, as one YAML text. */
  readonly definitions: () => Promise<string>;
};

/** Returns what the part of this project provides. */
export const controllerOf = (name: ProjectName): Installed => {
  const dir = place(name);
  return {
    version: projects[name].version,
    dir,
    definitions: async () => {
      const folder = join(dir, "definitions");
      const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml")).toSorted();
      return (await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")))).join("\n---\n");
    },
  };
};

const downloaded = z.object({ Dir: z.string(), Sum: z.string() });

/** Writes the requirements of a module with one replaced into `go.mod` of a folder; returns the flags that select it. */
const requirements = async (from: string, dir: string, replace: string | undefined): Promise<readonly string[]> => {
  if (replace === undefined) return [];
  for (const name of ["go.mod", "go.sum"]) await writeFile(join(dir, name), await readFile(join(from, name)));
  await command("go", ["mod", "edit", "-replace", replace, "go.mod"], { cwd: dir });
  return ["-mod=mod", `-modfile=${join(dir, "go.mod")}`];
};

const install = async (project: Project, dir: string, say: Say): Promise<void> => {
  const { module, version, sum, programs, definitions, replace } = project;
  say(`fetching ${module} ${version}`);
  const found = downloaded.parse(JSON.parse(await command("go", ["mod", "download", "-json", `${module}@${version}`])));
  if (found.Sum !== sum) throw new Error(`${module} ${version} has the sum ${found.Sum}, expected ${sum}`);
  for (const from of definitions) await cp(join(found.Dir, from), join(dir, "definitions"), { recursive: true });
  const selected = await requirements(found.Dir, dir, replace);
  for (const [name, folder] of Object.entries(programs)) {
    say(`compiling ${name}`);
    const flags = [...selected, "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", "-s -w"];
    const args = ["build", ...flags, "-o", join(dir, name), folder];
    await command("go", args, { cwd: found.Dir, env: { CGO_ENABLED: "0" } });
  }
};

const partOf = (name: ProjectName): Part => ({
  name,
  why: `${name} ${projects[name].version}, for npm run judge -- --of ${name}`,
  sizeHint: "400 MB of modules, a binary of 50 to 130 MB; first build 2 to 4 CPU-minutes",
  needs: [],
  programs: { go: { from: "Go 1.26 or later, from its own site" } },
  isReady: async () => existsSync(place(name)),
  install: (say) => intoPlace(place(name), (dir) => install(projects[name], dir, say)),
});

export const controllers: readonly Part[] = [partOf("volcano"), partOf("jobset"), partOf("spark-operator")];
