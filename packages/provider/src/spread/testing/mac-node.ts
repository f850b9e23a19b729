import { labels, labelValues } from '@tartan/api';
import type { CoreNode } from '../../controller-deps.ts';

/** A Node as an agent registers it, as far as this folder uses it. */
export const macNode = (name: string, { ready = true, fleet = 'runners' } = {}): CoreNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    labels: {
      [labels.os]: labelValues.os,
      [labels.runtime]: labelValues.runtime,
      [labels.fleet]: fleet,
      'kubernetes.io/hostname': name,
    },
  },
  status: {
    capacity: { cpu: '8', memory: '16Gi', pods: '10' },
    allocatable: { cpu: '8', memory: '16Gi', pods: '10' },
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
});
