/** The control plane binary: the Go module `test/real/cluster/controlplane`, built once per content of its sources. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { compile } from "./compile.ts";
import { cacheDir, command, intoPlace, type Part, type Say } from "./part.ts";

const sources = join(import.meta.dirname, "..", "cluster", "controlplane");

/**
 * Returns the release that go.mod pins. Servers and clients are stamped with it, because clients fail on an unstamped
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

/** Returns the folder of the binary for the current sources of a Go module of this repository. */
export const placeOf = async (folder: string, name: string): Promise<string> => {
  const hash = createHash("sha256");
  const files = (await readdir(folder)).filter((file) => /\.go$|^go\.(mod|sum)$/.test(file)).toSorted();
  for (const file of files) hash.update(`${file}\0`).update(await readFile(join(folder, file)));
  return join(cacheDir(), name, hash.digest("hex").slice(0, 16));
};

const place = (): Promise<string> => placeOf(sources, "controlplane");

/** Returns the files that the part `go` provides. */
export const controlPlaneFiles = async (): Promise<{ binary: string; kubectl: string }> => {
  const dir = await place();
  return { binary: join(dir, "controlplane"), kubectl: join(dir, "kubectl") };
};

const build = async (dir: string, say: Say): Promise<void> => {
  const release = releaseOf(await readFile(join(sources, "go.mod"), "utf8"));
  await compile({ sources, binary: join(dir, "controlplane"), ldflags: `-s -w ${stamps(release)}`, say });
  await symlink("controlplane", join(dir, "kubectl"));
};

export const go: Part = {
  name: "go",
  why: "kube-apiserver, etcd, controller manager, scheduler and kubectl, built from our Go module",
  sizeHint: "630 MB of modules, 3 GB of build cache, a binary of 130 MB; first build about 8 CPU-minutes",
  needs: [],
  isReady: async () => existsSync((await controlPlaneFiles()).kubectl),
  install: async (say) => {
    const version = await command("go", ["version"]).catch(() => {
      throw new Error("Go 1.26 or later is needed and `go` was not found");
    });
    say(`building with ${version.trim()}`);
    await intoPlace(await place(), (dir) => build(dir, say));
  },
};
