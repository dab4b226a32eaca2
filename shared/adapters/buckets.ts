/**
 * Buckets for uploaded files, of S3, of stores with the same protocol, and of Google Cloud Storage. Their client
 * libraries are optional peer packages, not part of any bundle; a refusal is one line that names the object and what
 * to change.
 */
import { createHash } from "node:crypto";
import { ApiError } from "../core/http.ts";

export type BucketPlace = {
  readonly scheme: "s3" | "gs";
  readonly bucket: string;
  /** Absent: the service's own endpoint. */
  readonly endpoint?: string | undefined;
  /** Absent: the region that every AWS client finds in its environment. Google Cloud Storage needs none. */
  readonly region?: string | undefined;
  /** Objects may be read without credentials. */
  readonly isPublic: boolean;
  /** S3 only: the bucket's name is in the path and not in the host name. */
  readonly pathStyle: boolean;
};

/** Digests of a content: SHA-256 in hexadecimal, MD5 in base64, as both services check it. */
export type Digests = { readonly sha256: string; readonly md5: string };

export type Bucket = {
  /** Returns the digests of the object that the service knows; undefined if there is no such object. */
  readonly find: (key: string) => Promise<Partial<Digests> | undefined>;
  readonly put: (key: string, content: Uint8Array) => Promise<void>;
  readonly close: () => void;
};

/** The metadata key for the SHA-256 of an upload. */
const digestLabel = "rekindle-sha256";

export const digestsOf = (content: Uint8Array): Digests => ({
  sha256: createHash("sha256").update(content).digest("hex"),
  md5: createHash("md5").update(content).digest("base64"),
});

const webUrl = ({ scheme, bucket, endpoint, region }: BucketPlace, key: string): string => {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, "")}/${bucket}/${key}`;
  if (scheme === "gs") return `https://storage.googleapis.com/${bucket}/${key}`;
  return `https://${bucket}.s3${region === undefined ? "" : `.${region}`}.amazonaws.com/${key}`;
};

/**
 * Returns the URL from which Spark reads an object: through Hadoop's connector, or over HTTP if the object is public.
 */
export const objectUrl = (place: BucketPlace, key: string): string =>
  place.isPublic ? webUrl(place, key) : `${place.scheme === "s3" ? "s3a" : "gs"}://${place.bucket}/${key}`;

/** Imports a module by its name; the name is a value, so that bundlers do not include the module. */
type Load = (name: string) => Promise<unknown>;

const importByName: Load = (name) => import(name);

const isMissing = (cause: unknown, name: string): boolean =>
  cause instanceof Error &&
  "code" in cause &&
  (cause.code === "ERR_MODULE_NOT_FOUND" || cause.code === "MODULE_NOT_FOUND") &&
  cause.message.includes(name);

/** Returns the module; if it is missing, rejects with the name of the package to install. */
const loadSdk = async (name: string, scheme: string, load: Load): Promise<unknown> => {
  try {
    return await load(name);
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    const message = `uploading to ${scheme}:// needs the npm package ${name}; install it beside rekindle: npm install ${name}`;
    throw new ApiError({ status: 0, reason: "StoreWithoutSdk", message, cause });
  }
};

type Failure = { readonly name: string; readonly code: string; readonly status: number; readonly text: string };

type Meaning = {
  readonly when: (failure: Failure) => boolean;
  readonly reason: string;
  readonly say: (scheme: string) => string;
};

const rights = { s3: "s3:GetObject, s3:ListBucket and s3:PutObject", gs: "storage.objects.get and .create" } as const;

const unknownNames = [
  "CredentialsProviderError",
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "ExpiredToken",
  "InvalidToken",
];
const brokenCodes = ["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT"];

const meanings: readonly Meaning[] = [
  {
    when: ({ name, status, text }) =>
      unknownNames.includes(name) || status === 401 || /default credentials|Could not load credentials/.test(text),
    reason: "StoreForbidden",
    say: (scheme) =>
      `no valid credentials: set ${scheme === "s3" ? "AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" : "GOOGLE_APPLICATION_CREDENTIALS"}`,
  },
  {
    when: ({ status }) => status === 403,
    reason: "StoreForbidden",
    say: (scheme) => `no permission: ${rights[scheme === "s3" ? "s3" : "gs"]} on this bucket are needed`,
  },
  {
    when: ({ status, name, text }) => status === 301 || name === "PermanentRedirect" || /Region is missing/.test(text),
    reason: "StoreElsewhere",
    say: () => "the bucket is in another region: name it with --upload-to-region",
  },
  { when: ({ status }) => status === 404, reason: "StoreMissing", say: () => "there is no such bucket" },
  {
    when: ({ code, name }) => brokenCodes.includes(code) || ["TimeoutError", "AbortError"].includes(name),
    reason: "StoreUnreachable",
    say: () => "no answer: is the endpoint right, and is it up",
  },
];

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

/** Reads the fields of an SDK's error: S3's SDK has the status in `$metadata`, Google's as a number in `code`. */
const failureOf = (cause: unknown): Failure => {
  const [code, metadata] = [fieldOf(cause, "code"), fieldOf(cause, "$metadata")];
  return {
    name: cause instanceof Error ? cause.name : "",
    code: String(code ?? ""),
    status: Number(fieldOf(metadata, "httpStatusCode") ?? (typeof code === "number" ? code : 0)),
    text: cause instanceof Error ? (cause.message.split("\n")[0]?.slice(0, 300) ?? "") : String(cause),
  };
};

const statusOf = (cause: unknown): number => failureOf(cause).status;

/** Returns the error to throw; `url` is the object's. */
const refusalOf = (scheme: "s3" | "gs", url: string, cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const failure = failureOf(cause);
  const meaning = meanings.find(({ when }) => when(failure));
  const reason = meaning?.reason ?? "StoreRefused";
  const text = meaning?.say(scheme) ?? (failure.text || failure.name);
  return new ApiError({ status: failure.status, reason, message: `${url}: ${text}`, cause });
};

/** The part of the SDK that is used, declared here so that the project compiles without the optional package. */
type S3Sdk = {
  readonly S3Client: new (config: Readonly<Record<string, unknown>>) => Client;
  readonly HeadObjectCommand: new (input: Readonly<Record<string, unknown>>) => object;
  readonly PutObjectCommand: new (input: Readonly<Record<string, unknown>>) => object;
};
type Client = { readonly send: (command: object) => Promise<Head>; readonly destroy: () => void };
type Head = { readonly ETag?: string; readonly Metadata?: Readonly<Record<string, string>> };

const s3Library = "@aws-sdk/client-s3";

const s3ConfigOf = ({ endpoint, region, pathStyle }: BucketPlace) => ({
  maxAttempts: 3,
  forcePathStyle: pathStyle,
  requestHandler: { connectionTimeout: 5_000 },
  ...(region === undefined ? {} : { region }),
  // Other stores have no regions, and few of them know the newer checksums; all know Content-MD5.
  ...(endpoint === undefined
    ? {}
    : { endpoint, region: region ?? "us-east-1", requestChecksumCalculation: "WHEN_REQUIRED" }),
});

/** Returns the MD5 in an ETag; undefined if the object has parts or is encrypted with a KMS key. */
const md5Of = (etag = ""): string | undefined => {
  const [, hex] = /^"?([0-9a-f]{32})"?$/.exec(etag) ?? [];
  return hex === undefined ? undefined : Buffer.from(hex, "hex").toString("base64");
};

export const openS3 = async (place: BucketPlace, load: Load = importByName): Promise<Bucket> => {
  // The package is untyped here: its absence must not keep the project from compiling.
  const sdk = (await loadSdk(s3Library, "s3", load)) as S3Sdk;
  const client = new sdk.S3Client(s3ConfigOf(place));
  const { bucket: Bucket, isPublic } = place;
  const urlOf = (key: string): string => `s3://${Bucket}/${key}`;
  return {
    find: async (key) => {
      try {
        const { ETag, Metadata } = await client.send(new sdk.HeadObjectCommand({ Bucket, Key: key }));
        const [md5, sha256] = [md5Of(ETag), Metadata?.[digestLabel]];
        return { ...(md5 === undefined ? {} : { md5 }), ...(sha256 === undefined ? {} : { sha256 }) };
      } catch (cause) {
        if (statusOf(cause) === 404) return undefined;
        throw refusalOf("s3", urlOf(key), cause);
      }
    },
    put: async (key, content) => {
      const { sha256, md5 } = digestsOf(content);
      const object = { Bucket, Key: key, Body: content, ContentMD5: md5, Metadata: { [digestLabel]: sha256 } };
      try {
        await client.send(new sdk.PutObjectCommand({ ...object, ...(isPublic ? { ACL: "public-read" } : {}) }));
      } catch (cause) {
        throw refusalOf("s3", urlOf(key), cause);
      }
    },
    close: () => client.destroy(),
  };
};

type Metadata = { readonly md5Hash?: string; readonly metadata?: Readonly<Record<string, string>> };
type File = {
  readonly getMetadata: () => Promise<readonly [Metadata, ...(readonly unknown[])]>;
  readonly save: (content: Buffer, options: Readonly<Record<string, unknown>>) => Promise<void>;
};
/** The part of the SDK that is used, declared here so that the project compiles without the optional package. */
type GcsSdk = {
  readonly Storage: new (
    options: Readonly<Record<string, unknown>>,
  ) => { readonly bucket: (name: string) => { readonly file: (key: string) => File } };
};

const gcsLibrary = "@google-cloud/storage";

/** A custom endpoint is called without credentials, as emulators are. */
const gcsConfigOf = ({ endpoint }: BucketPlace) => ({
  retryOptions: { maxRetries: 2, totalTimeout: 60 },
  ...(endpoint === undefined ? {} : { apiEndpoint: endpoint, projectId: "none" }),
});

export const openGcs = async (place: BucketPlace, load: Load = importByName): Promise<Bucket> => {
  // The package is untyped here: its absence must not keep the project from compiling.
  const sdk = (await loadSdk(gcsLibrary, "gs", load)) as GcsSdk;
  const bucket = new sdk.Storage(gcsConfigOf(place)).bucket(place.bucket);
  const urlOf = (key: string): string => `gs://${place.bucket}/${key}`;
  return {
    find: async (key) => {
      try {
        const [{ md5Hash: md5, metadata }] = await bucket.file(key).getMetadata();
        const sha256 = metadata?.[digestLabel];
        return { ...(md5 === undefined ? {} : { md5 }), ...(sha256 === undefined ? {} : { sha256 }) };
      } catch (cause) {
        if (statusOf(cause) === 404) return undefined;
        throw refusalOf("gs", urlOf(key), cause);
      }
    },
    put: async (key, content) => {
      const { sha256, md5 } = digestsOf(content);
      const metadata = { md5Hash: md5, metadata: { [digestLabel]: sha256 } };
      const access = place.isPublic ? { predefinedAcl: "publicRead" } : {};
      try {
        await bucket.file(key).save(Buffer.from(content), { resumable: false, validation: "md5", metadata, ...access });
      } catch (cause) {
        throw refusalOf("gs", urlOf(key), cause);
      }
    },
    close: () => {},
  };
};
