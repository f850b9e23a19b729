import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machine, type MacHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { apiVersionOf, type Client, KubeError, type Live } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import type { Node } from '../controller-deps.ts';
import { listerOf, machineIndexes, macHostIndexes, nodeIndexes } from '../indexes.ts';
import { createServerCache } from '../inventory/server-cache.ts';
import { observe, readHolder } from './observe.ts';
import { defaultLimits, type Holder } from './snapshot.ts';

type Machine = Live<ScalewayAppleSiliconMachine>;
const consumerRef = {
  apiVersion: apiVersionOf(machine.resource),
  kind: machine.resource.kind,
  namespace: 'fleet',
  name: 'mac-1',
  uid: 'u',
};
const host = {
  metadata: { name: 'server-1', uid: 'h', resourceVersion: '1', creationTimestamp: '' },
  spec: { zone: 'fr-par-1', consumerRef },
} as Live<MacHost>;
const mac = ({ uid = 'u', serverID = 'server-1' } = {}): Machine => ({
  ...machine.make({ metadata: { name: 'mac-1', namespace: 'fleet' } }),
  metadata: { name: 'mac-1', namespace: 'fleet', uid, resourceVersion: '1', creationTimestamp: '' },
  status: serverID === '' ? {} : { serverID },
});

/** The cached and the live result. */
const table: [string, Machine | undefined, Holder['kind'], Holder['kind']][] = [
  ['there', mac(), 'alive', 'alive'],
  ['about to write down which server it has', mac({ serverID: '' }), 'alive', 'alive'],
  ['not there', undefined, 'unseen', 'gone'],
  ['another one under the same name', mac({ uid: 'other' }), 'unseen', 'gone'],
  ['there with another server', mac({ serverID: 'server-2' }), 'unseen', 'elsewhere'],
];

describe('the holder of a Mac, as it is observed', () => {
  for (const [sentence, found, inCache, onServer] of table)
    it(`${sentence}: ${inCache} in the cache, ${onServer} on the server`, async () => {
      const clock = manualClock();
      const client = {
        get: async () => {
          if (found === undefined) throw new KubeError('notFound', 'no');
          return found;
        },
      } as unknown as Pick<Client, 'get'>;
      const observer = {
        client,
        pool: { getServer: () => assert.fail('nobody asks Scaleway') },
        serverCache: createServerCache({ clock }),
        machines: listerOf(found ? [found] : [], machineIndexes),
        macHosts: listerOf([host], macHostIndexes),
        nodes: listerOf<Node, keyof typeof nodeIndexes>([], nodeIndexes),
        clusters: { get: () => undefined, list: () => [] },
        poolPrefixes: () => new Set(['tuist-pool-']),
        defaultPoolPrefix: 'tuist-pool-',
        allowedPoolPrefixes: ['tuist-pool-'],
        machineNamespaces: [],
        clock,
        random: () => 0.5,
        limits: defaultLimits,
      };
      assert.equal(observe(observer, host).holder.kind, inCache);
      assert.equal((await readHolder(observer, consumerRef, 'server-1', {})).kind, onServer);
    });
});
