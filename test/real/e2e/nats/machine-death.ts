/**
 * The death of the machine of NATS' server. Its disk is a file behind a loop device: what the server has not synced is in
 * the kernel's memory and not in the file, so a copy of the file is the disk after the death.
 */
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { nkeys } from "@nats-io/transport-node";
import { readMessage } from "../../../../shared/engine/message.ts";
import { messageOf } from "../../queue/counter.ts";
import { openNatsWorker } from "../../queue/nats.ts";
import { type NatsServer, ofOverlay, startNats } from "../../queue/nats-server.ts";
import { command } from "../../setup/part.ts";
import type { Case } from "../lambda/cases.ts";
import { must } from "../scene.ts";

const diskBytes = 64 * 1_024 * 1_024;
const sends = 400;
const user = nkeys.createUser();
const credentials = async (): Promise<string> => new TextDecoder().decode(user.getSeed());

type Configuration = NonNullable<Parameters<typeof startNats>[0]["configuration"]>;

/** The server's default: it syncs every two minutes. */
const unsynced: Configuration = (place) => ofOverlay(place).replace(/^.*sync_interval: always\n/m, "");

const mounted = async <T>(image: string, folder: string, use: () => Promise<T>): Promise<T> => {
  await mkdir(folder, { recursive: true });
  await command("mount", ["-o", "loop", image, folder]);
  try {
    return await use();
  } finally {
    await command("umount", [folder]);
  }
};

const served = async <T>(
  dir: string,
  store: string,
  configuration: Configuration,
  use: (server: NatsServer) => Promise<T>,
): Promise<T> => {
  const env = { REKINDLE_NATS_USER: user.getPublicKey() };
  const server = await startNats({ dir, store: join(store, "jetstream"), configuration, env });
  try {
    return await use(server);
  } finally {
    await server.kill();
  }
};

/** Sends until the machine dies; returns the reasons of messages that the server has acknowledged until then. */
const sent = async (server: NatsServer, die: () => Promise<void>): Promise<readonly string[]> => {
  const { nats, queue } = await openNatsWorker(server.url, "rekindle-keys", { credentials });
  const acknowledged: string[] = [];
  let isDead = false;
  const sending = Promise.allSettled(
    Array.from({ length: sends }, async (_, at) => {
      await sleep(at * 5);
      if (isDead) return;
      await queue.send(messageOf(`k${at % 20}`, String(at)), `id ${at}`);
      if (!isDead) acknowledged.push(String(at));
    }),
  );
  for (const until = performance.now() + 30_000; acknowledged.length < sends / 2; await sleep(5))
    must(performance.now() < until, "the server takes too few messages");
  isDead = true;
  await die();
  await nats.close();
  await sending;
  return acknowledged;
};

/** Returns the reasons of all messages that are there. */
const there = async (server: NatsServer): Promise<ReadonlySet<string>> => {
  const { nats, receiver } = await openNatsWorker(server.url, "rekindle-keys", { credentials });
  const found = new Set<string>();
  for (let more = await receiver.receive(2_000); more.length > 0; more = await receiver.receive(500)) {
    for (const { body } of more) found.add(readMessage(body)?.reason ?? "");
    await receiver.acknowledge(more);
  }
  await receiver.close?.();
  await nats.close();
  return found;
};

/** Returns the messages that were acknowledged before the death, and those of them that are there afterwards. */
const survived = async (dir: string, configuration: Configuration) => {
  const [disk, after] = [join(dir, "disk"), join(dir, "after")];
  await command("truncate", ["-s", String(diskBytes), disk]);
  await command("mkfs.ext4", ["-q", disk]);
  const acknowledged = await mounted(disk, join(dir, "before-death"), () =>
    served(dir, join(dir, "before-death"), configuration, (server) =>
      sent(server, async () => {
        await server.kill();
        await cp(disk, after);
      }),
    ),
  );
  const found = await mounted(after, join(dir, "after-death"), () =>
    served(dir, join(dir, "after-death"), configuration, there),
  );
  return { acknowledged: acknowledged.length, kept: acknowledged.filter((reason) => found.has(reason)).length };
};

export const machineDies: Case<unknown> = {
  name: "the machine of NATS' server dies: with the overlay's sync_interval every acknowledged message is there afterwards",
  run: async () => {
    const dir = await mkdtemp(join(tmpdir(), "rekindle-machine-"));
    try {
      await mkdir(join(dir, "synced"));
      await mkdir(join(dir, "unsynced"));
      const always = await survived(join(dir, "synced"), ofOverlay);
      must(always.kept === always.acknowledged, `${always.kept} of ${always.acknowledged} messages are there`);
      // The disk of this case forgets indeed.
      const usual = await survived(join(dir, "unsynced"), unsynced);
      must(usual.kept < usual.acknowledged, "without the setting nothing is lost: this case sees no loss");
      return [
        `${always.kept} of ${always.acknowledged} are there; with the server's default ${usual.kept} of ${usual.acknowledged}`,
      ];
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  },
};
