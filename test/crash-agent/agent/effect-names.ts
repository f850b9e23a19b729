/** Names of effects that are the same in every run. The harness numbers the UIDs of Pods; see `uidOf`. */
export type Alias = (text: string) => string;

/** The UID of the n-th object of a scenario's server. */
export const uidOf = (count: number): string => `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;

export const createAlias =
  (folder: string): Alias =>
  (text) =>
    text
      .replaceAll(`${folder}/`, '')
      .replaceAll(/(?:runners-)?(?:runner-\d+-)?00000000-0000-4000-8000-0*(\d+)/g, 'pod-$1')
      .replaceAll(/\.(tmp|new)-[0-9a-f-]{36}/g, '.$1')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '…')
      .replaceAll(/tuist-golden-[0-9a-f]{16}/g, 'golden')
      .replaceAll(/sha256:([0-9a-f])[0-9a-f]{63}/g, 'sha256:$1…')
      .replaceAll(/[0-9a-f]{32}\.json/g, '….json');

/** Of a record that is about to be renamed into place: the progress of the Pod or the image. */
export const recordText = (text: string): string => {
  try {
    const record = JSON.parse(text) as {
      kind?: string;
      name?: string;
      run?: number;
      stopRequestedAt?: number;
      state?: { kind: string; address?: string };
    };
    if (record.kind !== undefined) return ` (${record.kind} ${record.name ?? ''})`;
    if (record.state === undefined) return '';
    const { address, kind } = record.state;
    return ` (${kind}${address === undefined ? '' : ', address'}${record.stopRequestedAt === undefined ? '' : ', stop asked'})`;
  } catch {
    return '';
  }
};
