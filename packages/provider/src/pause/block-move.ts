import { annotations } from '@tartan/api';

/** With it `clusterctl move` gives up before it creates or deletes anything; a value is not asked for. */
export const moveBlockingPatch = { metadata: { annotations: { [annotations.blockMove]: '' } } };
