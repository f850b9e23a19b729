import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { quantityIn, type VmSize, vmSizeOf } from './vm-size.ts';

describe('the size of a virtual machine', () => {
  type Amounts = Record<string, string | number>;
  const rows: [string, Amounts | undefined, Amounts | undefined, VmSize][] = [
    ['nothing asked for: as the image has it', undefined, undefined, {}],
    ['limits', { cpu: '6', memory: '14Gi' }, undefined, { cpu: 6, memoryMb: 14_336 }],
    ['requests', undefined, { cpu: 4, memory: '8192Mi' }, { cpu: 4, memoryMb: 8192 }],
    ['limits before requests, each by itself', { cpu: '6' }, { cpu: '4', memory: '8Gi' }, { cpu: 6, memoryMb: 8192 }],
    ['parts are cut off', { cpu: '5999m', memory: '1000M' }, undefined, { cpu: 5, memoryMb: 953 }],
    ['less than one is nothing', { cpu: '500m', memory: '1k' }, undefined, {}],
    ['six thousand thousandths are six', { cpu: '6000m' }, undefined, { cpu: 6 }],
    ['what is no quantity is nothing', { cpu: 'many', memory: '-1Gi' }, undefined, {}],
  ];
  for (const [sentence, limits, requests, size] of rows)
    it(sentence, () => {
      const resources = { ...(limits && { limits }), ...(requests && { requests }) };
      assert.deepEqual(vmSizeOf({ name: 'c', resources }), size);
    });

  it('reads quantities as Kubernetes writes them', () => {
    const read = ['1', '1.5', '.5', '1e3', '1E', '1Ei', '12Ki', '1x', '', 'constructor'].map((text) =>
      quantityIn(text),
    );
    assert.deepEqual(read, [1, 1.5, 0.5, 1000, 1e18, 2 ** 60, 12_288, undefined, undefined, undefined]);
    assert.equal(quantityIn('1constructor'), undefined);
  });
});
