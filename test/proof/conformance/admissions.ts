/** Admission webhooks: which requests reach them, the effect of a patch, and the messages of a denial. */
import { testCase } from "../../support/test-case.ts";
import { map } from "./basics.ts";
import type { Scenario, Tell } from "./scenario.ts";

const maps = (ns: string) => `/api/v1/namespaces/${ns}/configmaps`;
const configurations = (phase: string) => `/apis/admissionregistration.k8s.io/v1/${phase}webhookconfigurations`;
const kinds = { mutating: "MutatingWebhookConfiguration", validating: "ValidatingWebhookConfiguration" } as const;

type Phase = keyof typeof kinds;

const everything = { operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };

type Hook = { readonly path: string; readonly more?: object; readonly url?: string };

/** Registers webhooks for ConfigMaps of the scenario's namespace, and deletes them afterwards. */
const hooked = async (
  { api, ns }: Tell,
  phase: Phase,
  hooks: readonly Hook[],
  act: () => Promise<void>,
): Promise<void> => {
  const name = `${phase}-${ns}`;
  const { status, body } = await api.call("POST", configurations(phase), {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: kinds[phase],
    metadata: { name },
    webhooks: hooks.map(({ path, more, url }, i) => ({
      name: `hook-${i}.example.com`,
      clientConfig: { url: url ?? `${api.hooks.url}${path}`, caBundle: api.hooks.caBundle },
      rules: [everything],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": ns } },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...more,
    })),
  });
  if (status !== 201) throw new Error(`the webhooks cannot be registered: ${JSON.stringify(body)}`);
  await api.settle();
  await act();
  await api.call("DELETE", `${configurations(phase)}/${name}`);
  await api.settle();
};

const merge = { "content-type": "application/merge-patch+json" } as const;

export const admissions: readonly Scenario[] = [
  testCase("validating webhooks", async (tell) => {
    const { ask, api, ns } = tell;
    const deny = (name: string, path: string, more: object = {}) =>
      hooked(tell, "validating", [{ path, more }], async () => {
        await ask(name, "POST", maps(ns), map("one"));
      });
    await deny("a denial", "/deny");
    await deny("a denial without words", "/deny-plainly");
    await deny("a denial with a reason", "/deny-for-a-reason");
    await deny("a creation as it is told", "/echo");
    await deny("a warning", "/warn");
    await api.call("POST", maps(ns), map("two"));
    await hooked(tell, "validating", [{ path: "/echo" }], async () => {
      await ask("a patch as it is told", "PATCH", `${maps(ns)}/two`, { data: { b: "2" } }, merge);
      await ask("a put as it is told", "PUT", `${maps(ns)}/two`, map("two", { c: "3" }));
      await ask("a deletion as it is told", "DELETE", `${maps(ns)}/two`);
      await ask("a dry run as it is told", "POST", `${maps(ns)}?dryRun=All`, map("three"));
      await ask("what is invalid is refused before", "POST", maps(ns), map("Bad_Name"));
      await ask("what is not watched over", "POST", `/api/v1/namespaces/${ns}/secrets`, {
        metadata: { name: "one" },
      });
      await ask("reading is nobody's business", "GET", `${maps(ns)}/two`);
    });
  }),
  testCase("chosen webhooks", async (tell) => {
    const { ask, ns } = tell;
    const chosen = (more: object, act: () => Promise<void>) =>
      hooked(tell, "validating", [{ path: "/deny", more }], act);
    await chosen({ objectSelector: { matchLabels: { guarded: "yes" } } }, async () => {
      await ask("by label of the object", "POST", maps(ns), map("one", {}, { labels: { guarded: "yes" } }));
      await ask("not without it", "POST", maps(ns), map("one"));
      await ask(
        "by the label it is to get",
        "PATCH",
        `${maps(ns)}/one`,
        { metadata: { labels: { guarded: "yes" } } },
        merge,
      );
    });
    await chosen({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "other" } } }, async () => {
      await ask("not of another namespace", "POST", maps(ns), map("two"));
    });
    await chosen(
      {
        namespaceSelector: {
          matchExpressions: [
            { key: "kubernetes.io/metadata.name", operator: "In", values: [ns] },
            { key: "absent", operator: "DoesNotExist" },
          ],
        },
      },
      async () => {
        await ask("by expressions", "POST", maps(ns), map("three"));
      },
    );
    await chosen({ rules: [{ ...everything, operations: ["DELETE"] }] }, async () => {
      await ask("not of another operation", "POST", maps(ns), map("three"));
      await ask("of this operation", "DELETE", `${maps(ns)}/three`);
    });
  }),
  testCase("mutating webhooks", async (tell) => {
    const { ask, ns } = tell;
    await hooked(tell, "mutating", [{ path: "/label" }, { path: "/second" }], async () => {
      await ask("one after another", "POST", maps(ns), map("one", {}, { labels: { own: "1" } }));
      await ask("at a change", "PATCH", `${maps(ns)}/one`, { data: { b: "2" } }, merge);
      await hooked(tell, "validating", [{ path: "/deny" }], async () => {
        await ask("before those that validate", "POST", maps(ns), map("two"));
      });
    });
    await hooked(tell, "mutating", [{ path: "/invalid" }], async () => {
      await ask("that make it invalid", "POST", maps(ns), map("three"));
    });
    await hooked(tell, "mutating", [{ path: "/deny" }], async () => {
      await ask("that deny", "POST", maps(ns), map("three"));
    });
  }),
  testCase("webhooks that fail", async (tell) => {
    const { ask, ns } = tell;
    const url = "https://127.0.0.1:1/nobody";
    await hooked(tell, "validating", [{ path: "", url }], async () => {
      await ask("refuse", "POST", maps(ns), map("one"));
    });
    await hooked(tell, "validating", [{ path: "", url, more: { failurePolicy: "Ignore" } }], async () => {
      await ask("are ignored where that is wanted", "POST", maps(ns), map("one"));
    });
    await hooked(tell, "mutating", [{ path: "", url, more: { timeoutSeconds: 3 } }], async () => {
      await ask("refuse when they mutate", "POST", maps(ns), map("two"));
    });
  }),
];
