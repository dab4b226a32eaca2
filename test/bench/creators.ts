/**
 * The creators of a crowd as a process. Arguments: address of the server, namespace, prefix of names, count, and the
 * creations per second of each client.
 */
import { postAll } from "./applications.ts";

const [url = "", namespace = "", word = "", count = "0", perSecond = "0"] = process.argv.slice(2);
await postAll(url, namespace, word, Number(count), Number(perSecond));
