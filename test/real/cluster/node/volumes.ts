/** A pod's volumes as folders of this machine, created once; those with files from the API are kept up to date. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { keysOf, NotThere } from "./env.ts";
import { programPath } from "./images.ts";
import type { Source, Volume } from "./objects.ts";
import { amount } from "./quantity.ts";
import { filesOf, type SourceContext, type VolumeFile } from "./sources.ts";

const run = promisify(execFile);

export type Volumes = {
  /** Volume name → folder (or file) of this machine. */
  readonly paths: ReadonlyMap<string, string>;
  /** Names of the volumes that containers may not write to. */
  readonly fixed: ReadonlySet<string>;
  readonly refresh: (context: SourceContext) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Returns the sources and the mode of a volume that consists of files; undefined for all other volumes. */
const fileSources = (volume: Volume): { sources: readonly Source[]; mode: number } | undefined => {
  const mode = (own: { readonly defaultMode?: number }): number => own.defaultMode ?? 0o644;
  if (volume.projected) return { sources: volume.projected.sources ?? [], mode: mode(volume.projected) };
  const single = volume.configMap ?? volume.secret ?? volume.downwardAPI;
  return single === undefined ? undefined : { sources: [volume], mode: mode(single) };
};

/** Writes a file atomically: a reader sees the old content or the new one. */
const place = async (dir: string, file: VolumeFile, mode: number, group: number | undefined): Promise<void> => {
  const to = join(dir, file.path);
  await mkdir(dirname(to), { recursive: true });
  const part = join(dir, `..part-${process.pid}`);
  await writeFile(part, file.content);
  await chmod(part, (file.mode ?? mode) | (group === undefined ? 0 : 0o440));
  if (group !== undefined) await chown(part, 0, group);
  await rename(part, to);
};

const fill = async (dir: string, volume: Volume, context: SourceContext): Promise<boolean> => {
  const made = fileSources(volume);
  if (made === undefined) return false;
  const files = (await Promise.all(made.sources.map((source) => filesOf(context, source)))).flat();
  await mkdir(dir, { recursive: true });
  for (const file of files) await place(dir, file, made.mode, context.pod.spec.securityContext?.fsGroup);
  const wanted = new Set(files.map(({ path }) => path));
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(dir.length + 1);
    if (entry.isFile() && !wanted.has(path)) await rm(join(dir, path));
  }
  return true;
};

const emptyDir = async (
  dir: string,
  { medium, sizeLimit }: NonNullable<Volume["emptyDir"]>,
  group: number | undefined,
): Promise<void> => {
  await mkdir(dir, { recursive: true });
  if (medium === "Memory") {
    const size = sizeLimit === undefined ? [] : ["-o", `size=${Math.ceil(amount(sizeLimit))}`];
    await run(programPath("mount"), ["-t", "tmpfs", ...size, "tmpfs", dir]);
  }
  if (group !== undefined) await chown(dir, 0, group);
  await chmod(dir, group === undefined ? 0o777 : 0o2777);
};

/**
 * Container runtimes create a missing path of an unchecked type; here it is created in the pod's own `dir`, so that
 * this machine is not changed.
 */
const hostPath = async (dir: string, { path, type = "" }: NonNullable<Volume["hostPath"]>): Promise<string> => {
  if (type === "DirectoryOrCreate") await mkdir(path, { recursive: true });
  if (type === "FileOrCreate" && !existsSync(path)) await writeFile(path, "");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined && type === "") {
    await mkdir(dir, { recursive: true });
    return dir;
  }
  if (found === undefined) throw new NotThere(`hostPath type check failed: ${path} does not exist`);
  if (type.startsWith("Directory") && !found.isDirectory())
    throw new NotThere(`hostPath type check failed: ${path} is not a directory`);
  if (type.startsWith("File") && !found.isFile())
    throw new NotThere(`hostPath type check failed: ${path} is not a file`);
  return path;
};

type Claim = { spec: { volumeName?: string } };
type PersistentVolume = { spec: { hostPath?: { path: string }; local?: { path: string } } };

const claimed = async ({ api, pod }: SourceContext, name: string): Promise<string> => {
  const claim = await api.get<Claim>(`/api/v1/namespaces/${pod.metadata.namespace}/persistentvolumeclaims/${name}`);
  const bound = claim?.spec.volumeName;
  if (bound === undefined) throw new NotThere(`persistentvolumeclaim "${name}" is not bound`);
  const volume = await api.get<PersistentVolume>(`/api/v1/persistentvolumes/${bound}`);
  const path = volume?.spec.hostPath?.path ?? volume?.spec.local?.path;
  if (path === undefined) throw new NotThere(`persistent volume "${bound}" is neither hostPath nor local`);
  await mkdir(path, { recursive: true });
  return path;
};

const mountOne = async (dir: string, volume: Volume, context: SourceContext): Promise<string> => {
  if (volume.hostPath !== undefined) return hostPath(dir, volume.hostPath);
  if (volume.persistentVolumeClaim !== undefined) return claimed(context, volume.persistentVolumeClaim.claimName);
  if (await fill(dir, volume, context)) return dir;
  if (volume.emptyDir === undefined) throw new NotThere("this node agent knows no such kind of volume");
  await emptyDir(dir, volume.emptyDir, context.pod.spec.securityContext?.fsGroup);
  return dir;
};

const isMemory = (volume: Volume): boolean => volume.emptyDir?.medium === "Memory";

/** Mounts the volumes that are not in `done`; callers repeat it until none is missing. */
export const mountVolumes = async (root: string, context: SourceContext, done: Map<string, string>): Promise<void> => {
  for (const volume of context.pod.spec.volumes ?? []) {
    if (done.has(volume.name)) continue;
    try {
      done.set(volume.name, await mountOne(join(root, volume.name), volume, context));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new NotThere(`MountVolume.SetUp failed for volume "${volume.name}" : ${why}`, { cause: error });
    }
  }
};

export const volumesOf = (root: string, paths: ReadonlyMap<string, string>, all: readonly Volume[]): Volumes => {
  let refreshing = Promise.resolve();
  const refresh = async (context: SourceContext): Promise<void> => {
    const fresh = { ...context, keys: keysOf(context.api, context.pod.metadata.namespace) };
    for (const volume of all) await fill(join(root, volume.name), volume, fresh);
  };
  return {
    paths,
    fixed: new Set(all.filter((volume) => fileSources(volume) !== undefined).map(({ name }) => name)),
    refresh: (context) => {
      const next = refreshing.then(() => refresh(context));
      refreshing = next.catch(() => {});
      return next;
    },
    close: async () => {
      // A write under way could recreate the folder during its removal.
      await refreshing;
      for (const volume of all.filter(isMemory))
        await run(programPath("umount"), ["-l", join(root, volume.name)]).catch(() => {});
      await rm(root, { recursive: true, force: true });
    },
  };
};
