import type { Pod } from '../pods/snapshot.ts';

/** As Go quotes a string: JSON's way, but for control characters. */
const quoted = (text: string): string =>
  JSON.stringify(text)
    .replaceAll('\x7f', '\\x7f')
    .replaceAll(/\\u00([01][0-9a-f])/g, '\\x$1');

/** All labels or annotations, a line for each: only files can hold them. `undefined` for every other field. */
export const mapText = ({ metadata }: Pod, field: string): string | undefined => {
  if (field !== 'metadata.labels' && field !== 'metadata.annotations') return undefined;
  const map = (field === 'metadata.labels' ? metadata?.labels : metadata?.annotations) ?? {};
  return Object.keys(map)
    .toSorted()
    .map((key) => `${key}=${quoted(map[key] ?? '')}`)
    .join('\n');
};
