import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '@tartan/kube';
import { serviceAddress } from './observe.ts';

const serving = (spec: object): Pick<Client, 'get'> => ({ get: async () => ({ spec }) as never });
const ports = [{ name: 'https', port: 6443 }];

describe('the address of the API server', () => {
  const table: [string, object, string][] = [
    ['an IPv4 address', { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] }, 'https://10.96.0.1:443'],
    ['an IPv6 address', { clusterIP: 'fd00::1', ports }, 'https://[fd00::1]:6443'],
    ['no port of that name', { clusterIP: '10.96.0.1' }, 'https://10.96.0.1:443'],
  ];
  for (const [name, spec, address] of table)
    it(`${name}: ${address}`, async () => {
      assert.equal(await serviceAddress(serving(spec)), address);
    });

  it('is unknown without a cluster IP', async () => {
    for (const spec of [{}, { clusterIP: 'None' }]) await assert.rejects(serviceAddress(serving(spec)), /spec\.server/);
  });
});
