import { type Client, configMaps, isKubeError, secrets } from '@tartan/kube';
import type { Source } from '../pods/environment.ts';

/** What a ConfigMap or Secret holds. */
interface SourceData {
  /** For variables: a ConfigMap's `binaryData` is for files only. */
  readonly text: Readonly<Record<string, string>>;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** `undefined`: there is no such object. */
export type SourcesRead = (source: Source) => SourceData | undefined;

const keyOf = ({ kind, name }: Source): string => `${kind}/${name}`;

const decoded = (data: Readonly<Record<string, string>> = {}): readonly (readonly [string, Buffer])[] =>
  Object.entries(data).map(([key, base64]) => [key, Buffer.from(base64, 'base64')]);

const textOf = (entries: readonly (readonly [string, Buffer])[]): Record<string, string> =>
  Object.fromEntries(entries.map(([key, bytes]) => [key, bytes.toString('utf8')]));

const readOne = async (
  client: Client,
  namespace: string,
  { kind, name }: Source,
  signal: AbortSignal,
): Promise<SourceData> => {
  if (kind === 'Secret') {
    const entries = decoded((await client.get(secrets, { namespace, name }, { signal })).data);
    return { text: textOf(entries), files: new Map(entries) };
  }
  const { binaryData, data = {} } = await client.get(configMaps, { namespace, name }, { signal });
  const plain = Object.entries(data).map(([key, text]): readonly [string, Buffer] => [key, Buffer.from(text)]);
  return { text: data, files: new Map([...plain, ...decoded(binaryData)]) };
};

/** Each once and all at a time, as the server has them now. Rejects with a KubeError, but not for what is not there. */
export const readSources = async (
  client: Client,
  namespace: string,
  sources: readonly Source[],
  signal: AbortSignal,
): Promise<SourcesRead> => {
  const found = new Map<string, SourceData>();
  const each = new Map(sources.filter(({ name }) => name !== '').map((source) => [keyOf(source), source]));
  await Promise.all(
    [...each].map(async ([key, source]) => {
      try {
        found.set(key, await readOne(client, namespace, source, signal));
      } catch (error) {
        if (!isKubeError(error, 'notFound')) throw error;
      }
    }),
  );
  return (source) => found.get(keyOf(source));
};
