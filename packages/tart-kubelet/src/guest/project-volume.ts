import type { Source } from '../pods/environment.ts';
import { fieldOf, type NodeAddress } from '../pods/field-ref.ts';
import type { Pod } from '../pods/snapshot.ts';
import { pathInVolume } from './file-paths.ts';
import { mapText } from './map-text.ts';
import type { SourcesRead } from './read-sources.ts';
import { configProblem } from './refused.ts';
import type { ProjectedVolume, VolumeSource } from './volumes.ts';

export interface ProjectionInputs extends NodeAddress {
  readonly pod: Pod;
  readonly read: SourcesRead;
}

type DownwardItems = NonNullable<NonNullable<VolumeSource['downwardAPI']>['items']>;
type Files = Map<string, Uint8Array>;

const sourceOf = ({ configMap, secret }: VolumeSource): Source | undefined => {
  if (configMap !== undefined) return { kind: 'ConfigMap', name: configMap.name ?? '' };
  return secret === undefined ? undefined : { kind: 'Secret', name: secret.name ?? '' };
};

/** What must be read before the volume can be filled. */
export const sourcesOfVolume = ({ sources }: ProjectedVolume): readonly Source[] =>
  sources.map(sourceOf).filter((source) => source !== undefined);

const fromObject = (volume: string, from: Source, projection: VolumeSource, read: SourcesRead): Files => {
  const { items, optional = false } = projection.configMap ?? projection.secret ?? {};
  const data = read(from);
  if (data === undefined) {
    if (optional) return new Map();
    throw configProblem(`The ${from.kind} ${from.name} is not there. Make it, or mark it as optional.`);
  }
  const wanted = items ?? [...data.files.keys()].map((key) => ({ key, path: key }));
  const files: Files = new Map();
  for (const { key, path } of wanted) {
    const bytes = data.files.get(key);
    if (bytes !== undefined) files.set(pathInVolume(volume, path), bytes);
    else if (!optional)
      throw configProblem(`The ${from.kind} ${from.name} has no key ${key}. Add it, or mark it as optional.`);
  }
  return files;
};

const fromPod = (volume: string, items: DownwardItems, { pod, ...address }: ProjectionInputs): Files =>
  new Map(
    items.map(({ path, fieldRef }) => {
      const field = fieldRef?.fieldPath ?? '';
      const text = mapText(pod, field) ?? fieldOf(pod, field, address);
      if (text === undefined)
        throw configProblem(
          `The file ${path} of the volume ${volume} is to hold ${field === '' ? 'a resource of the container' : field}, which a virtual machine cannot have before it is on. Take it out.`,
        );
      return [pathInVolume(volume, path), Buffer.from(text)];
    }),
  );

/** The files of a volume, but for its tokens. Of two sources with the same file the later one counts, as in Kubernetes. */
export const filesOfVolume = ({ name, sources }: ProjectedVolume, inputs: ProjectionInputs): Files => {
  const files: Files = new Map();
  for (const projection of sources) {
    const from = sourceOf(projection);
    const { downwardAPI, serviceAccountToken } = projection;
    if (from === undefined && downwardAPI === undefined && serviceAccountToken === undefined)
      throw configProblem(
        `The volume ${name} projects ${Object.keys(projection).join(', ')}, which a virtual machine cannot have. Take it out.`,
      );
    const added =
      from === undefined
        ? fromPod(name, downwardAPI?.items ?? [], inputs)
        : fromObject(name, from, projection, inputs.read);
    for (const [path, bytes] of added) files.set(path, bytes);
  }
  return files;
};
