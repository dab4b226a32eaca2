/** Lists of very many objects, which a benchmark reads page by page. */
import * as z from "zod";
import type { Api } from "../real/cluster/api.ts";

const page = z.object({
  metadata: z.object({ continue: z.string().optional(), remainingItemCount: z.number().default(0) }),
  items: z.array(z.unknown()),
});

const application = z.object({ status: z.object({ applicationState: z.object({ state: z.string() }) }).optional() });

/** Returns the state in the status of a SparkApplication; undefined if it has none yet. */
export const stateOf = (one: unknown): string | undefined => application.parse(one).status?.applicationState.state;

const pageOf = async (api: Api, path: string, query: string): Promise<z.infer<typeof page>> => {
  const { status, body } = await api.call("GET", `${path}?${query}`);
  if (status !== 200) throw new Error(`list ${path}: ${JSON.stringify(body)}`);
  return page.parse(body);
};

const nextOf = ({ continue: next }: z.infer<typeof page>["metadata"]): string =>
  next ? `&continue=${encodeURIComponent(next)}` : "";

/** Returns the number of objects of a collection of which `counts` holds; throws when the server refuses a page. */
export const countListed = async (api: Api, path: string, counts: (one: unknown) => boolean): Promise<number> => {
  let [found, from] = [0, ""];
  do {
    const { metadata, items } = await pageOf(api, path, `limit=500${from}`);
    found += items.filter(counts).length;
    from = nextOf(metadata);
  } while (from !== "");
  return found;
};

/**
 * Returns the number of objects of a collection by the server's own count; throws when the server refuses. The next page
 * is asked for, too: a server reads a first page from etcd while its cache is behind, and then refuses further ones.
 */
export const countOf = async (api: Api, path: string): Promise<number> => {
  const { metadata, items } = await pageOf(api, path, "limit=1");
  const next = nextOf(metadata);
  if (next !== "") await pageOf(api, path, `limit=1${next}`);
  return items.length + metadata.remainingItemCount;
};
