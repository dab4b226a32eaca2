/** A container's mounts: folders or files of this machine and their places inside. */
import { existsSync } from "node:fs";
import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Life } from "./context.ts";
import { expand, NotThere } from "./env.ts";
import type { Mount } from "./objects.ts";
import type { BoundMount } from "./sandbox.ts";

/** Returns the folder or file behind a mount; a missing sub path is created as a folder. */
const sourceOf = async (life: Life, mount: Mount, env: ReadonlyMap<string, string>): Promise<string> => {
  const volume = life.context.volumes.get(mount.name);
  if (volume === undefined) throw new NotThere(`volume "${mount.name}" is not mounted`);
  const sub = mount.subPathExpr === undefined ? (mount.subPath ?? "") : expand(mount.subPathExpr, env);
  if (sub === "") return volume;
  const path = join(volume, sub);
  if (!path.startsWith(volume)) throw new NotThere(`subPath "${sub}" leaves its volume`);
  if (!existsSync(path)) {
    await mkdir(path, { recursive: true });
    await chmod(path, 0o777);
  }
  return path;
};

/** A mount inside another volume needs a mount point there. */
const makePlace = async (outer: BoundMount, inner: BoundMount): Promise<void> => {
  const place = join(outer.from, inner.to.slice(outer.to.length));
  if (existsSync(place)) return;
  if ((await stat(inner.from)).isDirectory()) await mkdir(place, { recursive: true });
  else {
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, "");
  }
};

export const mountsOf = async (life: Life, env: ReadonlyMap<string, string>): Promise<BoundMount[]> => {
  const mounts: BoundMount[] = [];
  for (const mount of life.tracked.spec.volumeMounts ?? []) {
    const readOnly = mount.readOnly === true || life.context.fixedVolumes().has(mount.name);
    mounts.push({ from: await sourceOf(life, mount, env), to: mount.mountPath.replace(/(?<=.)\/+$/, ""), readOnly });
  }
  for (const outer of mounts)
    for (const inner of mounts) if (inner.to.startsWith(`${outer.to}/`)) await makePlace(outer, inner);
  return mounts;
};
