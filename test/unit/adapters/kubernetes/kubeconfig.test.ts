/** Kubeconfigs: every form becomes one flat record, and an error is one line. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { stringify } from "yaml";
import type { Auth, Credential } from "../../../../shared/adapters/kubernetes/credentials.ts";
import { clusterOfPod, findCluster, whyUnreachable } from "../../../../shared/adapters/kubernetes/kubeconfig.ts";
import { account } from "../../../../shared/adapters/kubernetes/pod.ts";
import { ApiError } from "../../../../shared/core/http.ts";
import { cert, key } from "./certificate.ts";
import { refusal, scripted } from "./fake.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-kubeconfig-"));
});
after(() => rm(folder, { recursive: true }));

const base64 = (text: string): string => Buffer.from(text).toString("base64");

type Parts = { readonly cluster?: object; readonly user?: object; readonly more?: object };

const config = ({ cluster = {}, user = {}, more = {} }: Parts = {}) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "it",
  contexts: [{ name: "it", context: { cluster: "c", user: "u", namespace: "team-a" } }],
  clusters: [{ name: "c", cluster: { server: "https://api.test:6443", ...cluster } }],
  users: [{ name: "u", user }],
  ...more,
});

let files = 0;
const write = async (content: unknown): Promise<string> => {
  files += 1;
  const path = join(folder, `config-${files}`);
  await writeFile(path, typeof content === "string" ? content : stringify(content));
  return path;
};

const find = async (content: unknown, context?: string) =>
  findCluster({ path: await write(content), context, env: {} });

const version = "client.authentication.k8s.io/v1";

const credentialText = (status: object): string =>
  JSON.stringify({ apiVersion: version, kind: "ExecCredential", status });

/** Returns a plugin that prints a credential with this status. */
const plugin = (status: object, more: object = {}): object => ({
  exec: {
    apiVersion: version,
    command: process.execPath,
    args: ["-e", `process.stdout.write(${JSON.stringify(credentialText(status))})`],
    ...more,
  },
});

const credentialOf = async (auth: Auth | undefined, isRefused = false): Promise<Credential> => {
  assert.ok(auth !== undefined && "provider" in auth);
  const found = await auth.provider(isRefused);
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
};

const tokenOf = async (auth: Auth | undefined, isRefused = false): Promise<string | undefined> =>
  (await credentialOf(auth, isRefused)).token;

describe("a kubeconfig's cluster", () => {
  it("becomes a flat record", async () => {
    const { endpoint, context, namespace } = await find(config({ user: { token: "t1\n" } }));
    assert.deepEqual({ context, namespace }, { context: "it", namespace: "team-a" });
    const { auth, ...rest } = endpoint;
    assert.deepEqual(rest, { server: "https://api.test:6443" });
    assert.deepEqual(await credentialOf(auth), { token: "t1" });
  });

  const clusters: Record<string, { cluster: object; expected: object }> = {
    "with its authority inside": { cluster: { "certificate-authority-data": base64(cert) }, expected: { ca: cert } },
    "with its authority beside it": { cluster: { "certificate-authority": "ca.pem" }, expected: { ca: `${cert}\n` } },
    "with TLS verification disabled": {
      cluster: { "insecure-skip-tls-verify": true },
      expected: { insecure: true },
    },
    "under another name": { cluster: { "tls-server-name": "x" }, expected: { serverName: "x" } },
    "behind a proxy": { cluster: { "proxy-url": "http://p:1" }, expected: { proxy: "http://p:1" } },
    "without TLS": { cluster: { server: "http://127.0.0.1:8001" }, expected: { server: "http://127.0.0.1:8001" } },
  };
  for (const [name, { cluster, expected }] of Object.entries(clusters)) {
    it(name, async () => {
      await writeFile(join(folder, "ca.pem"), `${cert}\n`);
      const { auth: _, ...endpoint } = (await find(config({ cluster }))).endpoint;
      assert.deepEqual(endpoint, { server: "https://api.test:6443", ...expected });
    });
  }
});

describe("a context without a user", () => {
  it("has no credentials, and the cluster's authority all the same", async () => {
    const more = { contexts: [{ name: "it", context: { cluster: "c" } }], users: [] };
    const { endpoint } = await find(config({ cluster: { "certificate-authority-data": base64(cert) }, more }));
    assert.deepEqual(endpoint, { server: "https://api.test:6443", ca: cert });
  });
});

describe("another address of the API server", () => {
  const server = "https://other.test:6443";
  it("has the same user and authority, and its own server name", async () => {
    const cluster = { "certificate-authority-data": base64(cert), "tls-server-name": "x" };
    const path = await write(config({ cluster, user: { token: "t" } }));
    const { endpoint } = await findCluster({ path, server, env: {} });
    const { auth, ...rest } = endpoint;
    assert.deepEqual(rest, { server, ca: cert });
    assert.equal(await tokenOf(auth), "t");
  });

  it("is refused if it is no address", async () => {
    const path = await write(config());
    await assert.rejects(findCluster({ path, server: "other", env: {} }), /^KubeconfigError: other is not an address/);
  });

  it("is not used with a pod's service account", async () => {
    const env = { HOME: "/no/such", KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    await assert.rejects(
      findCluster({ server, env }),
      /no kubeconfig has credentials for https:\/\/other.test:6443: name one with --kubeconfig$/,
    );
  });
});

describe("a kubeconfig's user", () => {
  const fixed: Record<string, { user: object; credential?: object; headers?: object }> = {
    "with a certificate": {
      user: { "client-certificate-data": base64(cert), "client-key-data": base64(key) },
      credential: { cert, key },
    },
    "with a password": {
      user: { username: "a", password: "b" },
      headers: { authorization: `Basic ${base64("a:b")}` },
    },
    "that impersonates another": {
      user: {
        token: "t",
        as: "jane",
        "as-groups": ["devs", "ops"],
        "as-uid": "7",
        "as-user-extra": { "A/b": ["1", "2"] },
      },
      credential: { token: "t" },
      headers: {
        "impersonate-user": "jane",
        "impersonate-group": ["devs", "ops"],
        "impersonate-uid": "7",
        "impersonate-extra-a%2fb": ["1", "2"],
      },
    },
    "whose plugin gives a certificate": {
      user: plugin({ clientCertificateData: cert, clientKeyData: key }),
      credential: { cert, key },
    },
    "with a certificate and a token": {
      user: { "client-certificate-data": base64(cert), "client-key-data": base64(key), token: "t" },
      credential: { cert, key, token: "t" },
    },
    "whose token makes its plugin needless": {
      user: { ...plugin({}, { command: "no-such-plugin" }), token: "t" },
      credential: { token: "t" },
    },
    "without credentials": { user: {} },
  };
  for (const [name, { user, credential = {}, headers }] of Object.entries(fixed)) {
    it(name, async () => {
      const { endpoint } = await find(config({ user }));
      assert.deepEqual([await credentialOf(endpoint.auth), endpoint.headers], [credential, headers]);
    });
  }

  it("with a token in a file, read again after a minute", async (context) => {
    context.mock.timers.enable({ apis: ["Date"] });
    await writeFile(join(folder, "token"), "t1\n");
    const { endpoint } = await find(config({ user: { tokenFile: "token" } }));
    assert.equal(await tokenOf(endpoint.auth), "t1");
    await writeFile(join(folder, "token"), "t2");
    context.mock.timers.tick(61_000);
    assert.equal(await tokenOf(endpoint.auth), "t2");
  });

  it("with a plugin, which gets the cluster's data and runs again when its token is refused", async () => {
    const script = `
      const { spec } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
      const n = require("node:fs").existsSync("${join(folder, "asked")}") ? 2 : 1;
      require("node:fs").writeFileSync("${join(folder, "asked")}", "");
      console.log(JSON.stringify({ apiVersion: "${version}", kind: "ExecCredential", status: { token: [spec.cluster.server, spec.interactive, process.env.MORE, n].join(" ") } }));`;
    const more = { args: ["-e", script], provideClusterInfo: true, env: [{ name: "MORE", value: "more" }] };
    const { endpoint } = await find(config({ user: plugin({}, more) }));
    assert.equal(await tokenOf(endpoint.auth), "https://api.test:6443 false more 1");
    assert.equal(await tokenOf(endpoint.auth), "https://api.test:6443 false more 1");
    assert.equal(await tokenOf(endpoint.auth, true), "https://api.test:6443 false more 2");
  });
});

describe("a mistake is one line:", () => {
  const wrong: Record<string, { content: unknown; context?: string; message: RegExp }> = {
    "no YAML": { content: "a: [", message: /^kubeconfig .* is not YAML: / },
    "no kubeconfig": { content: { clusters: "x" }, message: /^kubeconfig .* is not valid: clusters: / },
    "nothing in it": { content: "", message: /no current context \(it has none\); name one with --context$/ },
    "no current context": {
      content: { ...config(), "current-context": "" },
      message: /no current context \(it has it\)/,
    },
    "an unknown context": {
      content: config(),
      context: "prod",
      message: /^the kubeconfig has no context prod \(it has it\)$/,
    },
    "an unknown cluster": { content: { ...config(), clusters: [] }, message: /^context it names a cluster .*: c$/ },
    "an unknown user": { content: { ...config(), users: [] }, message: /^context it names a user .*: u$/ },
    "no address": { content: config({ cluster: { server: "nowhere" } }), message: /^nowhere is not an address/ },
    "a proxy of another kind": {
      content: config({ cluster: { "proxy-url": "ftp://p" } }),
      message: /^proxy ftp:\/\/p is not supported/,
    },
    "a missing authority": {
      content: config({ cluster: { "certificate-authority": "none.pem" } }),
      message: /^\/.*none\.pem, which the kubeconfig names, does not exist$/,
    },
    "a missing key": {
      content: config({ user: { "client-certificate-data": base64("C"), "client-key": "none.pem" } }),
      message: /^\/.*none\.pem, which the kubeconfig names, does not exist$/,
    },
    "a missing plugin": {
      content: config({ user: plugin({}, { command: "no-such-plugin", installHint: "brew install it\nor not" }) }),
      message: /^the kubeconfig's exec plugin no-such-plugin is not installed: brew install it$/,
    },
    "a plugin that fails": {
      content: config({ user: plugin({}, { args: ["-e", "console.error('token expired\\nmore'); process.exit(1)"] }) }),
      message: /failed: token expired$/,
    },
    "a plugin that prints something else": {
      content: config({ user: plugin({}, { args: ["-e", "console.log('secret')"] }) }),
      message: /did not print an ExecCredential$/,
    },
    "a plugin of another version": {
      content: config({ user: plugin({}, { apiVersion: "client.authentication.k8s.io/v1beta1" }) }),
      message: /printed an ExecCredential of client\.authentication\.k8s\.io\/v1, and not of .*\/v1beta1$/,
    },
    "a plugin that needs a terminal": {
      content: config({ user: plugin({}, { interactiveMode: "Always" }) }),
      message: /needs a terminal, and runs without one: use another user of the kubeconfig$/,
    },
    "a provider that is not known": {
      content: config({ user: { "auth-provider": { name: "openstack" } } }),
      message: /^auth provider openstack gave no token$/,
    },
    "a token and a password": {
      content: config({ user: { token: "t", username: "a", password: "secret" } }),
      message: /^the kubeconfig's user u has a token and a password: keep one$/,
    },
    "groups without a user": {
      content: config({ user: { token: "t", "as-groups": ["devs"] } }),
      message: /^the kubeconfig's user u has as-uid, as-groups or as-user-extra without as: name the user in as$/,
    },
    "a certificate without its key": {
      content: config({ user: { "client-certificate-data": base64(cert) } }),
      message: /^the kubeconfig's user u has a client certificate without its key$/,
    },
    "a name twice in one file": {
      content: {
        ...config(),
        users: [
          { name: "u", user: { token: "a" } },
          { name: "u", user: { token: "b" } },
        ],
      },
      message: /^kubeconfig .* names the user u twice: keep one$/,
    },
    "a plugin without a credential": {
      content: config({ user: plugin({}) }),
      message: /neither token nor certificate$/,
    },
  };
  for (const [name, { content, context, message }] of Object.entries(wrong)) {
    it(name, async () => {
      await assert.rejects(find(content, context), (error) => {
        assert.ok(error instanceof Error);
        assert.equal(error.name, "KubeconfigError");
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /\n|secret/);
        return true;
      });
    });
  }

  it("a missing file, and no file at all", async () => {
    await assert.rejects(findCluster({ path: "/no/such", env: {} }), { message: "kubeconfig not found: /no/such" });
    await assert.rejects(findCluster({ env: { HOME: "/no/such" } }), { message: /^no cluster: no --kubeconfig/ });
  });

  it("certificates that cannot be parsed", async () => {
    const user = { "client-certificate-data": base64("x"), "client-key-data": base64(key) };
    const content = config({ cluster: { "certificate-authority-data": base64(cert) }, user });
    await assert.rejects(find(content), { message: /^the certificates of context it cannot be used: / });
  });
});

describe("kubeconfig files are found as kubectl finds them:", () => {
  it("several in KUBECONFIG, of which the first with a name wins and missing ones are skipped", async () => {
    const first = await write({ ...config({ user: { token: "first" } }), "current-context": undefined });
    const more = [{ name: "other", context: { cluster: "c", user: "u" } }];
    const second = await write({
      ...config({ user: { token: "second" }, more: { contexts: more } }),
      "current-context": "other",
    });
    const env = { KUBECONFIG: ["/no/such", first, second].join(delimiter) };
    const found = await findCluster({ env });
    assert.deepEqual([found.context, await tokenOf(found.endpoint.auth)], ["other", "first"]);
    assert.equal((await findCluster({ env, context: "it" })).namespace, "team-a");
  });

  it("otherwise the one in the home folder", async () => {
    await mkdir(join(folder, ".kube"), { recursive: true });
    await writeFile(join(folder, ".kube", "config"), stringify(config()));
    assert.equal((await findCluster({ env: { HOME: folder } })).context, "it");
  });
});

describe("a pod's service account", () => {
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
  const mounted = async (name: string, files: Readonly<Record<string, string>>): Promise<string> => {
    const root = join(folder, name);
    await mkdir(join(root, account), { recursive: true });
    for (const [file, content] of Object.entries(files)) await writeFile(join(root, account, file), content);
    return root;
  };
  const find = async (root: string) => {
    Object.assign(process.env, env);
    return await clusterOfPod(env, await import("../../../../shared/adapters/kubernetes/client-library.ts"), root);
  };

  it("is the cluster inside a pod; its token is read again after a minute", async (context) => {
    context.mock.timers.enable({ apis: ["Date"] });
    const root = await mounted("pod", { "ca.crt": cert, namespace: "rekindle\n", token: "t1\n" });
    const found = await find(root);
    assert.deepEqual(
      [found?.context, found?.namespace, found?.endpoint.server, found?.endpoint.ca],
      ["in-cluster", "rekindle", "https://[fd00::1]:6443", cert],
    );
    assert.equal(await tokenOf(found?.endpoint.auth), "t1");
    await writeFile(join(root, account, "token"), "t2\n");
    context.mock.timers.tick(61_000);
    assert.equal(await tokenOf(found?.endpoint.auth), "t2");
  });

  it("without a token is a mistake, and without an authority none", async () => {
    await assert.rejects(find(await mounted("tokenless", { "ca.crt": cert })), {
      message: "the pod's service account token is not mounted",
    });
    assert.equal(await find(await mounted("bare", {})), undefined);
  });
});

describe("the reason why a cluster does not answer", () => {
  const record = { endpoint: { server: "https://api.test" }, context: "it", namespace: undefined };
  it("is one line, and is undefined if the cluster answers", async () => {
    assert.equal(await whyUnreachable(scripted({ body: {} }), record), undefined);
    assert.equal(await whyUnreachable(scripted(refusal(403, "Forbidden")), record), undefined);
    const unknown = await whyUnreachable(scripted(refusal(401, "Unauthorized")), record);
    assert.equal(unknown, "the API server https://api.test does not accept the credentials of context it");
    const gone = new ApiError({ status: 0, reason: "Unreachable", message: "GET /version: connect ECONNREFUSED" });
    const away = { ...scripted(), send: () => Promise.reject(gone) };
    const why = "the API server https://api.test (context it) cannot be reached: connect ECONNREFUSED";
    assert.equal(await whyUnreachable(away, record), why);
  });
});
