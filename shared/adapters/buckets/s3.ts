/** Buckets of S3 and of stores with the same protocol. */
import { type Bucket, type BucketPlace, digestLabel, digestsOf } from "./bucket.ts";
import { refusalOf, statusOf } from "./refusal.ts";
import { importByName, type Load, loadSdk } from "./sdk.ts";

/** The part of the SDK that is used, declared here so that the project compiles without the optional package. */
type Sdk = {
  readonly S3Client: new (config: Readonly<Record<string, unknown>>) => Client;
  readonly HeadObjectCommand: new (input: Readonly<Record<string, unknown>>) => object;
  readonly PutObjectCommand: new (input: Readonly<Record<string, unknown>>) => object;
};
type Client = { readonly send: (command: object) => Promise<Head>; readonly destroy: () => void };
type Head = { readonly ETag?: string; readonly Metadata?: Readonly<Record<string, string>> };

const name = "@aws-sdk/client-s3";

const configOf = ({ endpoint, region, pathStyle }: BucketPlace) => ({
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
  const sdk = (await loadSdk(name, "s3", load)) as Sdk;
  const client = new sdk.S3Client(configOf(place));
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
