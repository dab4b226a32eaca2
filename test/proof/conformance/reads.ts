/** LIST and WATCH: selectors, pages, revisions, events. */
import { testCase } from "../../support/test-case.ts";
import { map, pod } from "./basics.ts";
import { metaOf } from "./changes.ts";
import type { Said, Scenario } from "./scenario.ts";

const pods = (ns: string) => `/api/v1/namespaces/${ns}/pods`;
const maps = (ns: string) => `/api/v1/namespaces/${ns}/configmaps`;
const merge = { "content-type": "application/merge-patch+json" } as const;
const own = "of%20in%20(x,y,z)";

const namesOf = ({ body }: Said): string[] => {
  const { items } = JSON.parse(JSON.stringify(body));
  return (items ?? []).map(({ metadata }: { metadata: { name: string } }) => metadata.name);
};

const fill = async (api: Parameters<Scenario["run"]>[0]["api"], ns: string) => {
  for (const [name, of] of [
    ["a", "x"],
    ["b", "x"],
    ["c", "y"],
    ["d", "z"],
  ] as const)
    await api.call("POST", maps(ns), map(name, {}, { labels: { of, ...(name === "b" && { extra: "1" }) } }));
};

export const reads: readonly Scenario[] = [
  testCase("selectors", async ({ api, ask, note, ns }) => {
    await fill(api, ns);
    const selectors = [
      "of=x",
      "of==x",
      "of!=x",
      "of in (x,y)",
      "of notin (x,y)",
      "extra",
      "!extra",
      "of=x,extra",
      "of,!extra",
      "of = x",
      "of in (x)",
      "of=",
      "of>1",
    ];
    for (const selector of selectors)
      note(selector, namesOf(await api.call("GET", `${maps(ns)}?labelSelector=${encodeURIComponent(selector)}`)));
    await ask("a list", "GET", `${maps(ns)}?labelSelector=of%3Dx`);
    await ask("a bad selector", "GET", `${maps(ns)}?labelSelector=${encodeURIComponent("of in x")}`);
    await ask("a bad selector value", "GET", `${maps(ns)}?labelSelector=${encodeURIComponent("of=a b")}`);
    const byName = await api.call("GET", `${maps(ns)}?fieldSelector=metadata.name%3Db`);
    note("by name", namesOf(byName));
    note("not by name", namesOf(await api.call("GET", `${maps(ns)}?fieldSelector=metadata.name!%3Db`)));
    await ask("by an unknown field", "GET", `${maps(ns)}?fieldSelector=data.a%3D1`);
    await api.call("POST", pods(ns), pod("p"));
    note(
      "by phase",
      namesOf(await api.call("GET", `${pods(ns)}?fieldSelector=status.phase%3DPending,spec.nodeName%3D`)),
    );
    note("by another phase", namesOf(await api.call("GET", `${pods(ns)}?fieldSelector=status.phase%3DRunning`)));
    await ask("an empty list", "GET", `${pods(ns)}?labelSelector=nothing`);
  }),
  testCase("pages", async ({ api, ask, note, ns }) => {
    await fill(api, ns);
    const next = ({ body }: Said): string =>
      encodeURIComponent(JSON.parse(JSON.stringify(body)).metadata?.continue ?? "");
    const first = await ask("first", "GET", `${maps(ns)}?limit=2&labelSelector=of`);
    await api.call("POST", maps(ns), map("aa", {}, { labels: { of: "x" } }));
    await api.call("POST", maps(ns), map("zz", {}, { labels: { of: "x" } }));
    const second = await ask("second", "GET", `${maps(ns)}?limit=2&labelSelector=of&continue=${next(first)}`);
    note("names", [namesOf(first), namesOf(second)]);
    note("one revision", metaOf(first).resourceVersion === metaOf(second).resourceVersion);
    await ask("without a selector", "GET", `${maps(ns)}?limit=2`);
    await ask("a bad token", "GET", `${maps(ns)}?limit=2&continue=nonsense`);
    note(
      "as it was",
      namesOf(
        await api.call(
          "GET",
          `${maps(ns)}?labelSelector=of&resourceVersion=${metaOf(first).resourceVersion}&resourceVersionMatch=Exact`,
        ),
      ),
    );
    note(
      "not older",
      namesOf(
        await api.call(
          "GET",
          `${maps(ns)}?labelSelector=of&resourceVersion=${metaOf(first).resourceVersion}&resourceVersionMatch=NotOlderThan`,
        ),
      ),
    );
    note("any", (await api.call("GET", `${maps(ns)}?labelSelector=of&resourceVersion=0`)).status);
    await ask("match without a revision", "GET", `${maps(ns)}?resourceVersionMatch=Exact`);
    await ask("exact zero", "GET", `${maps(ns)}?resourceVersion=0&resourceVersionMatch=Exact`);
    await ask("no revision", "GET", `${maps(ns)}?resourceVersion=abc`);
    await ask("a revision to come", "GET", `${maps(ns)}?resourceVersion=99999999&resourceVersionMatch=NotOlderThan`);
    await ask("get of a revision to come", "GET", `${maps(ns)}/a?resourceVersion=99999999`);
  }),
  testCase("watch", async ({ api, ask, watch, ns }) => {
    await fill(api, ns);
    const from = metaOf(await api.call("GET", maps(ns))).resourceVersion;
    await watch("from the start", `${maps(ns)}?watch=1&labelSelector=${own}`, 10);
    await watch("from zero", `${maps(ns)}?watch=1&labelSelector=${own}&resourceVersion=0`, 10);
    await api.call("PATCH", `${maps(ns)}/a`, { data: { v: "1" } }, merge);
    await api.call("PATCH", `${maps(ns)}/a`, { metadata: { labels: { of: "gone" } } }, merge);
    await api.call("PATCH", `${maps(ns)}/a`, { data: { v: "2" } }, merge);
    await api.call("PATCH", `${maps(ns)}/a`, { metadata: { labels: { of: "y" } } }, merge);
    await api.call("DELETE", `${maps(ns)}/b`);
    await watch("from a revision", `${maps(ns)}?watch=true&resourceVersion=${from}`, 10);
    await watch("through a selector", `${maps(ns)}?watch=true&resourceVersion=${from}&labelSelector=${own}`, 10);
    await watch("of one name", `${maps(ns)}?watch=true&resourceVersion=${from}&fieldSelector=metadata.name%3Db`, 10);
    await watch("of metadata", `${maps(ns)}?watch=true&resourceVersion=${from}`, 2);
    await watch(
      "with initial events",
      `${maps(ns)}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=${own}`,
      10,
    );
    await ask("with initial events and no match", "GET", `${maps(ns)}?watch=true&sendInitialEvents=true`);
    await watch("no revision", `${maps(ns)}?watch=true&resourceVersion=abc`, 1);
  }),
  testCase("forms", async ({ api, ask, ns }) => {
    await api.call("POST", maps(ns), map("a", { x: "1" }, { labels: { of: "x" } }));
    const partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    await ask("metadata of a list", "GET", `${maps(ns)}?labelSelector=of`, undefined, { accept: partial });
    await ask("metadata of one", "GET", `${maps(ns)}/a`, undefined, {
      accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    });
  }),
];
