import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { nodes } from '@tartan/kube';
import { isNodeOf } from '../machine/observe/node.ts';

const providerID = 'scw-applesilicon://fr-par-1/2f4b';
const mac = { providerID, address: '192.0.2.7' };
const at = (address: string, type = 'InternalIP') => ({ addresses: [{ type, address }] });

type Node = NonNullable<(typeof nodes)['ofType']>;
type Row = readonly [
  what: string,
  node: Pick<Node, 'spec' | 'status'>,
  mac: Parameters<typeof isNodeOf>[1],
  is: boolean,
];

const rows: readonly Row[] = [
  ['its providerID', { spec: { providerID } }, mac, true],
  ['its providerID, and another address', { spec: { providerID }, status: at('10.0.0.1') }, mac, true],
  ['another providerID', { spec: { providerID: 'aws://x' } }, mac, false],
  ['another providerID at its address', { spec: { providerID: 'aws://x' }, status: at('192.0.2.7') }, mac, false],
  ['a providerID, and no Mac', { spec: { providerID } }, { providerID: undefined, address: undefined }, false],
  ['none at its address', { status: at('192.0.2.7') }, mac, true],
  ['none at its public address', { status: at('192.0.2.7', 'ExternalIP') }, mac, true],
  ['an empty one at its address', { spec: { providerID: '' }, status: at('192.0.2.7') }, mac, true],
  ['none at another address', { status: at('192.0.2.8') }, mac, false],
  ['none and no address', {}, mac, false],
  ['none, with its address as a name', { status: at('192.0.2.7', 'Hostname') }, mac, false],
  ['none, and the address is not proven', { status: at('192.0.2.7') }, { providerID, address: undefined }, false],
  [
    'none at its address, in another spelling',
    { status: at('2001:db8:0:0::7') },
    { providerID, address: '2001:DB8::7' },
    true,
  ],
];

describe('whether a Node belongs to this Mac', () => {
  for (const [what, node, known, is] of rows)
    test(`${is ? 'yes' : 'no'}: ${what}`, () =>
      assert.equal(isNodeOf({ apiVersion: 'v1', kind: 'Node', ...node }, known), is));
});
