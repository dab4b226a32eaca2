/** Upstream's rows about what an operator looks after: labels, namespaces, and two operators in one cluster. */

import { patienceMs } from "../../cluster/api.ts";
import { installNamespaces } from "../installed.ts";
import { type Case, kubectl, must, running, type Scene } from "../scene.ts";
import { apachePi, created, hostArgs, plural } from "./applications.ts";
import { type Book, currentOf, openBook, type Page } from "./book.ts";
import { mustHaveLived, started } from "./judgements.ts";

const ends = async (book: Book, name: string): Promise<string> => {
  const page = await book.until(name, "over", (one) => currentOf(one) === "ResourceReleased", patienceMs);
  return mustHaveLived(name, page, { states: [...started, "Succeeded", "ResourceReleased"] });
};

const isBegun = (page: Page): boolean => page.last?.status !== undefined;

const small = (name: string, metadata: object = {}) => {
  const app = apachePi(name, "4.1.1", { driverArgs: ["10"] });
  return { ...app, metadata: { ...app.metadata, ...metadata } };
};

const wanted = { foo: "bar", keyx: "valuey" } as const;
const chosen = Object.entries(wanted).map(([key, value]) => `${key}=${value}`);

/** The host acts on events in their order: once it begins an application of now, it has passed over those of before. */
const passesOver = async (scene: Scene, book: Book, name: string, labels: string): Promise<void> => {
  const later = `after-${labels === "" ? "none" : labels.replace("=", "-")}`;
  if (labels !== "") await kubectl(scene.cluster, ["label", plural, name, labels, "--overwrite"]);
  await created(scene, small(later, { labels: wanted }));
  await book.until(later, "begun", isBegun, patienceMs);
  must(!isBegun(book.of(name)), `${name} has a status, and its labels are ${labels || "none"}`);
};

/** E8 and E9. */
export const byLabels: Case = {
  name: "upstream's rows E8 and E9: an application without the chosen labels has no status until it gets them",
  run: (scene) =>
    running(scene, async () => {
      const book = openBook(scene.cluster.api);
      try {
        const name = "labelled";
        await created(scene, small(name));
        for (const labels of ["", "keyx=valuey", "foo=placeholder"]) await passesOver(scene, book, name, labels);
        await kubectl(scene.cluster, ["label", plural, name, "foo=bar", "--overwrite"]);
        const line = await ends(book, name);
        await kubectl(scene.cluster, ["delete", plural, "--all", "--wait", "--timeout=60s"]);
        return [line];
      } finally {
        await book.stop();
      }
    }, [...hostArgs, "--selector", chosen.join(",")]),
};

const names = ["spark-1", "spark-2", "spark-3"] as const;
/** The namespaces that the first host looks after. */
const selector = "spark=on";

type Books = Readonly<Record<(typeof names)[number], Book>>;

/** An application in each namespace ends, in the order in which somebody looks after their namespaces. */
const inTurn = async (scene: Scene, books: Books): Promise<readonly string[]> => {
  const { cluster } = scene;
  for (const namespace of names) await created(scene, small("pi", { namespace }));
  const [chosenFirst, ofSecond] = await Promise.all([ends(books["spark-1"], "pi"), ends(books["spark-3"], "pi")]);
  must(!isBegun(books["spark-2"].of("pi")), "an application has a status, and nobody looks after its namespace");
  await kubectl(cluster, ["label", "namespace", "spark-2", selector]);
  const chosenLater = await ends(books["spark-2"], "pi");
  for (const namespace of names)
    await kubectl(cluster, ["delete", plural, "pi", "-n", namespace, "--wait", "--timeout=60s"]);
  return [`spark-1: ${chosenFirst}`, `spark-3: ${ofSecond}`, `spark-2: ${chosenLater}`];
};

/** E10 to E12. */
export const byNamespaces: Case = {
  name: "upstream's rows E10 to E12: a namespace that is chosen later, and two hosts with namespaces of their own",
  run: async (scene) => {
    await installNamespaces(scene.cluster, names, selector, ["spark", "volcano", "apache"]);
    await kubectl(scene.cluster, ["label", "namespace", "spark-1", selector]);
    const bookOf = (namespace: string): Book => openBook(scene.cluster.api, namespace);
    const books = { "spark-1": bookOf("spark-1"), "spark-2": bookOf("spark-2"), "spark-3": bookOf("spark-3") };
    try {
      const first = ["--namespaces", "default", "--namespace-selector", selector];
      const second = ["--namespaces", "spark-3"];
      return await running(scene, () => running(scene, () => inTurn(scene, books), [...hostArgs, ...second]), [
        ...hostArgs,
        ...first,
      ]);
    } finally {
      await Promise.all(Object.values(books).map((book) => book.stop()));
    }
  },
};
