/** The address at which a process listens. A cold start that only judges it loads no server. */
export type Address = { readonly hostname: string; readonly port: number };

/** Reads `HOST:PORT`. */
export const addressOf = (listen: string): Address => {
  const at = listen.lastIndexOf(":");
  return { hostname: listen.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(listen.slice(at + 1)) };
};
