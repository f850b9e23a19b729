import type { Live } from '../../objects/object.ts';
import type { InformerEvent } from '../informer.ts';
import type { Thing } from './model-server.ts';

/** `added UID RESOURCE-VERSION`. */
export const eventLine = (type: string, { metadata }: Live<Thing>): string =>
  type === 'removed' ? `removed ${metadata.uid}` : `${type} ${metadata.uid} ${metadata.resourceVersion}`;

export const formatEvents = (changes: readonly InformerEvent<Thing>[]): string[] =>
  changes.map((change) => eventLine(change.type, change.type === 'removed' ? change.previous : change.object));
