/**
 * Certificates for a webhook: an authority signs one certificate, and its key is then dropped, so that no key of an
 * authority is stored. The library is loaded only when a certificate is made.
 */
import { webcrypto, X509Certificate } from "node:crypto";
import { isIP } from "node:net";

/** PEM texts. */
export type Pair = {
  /** The authorities that clients must trust: the one that signed, and during a change the previous one, too. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
};

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Certificates begin this much earlier, ms, because clocks differ. */
const skewMs = 300_000;

const lifeMs = 365 * 86_400_000;

const nameOf = (name: string) => ({ type: isIP(name) === 0 ? "dns" : "ip", value: name }) as const;

const pemOf = (key: ArrayBuffer): string => {
  const lines =
    Buffer.from(key)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
};

/** Makes a certificate for these names (or IP addresses), valid from `now` (epoch ms) for a year. */
export const makePair = async (names: readonly string[], now: number): Promise<Pair> => {
  const library = await import("./library.ts");
  const { X509CertificateGenerator: Generator } = library;
  const life = { notBefore: new Date(now - skewMs), notAfter: new Date(now + lifeMs), signingAlgorithm: algorithm };
  const root = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const leaf = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const ca = await Generator.createSelfSigned({
    ...life,
    // Each authority has a unique name, because a bundle cannot distinguish two of the same name.
    name: `CN=rekindle admission ${now}`,
    keys: root,
    extensions: [
      new library.BasicConstraintsExtension(true, 0, true),
      new library.KeyUsagesExtension(library.KeyUsageFlags.keyCertSign, true),
      await library.SubjectKeyIdentifierExtension.create(root.publicKey),
    ],
  });
  const cert = await Generator.create({
    ...life,
    subject: "CN=rekindle admission",
    issuer: ca.subject,
    signingKey: root.privateKey,
    publicKey: leaf.publicKey,
    extensions: [
      new library.BasicConstraintsExtension(false, undefined, true),
      new library.ExtendedKeyUsageExtension([library.ExtendedKeyUsage.serverAuth]),
      new library.SubjectAlternativeNameExtension(names.map(nameOf)),
      await library.AuthorityKeyIdentifierExtension.create(root.publicKey),
    ],
  });
  const key = pemOf(await webcrypto.subtle.exportKey("pkcs8", leaf.privateKey));
  return { ca: ca.toString("pem"), cert: cert.toString("pem"), key };
};

const read = (pem: string): X509Certificate | undefined => {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
};

const covers = (certificate: X509Certificate, name: string): boolean =>
  (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;

/** True if the certificate covers these names and has more than a third of its year left. */
export const isFresh = ({ cert }: Pair, names: readonly string[], now: number): boolean => {
  const certificate = read(cert);
  if (certificate === undefined || !names.every((name) => covers(certificate, name))) return false;
  return certificate.validToDate.getTime() - now > lifeMs / 3;
};

const blocks = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Merges two bundles: without expired certificates and duplicates, and with at most three. */
export const bundled = (newest: string, before: string, now: number): string => {
  const all = [...(newest.match(blocks) ?? []), ...(before.match(blocks) ?? [])];
  const alive = [...new Set(all)].filter((pem) => (read(pem)?.validToDate.getTime() ?? 0) > now);
  return `${alive.slice(0, 3).join("\n")}\n`;
};
