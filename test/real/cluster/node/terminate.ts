/** Terminates a running container: preStop, SIGTERM, and SIGKILL at the deadline. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Life } from "./context.ts";
import type { Running } from "./process.ts";

const remaining = (life: Life): number => life.stopping.deadline() - performance.now();

/** The deadline may be moved earlier during the wait, so it is read repeatedly. */
const endedInTime = async (life: Life, ended: Promise<unknown>): Promise<boolean> => {
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  while (!isOver && remaining(life) > 0) await Promise.race([over, sleep(Math.min(100, Math.max(1, remaining(life))))]);
  return isOver;
};

const preStop = async (life: Life, running: Running): Promise<void> => {
  const act = life.tracked.spec.lifecycle?.preStop;
  if (act === undefined) return;
  if (act.exec !== undefined)
    await endedInTime(life, running.exec(act.exec.command, Math.max(1, Math.ceil(remaining(life)))));
  if (act.sleep !== undefined) await endedInTime(life, sleep(act.sleep.seconds * 1000));
};

export const terminate = async (life: Life, running: Running): Promise<number> => {
  const { context, tracked } = life;
  context.node.tell(context.pod(), "Normal", "Killing", `Stopping container ${tracked.spec.name}`, tracked.spec.name);
  if (remaining(life) > 0) {
    await preStop(life, running);
    await running.signal("SIGTERM");
  }
  if (!(await endedInTime(life, running.exit))) running.kill();
  return running.exit;
};
