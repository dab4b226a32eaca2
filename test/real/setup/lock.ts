/** Lets one process at a time install into the cache; a second one waits, and then finds the parts installed. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** True if the holder has exited without releasing the lock. */
const isStale = async (lock: string): Promise<boolean> => {
  const pid = Number(await readFile(lock, "utf8").catch(() => "0"));
  return pid > 0 && !isAlive(pid);
};

const take = (lock: string): Promise<boolean> =>
  writeFile(lock, String(process.pid), { flag: "wx" }).then(
    () => true,
    () => false,
  );

/** Runs `work` while holding the file `lock`. */
export const alone = async <T>(lock: string, work: () => Promise<T>): Promise<T> => {
  await mkdir(dirname(lock), { recursive: true });
  while (!(await take(lock))) {
    if (await isStale(lock)) await rm(lock, { force: true });
    else await sleep(500);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
};
