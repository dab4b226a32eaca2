/**
 * The demo's cluster for other clients: reached at once at its address, and used for kinds beside those of the demo.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import * as z from "zod";
import { runDemo } from "../../../../shared/deployments/demo/start.ts";

const root = new URL("../../../../", import.meta.url);

const config = z.object({
  clusters: z.tuple([z.object({ cluster: z.object({ server: z.string() }) })]),
  users: z.tuple([z.object({ user: z.object({ token: z.string() }) })]),
});
const phased = z.object({ status: z.object({ state: z.object({ phase: z.string() }) }) });

type Demo = { readonly text: () => string; readonly stop: () => Promise<number>; readonly kubeconfig: string };

const until = async <T>(look: () => Promise<T | undefined>, told: () => string): Promise<T> => {
  for (let left = 300; left > 0; left -= 1) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    await sleep(50);
  }
  throw new Error(`not within 15 s:\n${told()}`);
};

/** Starts the demo with a kubeconfig of its own; `stop` is Ctrl-C. */
const started = async (
  folder: string,
  more: readonly string[],
): Promise<Demo & { readonly warned: readonly string[] }> => {
  const texts: string[] = [];
  const warned: string[] = [];
  const interrupted = new AbortController();
  const kubeconfig = join(folder, "kubeconfig");
  const ended = runDemo({
    ...{ args: ["--kubeconfig", kubeconfig, ...more], root, env: {}, interrupted: interrupted.signal },
    output: { write: (text) => texts.push(text) },
    warn: (line) => warned.push(line),
  });
  const stop = (): Promise<number> => {
    interrupted.abort();
    return ended;
  };
  return { text: () => texts.join(""), stop, kubeconfig, warned };
};

const inFolder = async (act: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "rekindle-demo-served-"));
  try {
    await act(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};

/** Returns a client of the demo's API server, by its kubeconfig. */
const asker = async ({ kubeconfig, text }: Demo) => {
  const { clusters, users } = await until(
    async () => config.parse(JSON.parse(await readFile(kubeconfig, "utf8"))),
    text,
  );
  return (path: string, body?: unknown): Promise<Response> =>
    fetch(`${clusters[0].cluster.server}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${users[0].user.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
};

const jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";

describe("the demo's cluster", { concurrency: true }, () => {
  test("can be reached at once with --skip-story, runs a Volcano Job to its end, and prints that", () =>
    inFolder(async (folder) => {
      const demo = await started(folder, ["--skip-story"]);
      try {
        const ask = await asker(demo);
        await until(async () => ((await ask(jobs)).status === 200 ? true : undefined), demo.text);
        const example = await readFile(new URL("infra/examples/volcano-job.yaml", root), "utf8");
        const made = await ask(jobs, parse(example.replace("sleep 10", "sleep 1")));
        assert.equal(made.status, 201, await made.text());
        const phase = async () => phased.parse(await (await ask(`${jobs}/pair`)).json()).status.state.phase;
        await until(async () => ((await phase()) === "Completed" ? true : undefined), demo.text);
        await until(async () => (demo.text().includes("Job pair is Completed") ? true : undefined), demo.text);
      } finally {
        assert.equal(await demo.stop(), 0);
      }
      const text = demo.text();
      for (const part of [
        "Job pair is created",
        "Job pair is Running",
        "pair-worker-0 runs on",
        "pair-worker-1 exited with 0",
      ])
        assert.ok(text.includes(part), `${part} in\n${text}`);
      assert.ok(!text.includes("spark-pi is created"), text);
      assert.ok(text.indexOf("The cluster stays up") < text.indexOf("the functions are deployed"), text);
      assert.ok(!existsSync(demo.kubeconfig), "it goes with the port that it leads to");
    }));

  test("can be reached before the story begins", () =>
    inFolder(async (folder) => {
      const demo = await started(folder, []);
      try {
        const ask = await asker(demo);
        assert.equal((await ask("/api/v1/namespaces/kube-system")).status, 200);
        assert.ok(!demo.text().includes("kubectl apply"), demo.text());
        assert.ok(demo.text().includes(`export KUBECONFIG=${demo.kubeconfig}`), demo.text());
      } finally {
        assert.equal(await demo.stop(), 130);
      }
    }));

  test("does not overwrite an existing kubeconfig", () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, "kubeconfig"), "apiVersion: v1\nkind: Config\n");
      const demo = await started(folder, ["--skip-story"]);
      assert.equal(await demo.stop(), 2);
      assert.match(demo.warned.join("\n"), /^rekindle demo: --kubeconfig .* exists already; name another file$/);
      assert.match(await readFile(demo.kubeconfig, "utf8"), /^apiVersion/);
    }));
});
