import { guestNames } from '@tartan/api';
import { type Client, configMaps, isKubeError, secrets } from '@tartan/kube';
import type { Pod } from '../pods/snapshot.ts';
import { type ConfigSource, type HostAddress, resolveFieldRef, sourceOf } from '../pods/spec/environment.ts';
import { configError } from './guests.ts';

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];
type VolumeSource = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

export interface ProjectedVolume {
  readonly name: string;
  readonly sources: readonly VolumeSource[];
}

/** The API server adds this volume to every Pod that does not opt out: a credential for the cluster's API. */
const apiAccessPrefix = 'kube-api-access-';

const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
/** The runner share is an ordinary volume. */
const reservedShares: readonly string[] = [guestNames.shares.env, guestNames.shares.status];

/** The Pod's projected volumes, mounted or not, except for an API access volume that the Pod did not request (INC-70). */
export const projectedVolumes = ({ spec }: Pod): readonly ProjectedVolume[] =>
  (spec?.volumes ?? []).flatMap(({ name, projected }) =>
    projected === undefined || (name.startsWith(apiAccessPrefix) && spec?.automountServiceAccountToken !== true)
      ? []
      : [{ name, sources: projected.sources ?? [] }],
  );

/** The volumes that the container mounts. Each is a share with the volume's name: mount paths in a guest cannot be chosen. */
export const mountedVolumes = (pod: Pod): readonly ProjectedVolume[] => {
  const mounts = pod.spec?.containers[0]?.volumeMounts ?? [];
  const mounted = new Set(mounts.map(({ name }) => name));
  const volumes = projectedVolumes(pod).filter(({ name }) => mounted.has(name));
  for (const { name } of volumes) {
    if (reservedShares.includes(name))
      throw configError(`Every guest has a share named ${name} already. Give the volume another name.`);
    if (!namePattern.test(name))
      throw configError(`The volume ${JSON.stringify(name)} cannot be the name of a share. Rename it.`);
  }
  return volumes;
};

/** Validates the path of a file in a volume: it must stay inside. */
export const checkVolumePath = (volume: string, path: string): string => {
  const parts = path.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..') && !path.includes('\0');
  if (isPlain) return path;
  throw configError(
    `The path ${JSON.stringify(path)} in the volume ${volume} may lead out of it. Write a relative one, without dots for folders.`,
  );
};

/** As a Mac's file system compares names: case-insensitively. */
const normalizedPath = (path: string): string => path.normalize('NFC').toLowerCase();

/** If two paths were the same file, one would overwrite the other. */
export const assertDistinctPaths = (volume: string, paths: readonly string[]): void => {
  const files = new Map<string, string>();
  for (const path of paths) {
    const other = files.get(normalizedPath(path));
    if (other !== undefined)
      throw configError(
        `The volume ${volume} has both ${other} and ${path}, which on the disk of a Mac is one file. Rename one of them.`,
      );
    files.set(normalizedPath(path), path);
  }
  for (const path of paths) {
    const parts = normalizedPath(path).split('/');
    for (let length = 1; length < parts.length; length += 1) {
      const file = files.get(parts.slice(0, length).join('/'));
      if (file !== undefined)
        throw configError(
          `The volume ${volume} has both the file ${file} and ${path} below it. Give one of them another path.`,
        );
    }
  }
};

/** The content of a ConfigMap or Secret. */
interface SourceData {
  /** For variables: a ConfigMap's `binaryData` is for files only. */
  readonly text: Readonly<Record<string, string>>;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** `undefined`: the object does not exist. */
type LookupSource = (source: ConfigSource) => SourceData | undefined;

const sourceKey = ({ kind, name }: ConfigSource): string => `${kind}/${name}`;

const decodeEntries = (data: Readonly<Record<string, string>> = {}): readonly (readonly [string, Buffer])[] =>
  Object.entries(data).map(([key, base64]) => [key, Buffer.from(base64, 'base64')]);

const textOf = (entries: readonly (readonly [string, Buffer])[]): Record<string, string> =>
  Object.fromEntries(entries.map(([key, bytes]) => [key, bytes.toString('utf8')]));

const readSource = async (
  client: Client,
  namespace: string,
  { kind, name }: ConfigSource,
  signal: AbortSignal,
): Promise<SourceData> => {
  if (kind === 'Secret') {
    const entries = decodeEntries((await client.get(secrets, { namespace, name }, { signal })).data);
    return { text: textOf(entries), files: new Map(entries) };
  }
  const { binaryData, data = {} } = await client.get(configMaps, { namespace, name }, { signal });
  const plain = Object.entries(data).map(([key, text]): readonly [string, Buffer] => [key, Buffer.from(text)]);
  return { text: data, files: new Map([...plain, ...decodeEntries(binaryData)]) };
};

/** Reads each object once, live and in parallel. Rejects with a KubeError, but not for missing objects. */
export const readSources = async (
  client: Client,
  namespace: string,
  sources: readonly ConfigSource[],
  signal: AbortSignal,
): Promise<LookupSource> => {
  const found = new Map<string, SourceData>();
  const each = new Map(sources.filter(({ name }) => name !== '').map((source) => [sourceKey(source), source]));
  await Promise.all(
    [...each].map(async ([key, source]) => {
      try {
        found.set(key, await readSource(client, namespace, source, signal));
      } catch (error) {
        if (!isKubeError(error, 'notFound')) throw error;
      }
    }),
  );
  return (source) => found.get(sourceKey(source));
};

/** Quotes like Go: JSON, except for control characters. */
const goQuote = (text: string): string =>
  JSON.stringify(text)
    .replaceAll('\x7f', '\\x7f')
    .replaceAll(/\\u00([01][0-9a-f])/g, '\\x$1');

/** All labels or annotations, one per line, which only files support. `undefined` for every other field. */
const formatMetadataMap = ({ metadata }: Pod, field: string): string | undefined => {
  if (field !== 'metadata.labels' && field !== 'metadata.annotations') return undefined;
  const map = (field === 'metadata.labels' ? metadata?.labels : metadata?.annotations) ?? {};
  return Object.keys(map)
    .toSorted()
    .map((key) => `${key}=${goQuote(map[key] ?? '')}`)
    .join('\n');
};

interface ProjectionInputs extends HostAddress {
  readonly pod: Pod;
  readonly lookup: LookupSource;
}

type DownwardItems = NonNullable<NonNullable<VolumeSource['downwardAPI']>['items']>;
type Files = Map<string, Uint8Array>;

/** The objects to read for a volume. */
export const sourcesOfVolume = ({ sources }: ProjectedVolume): readonly ConfigSource[] =>
  sources.map(({ configMap, secret }) => sourceOf(configMap, secret)).filter((source) => source !== undefined);

const projectObject = (volume: string, from: ConfigSource, projection: VolumeSource, read: LookupSource): Files => {
  const { items, optional = false } = projection.configMap ?? projection.secret ?? {};
  const data = read(from);
  if (data === undefined) {
    if (optional) return new Map();
    throw configError(`The ${from.kind} ${from.name} is not there. Make it, or mark it as optional.`);
  }
  const wanted = items ?? [...data.files.keys()].map((key) => ({ key, path: key }));
  const files: Files = new Map();
  for (const { key, path } of wanted) {
    const bytes = data.files.get(key);
    if (bytes !== undefined) files.set(checkVolumePath(volume, path), bytes);
    else if (!optional)
      throw configError(`The ${from.kind} ${from.name} has no key ${key}. Add it, or mark it as optional.`);
  }
  return files;
};

const projectDownwardAPI = (volume: string, items: DownwardItems, { pod, ...address }: ProjectionInputs): Files =>
  new Map(
    items.map(({ path, fieldRef }) => {
      const field = fieldRef?.fieldPath ?? '';
      const text = formatMetadataMap(pod, field) ?? resolveFieldRef(pod, field, address);
      if (text === undefined)
        throw configError(
          `The file ${path} of the volume ${volume} is to hold ${field === '' ? 'a resource of the container' : field}, which a virtual machine cannot have before it is on. Take it out.`,
        );
      return [checkVolumePath(volume, path), Buffer.from(text)];
    }),
  );

/** The files of a volume without its tokens. If two sources have the same file, the later one wins, as in Kubernetes. */
export const projectVolume = ({ name, sources }: ProjectedVolume, inputs: ProjectionInputs): Files => {
  const files: Files = new Map();
  for (const projection of sources) {
    const { configMap, downwardAPI, secret, serviceAccountToken } = projection;
    const from = sourceOf(configMap, secret);
    if (from === undefined && downwardAPI === undefined && serviceAccountToken === undefined)
      throw configError(
        `The volume ${name} projects ${Object.keys(projection).join(', ')}, which a virtual machine cannot have. Take it out.`,
      );
    const added =
      from === undefined
        ? projectDownwardAPI(name, downwardAPI?.items ?? [], inputs)
        : projectObject(name, from, projection, inputs.lookup);
    for (const [path, bytes] of added) files.set(path, bytes);
  }
  return files;
};
