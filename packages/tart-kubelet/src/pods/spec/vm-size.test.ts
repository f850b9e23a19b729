import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseQuantity, type VmSize, vmSizeOf } from './vm-size.ts';

describe('the size of a virtual machine', () => {
  type Amounts = Record<string, string | number>;
  const rows: [string, Amounts | undefined, Amounts | undefined, VmSize][] = [
    ['no requests or limits: the size of the image', undefined, undefined, {}],
    ['limits', { cpu: '6', memory: '14Gi' }, undefined, { cpu: 6, memoryMb: 14_336 }],
    ['requests', undefined, { cpu: 4, memory: '8192Mi' }, { cpu: 4, memoryMb: 8192 }],
    ['limits before requests, each by itself', { cpu: '6' }, { cpu: '4', memory: '8Gi' }, { cpu: 6, memoryMb: 8192 }],
    ['fractions are rounded down', { cpu: '5999m', memory: '1000M' }, undefined, { cpu: 5, memoryMb: 953 }],
    ['less than one is ignored', { cpu: '500m', memory: '1k' }, undefined, {}],
    ['6000m are 6 CPUs', { cpu: '6000m' }, undefined, { cpu: 6 }],
    ['an invalid quantity is ignored', { cpu: 'many', memory: '-1Gi' }, undefined, {}],
  ];
  for (const [sentence, limits, requests, size] of rows)
    it(sentence, () => {
      const resources = { ...(limits && { limits }), ...(requests && { requests }) };
      assert.deepEqual(vmSizeOf({ name: 'c', resources }), size);
    });

  it('parses Kubernetes quantities', () => {
    const read = ['1', '1.5', '.5', '1e3', '1E', '1Ei', '12Ki', '1x', '', 'constructor'].map((text) =>
      parseQuantity(text),
    );
    assert.deepEqual(read, [1, 1.5, 0.5, 1000, 1e18, 2 ** 60, 12_288, undefined, undefined, undefined]);
    assert.equal(parseQuantity('1constructor'), undefined);
  });
});
