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

/** Returns the number of objects of a collection of which `counts` holds; throws when the server refuses a page. */
export const countListed = async (api: Api, path: string, counts: (one: unknown) => boolean): Promise<number> => {
  let [found, from] = [0, ""];
  do {
    const { status, body } = await api.call("GET", `${path}?limit=500${from}`);
    if (status !== 200) throw new Error(`list ${path}: ${JSON.stringify(body)}`);
    const { metadata, items } = page.parse(body);
    found += items.filter(counts).length;
    from = metadata.continue ? `&continue=${encodeURIComponent(metadata.continue)}` : "";
  } while (from !== "");
  return found;
};

/** Returns the number of objects of a collection by the server's own count; throws when the server refuses. */
export const countOf = async (api: Api, path: string): Promise<number> => {
  const { status, body } = await api.call("GET", `${path}?limit=1`);
  if (status !== 200) throw new Error(`list ${path}: ${JSON.stringify(body)}`);
  const { metadata, items } = page.parse(body);
  return items.length + metadata.remainingItemCount;
};
