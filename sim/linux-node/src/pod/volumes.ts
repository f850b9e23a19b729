import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ConfigSource } from './environment.ts';
import { ContainerConfigError, type Volume } from './pod.ts';

export interface VolumeSources {
  readonly stored: ConfigSource;
  readonly field: (path: string) => string;
  readonly token: (request: { audience?: string; expirationSeconds?: number }) => Promise<string>;
}

type Files = Record<string, string>;
type Items = readonly { key: string; path: string }[] | undefined;
type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/** All entries, or the selected ones under their wanted names. */
const selectItems = (what: string, data: Readonly<Record<string, string>> | undefined, items: Items): Files => {
  if (data === undefined) throw new ContainerConfigError(`${what} not found`);
  if (items === undefined) return { ...data };
  return Object.fromEntries(
    items.map(({ key, path }) => {
      const value = data[key];
      if (value === undefined) throw new ContainerConfigError(`references non-existent key ${key} of ${what}`);
      return [path, value];
    }),
  );
};

const filesOfProjection = async (projection: Projection, { stored, field, token }: VolumeSources): Promise<Files> => {
  const { secret, configMap, serviceAccountToken, downwardAPI } = projection;
  if (secret) return selectItems(`secret "${secret.name}"`, await stored.secret(secret.name ?? ''), secret.items);
  if (configMap)
    return selectItems(`configmap "${configMap.name}"`, await stored.configMap(configMap.name ?? ''), configMap.items);
  if (serviceAccountToken) {
    const { path, audience, expirationSeconds } = serviceAccountToken;
    return {
      [path]: await token({
        ...(audience !== undefined && { audience }),
        ...(expirationSeconds !== undefined && { expirationSeconds }),
      }),
    };
  }
  const fields = downwardAPI?.items ?? [];
  return Object.fromEntries(fields.map(({ path, fieldRef }) => [path, field(fieldRef?.fieldPath ?? '')]));
};

const filesOf = async (volume: Volume, sources: VolumeSources): Promise<Files> => {
  const { secret, configMap, emptyDir, projected } = volume;
  if (secret)
    return secret.optional === true && (await sources.stored.secret(secret.secretName ?? '')) === undefined
      ? {}
      : filesOfProjection({ secret: { ...secret, name: secret.secretName ?? '' } }, sources);
  if (configMap) return filesOfProjection({ configMap }, sources);
  if (projected) {
    const parts = [];
    for (const each of projected.sources ?? []) parts.push(await filesOfProjection(each, sources));
    return Object.assign({}, ...parts);
  }
  if (emptyDir) return {};
  throw new ContainerConfigError(`this stand-in for a kubelet has no volumes such as ${volume.name}`);
};

/**
 * Writes the volumes of a Pod to folders below `folder`, by their names. Later changes in the cluster do not show, and tokens are not
 * renewed.
 */
export const makeVolumes = async (
  folder: string,
  volumes: readonly Volume[],
  sources: VolumeSources,
): Promise<ReadonlyMap<string, string>> => {
  const made = new Map<string, string>();
  for (const volume of volumes) {
    const place = join(folder, volume.name);
    const files = await filesOf(volume, sources);
    await mkdir(place, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(place, path)), { recursive: true });
      await writeFile(join(place, path), text);
      // The user of the container must be able to read it; the folder of the Node is private.
      await chmod(join(place, path), 0o644);
    }
    await chmod(place, volume.emptyDir ? 0o777 : 0o755);
    made.set(volume.name, place);
  }
  return made;
};
