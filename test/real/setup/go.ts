/**
 * The control plane binaries: the Go module `test/real/cluster/controlplane`, built once per content of its sources, with
 * the requirements of each release of Kubernetes.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { compile } from "./compile.ts";
import { cacheDir, command, intoPlace, type Part, type Say } from "./part.ts";

const sources = join(import.meta.dirname, "..", "cluster", "controlplane");

/** `usual`: the control plane of nearly all commands. `gangs`: a newer one, which can place PodGroups of Kubernetes. */
export type Release = "usual" | "gangs";

const modules = { usual: "go", gangs: "go-1.37" } as const;

/**
 * Returns the release that the requirements pin. Servers and clients are stamped with it, because clients fail on an unstamped
 * one.
 */
const releaseOf = (goMod: string): string => /k8s\.io\/kubernetes (v[\d.]+)/.exec(goMod)?.[1] ?? "v0.0.0";

const stamps = (release: string): string => {
  const [major, minor] = release.slice(1).split(".");
  const values = { gitVersion: release, gitMajor: major, gitMinor: minor, gitTreeState: "clean", gitCommit: "test" };
  return ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"]
    .flatMap((path) =>
      Object.entries({ ...values, buildDate: "1970-01-01T00:00:00Z" }).map((pair) => `-X ${path}.${pair.join("=")}`),
    )
    .join(" ");
};

/** Returns the folder of the binary for the current sources of a Go module of this repository. `module`.mod has its requirements. */
export const placeOf = async (folder: string, name: string, module = "go"): Promise<string> => {
  const hash = createHash("sha256");
  const parts = [`${module}.mod`, `${module}.sum`];
  const files = (await readdir(folder)).filter((file) => file.endsWith(".go") || parts.includes(file)).toSorted();
  for (const file of files) hash.update(`${file}\0`).update(await readFile(join(folder, file)));
  return join(cacheDir(), name, hash.digest("hex").slice(0, 16));
};

const place = (release: Release): Promise<string> => placeOf(sources, "controlplane", modules[release]);

/** Returns the files that the part `go`, or `go-1.37`, provides. */
export const controlPlaneFiles = async (release: Release = "usual"): Promise<{ binary: string; kubectl: string }> => {
  const dir = await place(release);
  return { binary: join(dir, "controlplane"), kubectl: join(dir, "kubectl") };
};

const build = async (release: Release, dir: string, say: Say): Promise<void> => {
  const module = `${modules[release]}.mod`;
  const stamped = stamps(releaseOf(await readFile(join(sources, module), "utf8")));
  await compile({ sources, module, binary: join(dir, "controlplane"), ldflags: `-s -w ${stamped}`, say });
  await symlink("controlplane", join(dir, "kubectl"));
};

const partOf = (release: Release, words: Pick<Part, "why" | "sizeHint" | "needs">): Part => ({
  name: modules[release],
  ...words,
  programs: { go: { from: "Go 1.26 or later, from its own site" } },
  isReady: async () => existsSync((await controlPlaneFiles(release)).kubectl),
  install: async (say) => {
    const version = await command("go", ["version"]);
    say(`building with ${version.trim()}`);
    await intoPlace(await place(release), (dir) => build(release, dir, say));
  },
});

export const go: Part = partOf("usual", {
  why: "kube-apiserver, etcd, controller manager, scheduler and kubectl, built from our Go module",
  sizeHint: "630 MB of modules, 3 GB of build cache, a binary of 130 MB; first build about 8 CPU-minutes",
  needs: [],
});

export const goWithGangs: Part = partOf("gangs", {
  why: "the same of Kubernetes 1.37, whose scheduler can place gangs: for the native cases of `npm run e2e -- --gang`",
  sizeHint: "another 270 MB of modules, 3.4 GB of build cache, a binary of 148 MB; first build 13 CPU-minutes",
  // Built after `go`, so that packages that both have are compiled once.
  needs: ["go"],
});
