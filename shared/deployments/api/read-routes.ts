/** The read API over HTTP. Each caller sees its namespaces only; an object elsewhere is answered as not found. */
import type { Context, Hono } from "hono";
import { type Caller, reaches } from "../../api/callers.ts";
import { isName, isNamespace } from "../../api/intent.ts";
import openApi from "../../api/openapi.json" with { type: "json" };
import { beginsAt, listQuery } from "../../api/read-schemas.ts";
import { ApiError } from "../../core/errors.ts";
import type { Gate } from "../authentication/access-check.ts";
import type { DoorParts } from "../host/process.ts";
import type { Reader, Shown } from "../read-api/reader.ts";

const off = (c: Context): Response => c.json({ error: "the read API is off: configure REKINDLE_CLUSTER_RECORD" }, 404);

type Query = Readonly<Record<string, string>>;

const list = async (c: Context, reader: Reader, caller: Caller, given: Query): Promise<Response> => {
  const query = listQuery.safeParse(given);
  const at = query.success ? beginsAt(query.data) : undefined;
  if (!query.success || at === undefined) {
    const fields = query.error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? ["continue"];
    return c.json({ error: fields.join("; ") }, 400);
  }
  const { namespace } = query.data;
  if (namespace !== undefined && !reaches(caller, namespace)) return c.json({ error: "forbidden" }, 403);
  try {
    return c.json(await reader.list(query.data, at, caller.namespaces));
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 410) throw cause;
    return c.json({ error: "continue: it has expired, begin with the first page" }, 400);
  }
};

/** The parts of one object, by the last part of the path. */
const parts: Readonly<Record<string, (shown: Shown) => object>> = {
  "": ({ detail }) => detail,
  "/executors": ({ executors }) => executors,
  "/losses": ({ losses }) => losses,
  "/updates": ({ updates }) => updates,
};

/** Serves the read API. `reader` absent: it is off. */
export const serveReads = (app: Hono, { reader }: DoorParts, gate: Gate): void => {
  app.get("/openapi.json", (c) => c.json(openApi));
  for (const path of ["/applications", "/jobs"])
    app.get(path, async (c) => {
      const admitted = await gate(c, "read");
      if (admitted instanceof Response) return admitted;
      const kind = path === "/jobs" ? { kind: "Job" } : {};
      return reader === undefined ? off(c) : await list(c, reader, admitted.caller, { ...c.req.query(), ...kind });
    });
  for (const [path, partOf] of Object.entries(parts))
    app.get(`/applications/:kind/:namespace/:name${path}`, async (c) => {
      const admitted = await gate(c, "read");
      if (admitted instanceof Response) return admitted;
      if (reader === undefined) return off(c);
      const { kind = "", namespace = "", name = "" } = c.req.param();
      const known = isNamespace(namespace) && isName(name) && reaches(admitted.caller, namespace);
      const shown = known ? await reader.find({ kind, namespace, name }) : undefined;
      return shown === undefined ? c.json({ error: "not found" }, 404) : c.json(partOf(shown));
    });
};
