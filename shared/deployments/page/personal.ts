/** The page of one person, with the rights of a kubeconfig: the link holds a secret that opens a session, once. */
import type { PageOptions, Session } from "../../cli/io/tools.ts";
import { keyOf } from "../../page/wire.ts";
import { oneTime } from "./access.ts";
import { openLocalPage } from "./local.ts";

export const openPersonalPage = async (session: Session, { namespaces, port, key }: PageOptions) => {
  const { transport, table, context, server } = session;
  const { secret, ...access } = oneTime(context ?? "you");
  const cluster = context ?? server;
  const { url, close } = await openLocalPage({ transport, table, cluster, namespaces, access, port });
  const search = key === undefined ? "" : `?screen=application&application=${encodeURIComponent(keyOf(key))}`;
  // A fragment is never sent: the secret is in no log of a server.
  return { link: `${url}${search}#k=${secret}`, close };
};
