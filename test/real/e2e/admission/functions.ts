/** Admission by functions: a dispatcher, and the function `admission`, under the accounts and settings of their overlays. */
import { once } from "node:events";
import { dirname, join } from "node:path";
import { freePort } from "../../../support/port.ts";
import { dataIn } from "../../infra/overlays.ts";
import { installOverlay } from "../functions/fixture.ts";
import { startFunction } from "../installed.ts";
import { type Case, kubectl, must, type Scene } from "../scene.ts";
import { isAsked, refuses, until } from "./rules.ts";
import { defaulted, overQuota } from "./webhooks.ts";

/** The function, the overlay that runs it, and the variables that have other values outside of the overlay's cluster. */
type Served = {
  readonly name: "dispatch" | "admission";
  readonly overlay: string;
  readonly env: Readonly<Record<string, string>>;
};

const away = "http://127.0.0.1:9/";

const served: readonly Served[] = [
  {
    ...{ name: "dispatch", overlay: "dispatch-admission" },
    env: { REKINDLE_CALL_URLS: `reconcile=${away},deliver=${away}`, REKINDLE_CALL_SECRET: "a secret of this lane" },
  },
  { ...{ name: "admission", overlay: "nats-admission" }, env: {} },
];

const webhook = /admission webhook "spark\.rekindle\.dev" denied the request/;

/** Runs `work` while the function serves admission at an address of this machine. */
const serving = async <T>(
  scene: Scene,
  { name, overlay, env }: Served,
  work: (url: string) => Promise<T>,
): Promise<T> => {
  const dir = join(dirname(scene.hostLog), overlay);
  const installed = await installOverlay(scene.cluster, dir, overlay);
  const [listen, port] = [await freePort(), await freePort()];
  const url = `https://127.0.0.1:${port}`;
  const variables = {
    ...dataIn(installed.overlay),
    ...env,
    REKINDLE_CLUSTER_RECORD: await installed.recordFor(name),
    REKINDLE_LISTEN: `127.0.0.1:${listen}`,
    REKINDLE_ADMISSION: "true",
    REKINDLE_ADMISSION_LISTEN: `127.0.0.1:${port}`,
    REKINDLE_ADMISSION_REACH: url,
  };
  const child = startFunction(name, variables, join(installed.logs, `${name}.log`));
  try {
    await until(`the API server asks ${name}`, async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended of itself with ${child.exitCode}`);
      return isAsked(scene);
    });
    return await work(url);
  } finally {
    if (child.exitCode === null) {
      child.kill();
      await once(child, "exit");
    }
  }
};

const registered = (scene: Scene): Promise<string> =>
  kubectl(scene.cluster, [
    "get",
    "mutatingwebhookconfiguration,validatingwebhookconfiguration",
    "rekindle",
    "-o",
    "json",
  ]);

const caseOf = (one: Served): Case => ({
  name: `the function ${one.name} of the overlay ${one.overlay} registers itself, refuses, defaults and counts`,
  run: async (scene) =>
    await serving(scene, one, async (url) => {
      must((await registered(scene)).includes(`"url": "${url}`), `the registration does not name ${url}`);
      return [await refuses(scene, webhook), await defaulted(scene), await overQuota(scene)];
    }),
});

export const byFunctions: readonly Case[] = served.map(caseOf);
